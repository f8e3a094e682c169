#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""All workloads, as one table; beside PyTorch where it is installed.

    bench/workloads/run.py --json workloads.json
    bench/workloads/run.py --from workloads.json --markdown
                                                   an earlier run's, as a page has it
"""
import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import machine  # noqa: E402
import problem as problems  # noqa: E402
import runner  # noqa: E402
from progress import Progress  # noqa: E402

PROGRAMS = ("poolformer", "networks", "spp", "ssim", "ncc", "dlinear")
HEAD = ("workload", "shape", "ms a step", "x floor", "PyTorch ms", "times faster")


def _run(folder, name, *options):
    program = pathlib.Path(folder) / f"workload_{name}"
    try:
        return subprocess.run([str(program), *options], text=True, stdout=subprocess.PIPE,
                              check=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError) as error:
        raise runner.Failed(f"{program} failed: {error}; is it built?") from error


def _layers(folder):
    """{network: [problem strings of its layers]}"""
    found = {}
    for line in _run(folder, "networks", "--layers"):
        name, problem = line.split(" ")
        found.setdefault(name, []).append(problem)
    return found


def measure(options, torch):
    """[{name, shape, seconds, ..., torch: {cold, hot}}]; each program, then its steps in PyTorch"""
    layers, results = _layers(options.folder), []
    progress = Progress(len(PROGRAMS))
    for number, program in enumerate(PROGRAMS):
        progress.show(number, program)
        runner.wait_until_calm(options.patience)
        for line in _run(options.folder, program, "--json", "--seconds", str(options.seconds),
                         "--threads", str(options.threads)):
            result = json.loads(line)
            if torch:
                result["torch"] = torch.ask({"step": result["name"], "seconds": options.seconds,
                                             "layers": layers.get(result["name"], [])})
            results.append(result)
    progress.end()
    return results


def rows(results):
    """Texts, in the order of HEAD."""
    for result in results:
        own, torch = result["seconds"], result.get("torch", {}).get("cold")
        doubt = " ?" if result["waiting"] > problems.BUSY else ""
        yield (result["name"], result["shape"], f"{own * 1e3:.2f}{doubt}",
               f"{own / result['floor_seconds']:.2f}",
               f"{torch * 1e3:.2f}" if torch else "-", f"{torch / own:.1f}" if torch else "-")


def table(results, markdown):
    texts = [HEAD, *rows(results)]
    if markdown:
        lines = ["| " + " | ".join(row) + " |" for row in texts]
        return "\n".join([lines[0], "|---" * len(HEAD) + "|", *lines[1:]])
    widths = [max(len(row[i]) for row in texts) for i in range(len(HEAD))]
    lines = ["  ".join(f"{text:{'<' if i < 2 else '>'}{width}}"
                       for i, (text, width) in enumerate(zip(row, widths))) for row in texts]
    if any(result["waiting"] > problems.BUSY for result in results):
        lines.append("? other programs had the CPUs, and PyTorch suffers as well; measure these again")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", default=str(runner.BUILD / "bench/workloads"),
                        help="where the programs are")
    parser.add_argument("--from", dest="file", metavar="FILE", help="figures of an earlier run")
    parser.add_argument("--markdown", action="store_true", help="a table for a page")
    runner.add_options(parser, 1)
    options = parser.parse_args()
    if options.file:
        figures = json.loads(pathlib.Path(options.file).read_text(encoding="utf-8"))
        print(table(figures["results"], options.markdown))
        return 0
    torch = None
    if runner.installed("torch"):
        torch = runner.Peer("torch", options.threads, HERE / "torch_steps.py")
    else:
        print("PyTorch is not installed; make bench-peers does that", file=sys.stderr)
    try:
        results = measure(options, torch)
    except runner.Failed as failed:
        print(f"run.py: {failed}", file=sys.stderr)
        return 1
    finally:
        if torch:
            torch.close()
    if options.json:
        runner.write_json(options.json, {
            "machine": machine.describe(options.program), "threads": options.threads,
            "peers": {"torch": torch.version} if torch else {}, "results": results})
    print(table(results, options.markdown))
    return 0


if __name__ == "__main__":
    sys.exit(main())
