#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares two files that `poolgrad bench --json` wrote: scripts/bench_compare.py OLD.json NEW.json

One line for each problem that both have, the one that gained most first, and the geometric mean.
What moved by more than 10 % is marked: + better, ! worse. Compared are multiples of the memory
floor (--by seconds, --by hot_seconds: times), since machines are not equally fast at all times. A ?
is behind what was measured, in either run, while other programs had the CPUs.
"""
import argparse
import json
import math
import pathlib
import sys

BUSY = 0.1  # share of the time in which other programs had the CPUs


def read(parser, path):
    """{problem: result}; of a problem that was measured twice the better result."""
    try:
        values = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        results = {}
        for value in values:
            before = results.get(value["problem"])
            if before is None or value["seconds"] < before["seconds"]:
                results[value["problem"]] = value
        return results
    except (OSError, ValueError, KeyError, TypeError) as error:
        parser.error(f"{path}: not what poolgrad bench --json writes: {error}")


def show(value, key):
    return f"{value:9.2f}" if key == "x_floor" else f"{value * 1e3:9.4f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("--by", choices=("x_floor", "seconds", "hot_seconds"), default="x_floor")
    parser.add_argument("--percent", type=float, default=10, help="what is marked (10)")
    parser.add_argument("--marked", action="store_true", help="only lines that are marked")
    options = parser.parse_args()
    old, new = read(parser, options.old), read(parser, options.new)
    key = options.by
    both = [name for name in new if name in old and old[name][key] and new[name][key]]
    if not both:
        parser.error("the two files have no problem in common")

    ratios = sorted((new[name][key] / old[name][key], name) for name in both)
    limit = 1 + options.percent / 100
    width = max(len(name) for name in both)
    unit = "x floor" if key == "x_floor" else "ms"
    print(f"  {'problem':{width}} {'old ' + unit:>11} {'new ' + unit:>11} {'new/old':>8}  strategy")
    for ratio, name in ratios:
        mark = "+" if ratio < 1 / limit else "!" if ratio > limit else " "
        doubt = max(one[name].get("waiting", 0) for one in (old, new)) > BUSY
        if options.marked and mark == " ":
            continue
        before, after = old[name].get("strategy", ""), new[name].get("strategy", "")
        print(f"{mark} {name:{width}} {show(old[name][key], key):>11} "
              f"{show(new[name][key], key):>11} {ratio:8.3f}{' ?'[doubt]} "
              + (after if before == after else f"{before} -> {after}"))
    better = sum(ratio < 1 / limit for ratio, _ in ratios)
    worse = sum(ratio > limit for ratio, _ in ratios)
    mean = math.exp(sum(math.log(ratio) for ratio, _ in ratios) / len(ratios))
    print(f"{len(both)} problems, new/old {mean:.3f} in the geometric mean; better by more than "
          f"{options.percent:g} %: {better}, worse: {worse}")
    for one, other, path in ((old, new, options.old), (new, old, options.new)):
        alone = [name for name in one if name not in other]
        if alone:
            print(f"only in {path}: {len(alone)}, such as {alone[0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
