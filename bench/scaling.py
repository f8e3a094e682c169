#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What more threads bring: bench/scaling.txt with 1, 2, 4, ... threads.

    bench/scaling.py --json scaling.json     a table, and figures for bench/report.py
"""
import argparse
import pathlib
import sys

import machine
import problem as problems
import runner

HERE = pathlib.Path(__file__).resolve().parent


def counts(most):
    """1, 2, 4, ... and the most."""
    powers = [1 << i for i in range(most.bit_length()) if 1 << i < most]
    return [*powers, most]


def speed_ups(results):
    """{problem: {threads: (cold speed-up, speed-up of copying)}}"""
    found = {}
    for result in results:
        found.setdefault(result["problem"], {})[result["threads"]] = result
    return {name: {threads: tuple(row[min(row)][key] / one[key]
                                  for key in ("seconds", "floor_seconds"))
                   for threads, one in sorted(row.items())} for name, row in found.items()}


def table(results):
    rows = speed_ups(results)
    threads = sorted({count for row in rows.values() for count in row})
    width = max(len(name) for name in rows)
    lines = [f"{'speed-up with threads':{width}}" + "".join(f" {count:>7}" for count in threads)]
    for name, row in rows.items():
        lines.append(f"{name:{width}}" + "".join(f" {row[count][0]:7.2f}" for count in threads))
    copy = [max(row[count][1] for row in rows.values()) for count in threads]
    lines.append(f"{'copying':{width}}" + "".join(f" {value:7.2f}" for value in copy))
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default=str(HERE / "scaling.txt"), help="list of problems")
    runner.add_options(parser, 0.5)
    options = parser.parse_args()
    texts = [text for _, text in problems.read_list(options.cases)]
    results = []
    try:
        for threads in counts(options.threads):
            runner.wait_until_calm(options.patience)
            results += runner.poolgrad(texts, options.seconds, threads, options.program,
                                       quiet=False)
    except runner.Failed as failed:
        print(f"scaling.py: {failed}", file=sys.stderr)
        return 1
    if options.json:
        runner.write_json(options.json, {"machine": machine.describe(options.program),
                                         "results": results})
    print(table(results))
    return 0


if __name__ == "__main__":
    sys.exit(main())
