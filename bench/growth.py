#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How the time grows with the window: bench/growth.txt as a table and as a picture.

    bench/growth.py                              poolgrad alone
    bench/growth.py --peers torch,onednn         beside others
    bench/growth.py --json growth.json           keep the figures
    bench/growth.py --from growth.json -o g.svg  draw them again
    bench/growth.py --from growth.json --headline docs/images/growth.svg
                                                 the gradients only, with machine and date
"""
import argparse
import json
import pathlib
import sys

import curves
import machine
import problem as problems
import runner
from progress import Progress

HERE = pathlib.Path(__file__).resolve().parent
TOO_LONG = 5.0  # seconds; a peer that took longer is not asked for larger windows


def title(problem):
    planes = problem.batch * problem.channels
    size = "x".join(str(extent) for extent in problem.input)
    direction = "forward" if problem.forward else "gradient"
    return f"{planes} {'volumes' if problem.rank == 3 else 'planes'} of {size}, {direction}"


def measure(texts, peers, options):
    """[{title, kernel, times: {system: cold seconds}, x_floor}] in the order of the list"""
    results, tired, progress = [], set(), Progress(len(texts))
    for number, text in enumerate(texts):
        problem = problems.parse(text)
        progress.show(number, text)
        runner.wait_until_calm(options.patience)
        own = runner.poolgrad([text], options.seconds, options.threads, options.program)[0]
        times = {"poolgrad": own["seconds"]}
        for peer in peers:
            if (peer.name, title(problem)) in tired:
                continue
            answer = peer.measure(text, options.seconds)
            if "cold" in answer:
                times[peer.name] = answer["cold"]
            if answer.get("cold", 0) > TOO_LONG:
                tired.add((peer.name, title(problem)))
        results.append({"title": title(problem), "kernel": max(problem.kernel), "times": times,
                        "x_floor": own["x_floor"]})
    progress.end()
    return results


def groups(results):
    """{title: [results]} with ascending windows"""
    found = {}
    for result in results:
        found.setdefault(result["title"], []).append(result)
    return {name: sorted(group, key=lambda r: r["kernel"]) for name, group in found.items()}


def table(name, group):
    """Time, and how it compares with the smallest window's, for every system."""
    systems = list(dict.fromkeys(system for result in group for system in result["times"]))
    first = {system: next(r["times"][system] for r in group if system in r["times"])
             for system in systems}
    lines = [f"{name}: ms, and time(k) / time({group[0]['kernel']})",
             f"{'k':>4} {'x floor':>8}" + "".join(f" {system:>20}" for system in systems)]
    for result in group:
        multiple = result["x_floor"]
        cells = []
        for system in systems:
            time = result["times"].get(system)
            cells.append("-" if time is None else
                         f"{time * 1e3:.3f} {time / first[system]:8.2f}")
        lines.append(f"{result['kernel']:4} "
                     + (f"{'-':>8}" if multiple is None else f"{multiple:8.2f}")
                     + "".join(f" {cell:>20}" for cell in cells))
    return "\n".join(lines)


def panels(results):
    """A plot for each group, with the floor below all curves."""
    found = []
    for name, group in groups(results).items():
        systems = dict.fromkeys(system for result in group for system in result["times"])
        series = [curves.Series(system, [(result["kernel"], result["times"][system] * 1e3)
                                         for result in group if system in result["times"]], system)
                  for system in systems]
        floor = [(result["kernel"], result["times"]["poolgrad"] / result["x_floor"] * 1e3)
                 for result in group if result["x_floor"]]
        if floor:
            series.append(curves.Series("a copy", floor, "copy", "dashes"))
        found.append(curves.Panel(name, series, "window, elements along an axis",
                                  "time, ms (cold)"))
    return found


def sentence(group):
    """What the curves of a group say, from the smallest window to the largest that a peer did."""
    asked = [result for result in group if len(result["times"]) > 1] or group
    first, last = group[0], asked[-1]
    small, large = first["kernel"], last["kernel"]
    own = last["times"]["poolgrad"]
    rank = first["title"].partition(" of ")[2].count("x") + 1
    text = (f"from {'x'.join([str(small)] * rank)} to {'x'.join([str(large)] * rank)} windows, "
            f"{large ** rank / small ** rank:.0f} times as many elements in each, poolgrad takes "
            f"{own / first['times']['poolgrad']:.1f} times as long")
    others = {name: time for name, time in last["times"].items() if name != "poolgrad"}
    if others:
        best = min(others, key=others.get)
        text += (f", and the fastest other system, {best}, then takes "
                 f"{others[best] / own:.0f} times as long as poolgrad")
    return text


def headline(figures, path):
    """The picture of the README: gradients, with what was measured where and when in it."""
    shown = [result for result in figures["results"] if result["title"].endswith("gradient")]
    systems = ", ".join(f"{name} {version}" for name, version in figures["peers"].items())
    captions = [machine.sentence(figures["machine"], figures["threads"])]
    if systems:
        captions.append("beside " + systems)
    text = curves.picture(panels(shown), "The gradient of average pooling: time against window size",
                          captions)
    pathlib.Path(path).write_text(text, encoding="utf-8")
    for name, group in groups(shown).items():
        print(f"{name}: {sentence(group)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default=str(HERE / "growth.txt"), help="list of problems")
    parser.add_argument("--peers", default="none", metavar="LIST",
                        help=f"with commas, of {', '.join(runner.SYSTEMS)}, or all (none)")
    parser.add_argument("--from", dest="file", metavar="FILE", help="figures of an earlier run")
    parser.add_argument("-o", "--output", metavar="FILE.svg", help="draw the curves")
    parser.add_argument("--headline", metavar="FILE.svg", help="draw the picture of the README")
    runner.add_options(parser, 0.5)
    options = parser.parse_args()
    if options.file:
        figures = json.loads(pathlib.Path(options.file).read_text(encoding="utf-8"))
    else:
        texts = [text for _, text in problems.read_list(options.cases)]
        peers = runner.start_peers(runner.peer_names(parser, options.peers), options.threads)
        try:
            figures = {"machine": machine.describe(options.program), "threads": options.threads,
                       "peers": {peer.name: peer.version for peer in peers},
                       "results": measure(texts, peers, options)}
        except (runner.Failed, problems.Unreadable) as failed:
            print(f"growth.py: {failed}", file=sys.stderr)
            return 1
        finally:
            for peer in peers:
                peer.close()
    if options.json:
        runner.write_json(options.json, figures)
    found = groups(figures["results"])
    print("\n\n".join(table(name, group) for name, group in found.items()))
    if options.output:
        pathlib.Path(options.output).write_text(curves.picture(panels(figures["results"])),
                                                encoding="utf-8")
    if options.headline:
        headline(figures, options.headline)
    return 0


if __name__ == "__main__":
    sys.exit(main())
