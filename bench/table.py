#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The figures of `poolgrad bench --json` as a small table: cases by types and layouts.

    poolgrad bench --cases bench/cases.txt --json >bench.json
    bench/table.py bench.json            multiples of the memory floor; * above the case's bar,
                                         ? measured while other programs had the CPUs
    bench/table.py bench.json --full     all figures before it
"""
import argparse
import json
import math
import pathlib
import sys

import problem as problems

HERE = pathlib.Path(__file__).resolve().parent
TYPES = ("f32", "bf16", "f16", "f64")
LAYOUTS = ("ncx", "nxc")


def bar(problem):
    """The multiple of the floor that a problem is held to.

    Small windows and windows that do not overlap should cost what their bytes do; large ones need
    additions, the more the more axes they have; maxima carry their places along. 16-bit types move
    half the bytes for the same arithmetic.
    """
    narrow = problem.element_bytes == 2
    if problem.is_max:
        return 3 if narrow else 2
    small = max(problem.kernel) <= 3
    apart = all(k <= s for k, s in zip(problem.kernel, problem.stride))
    if small or apart:
        return 2 if narrow else 1.5
    if problem.rank == 3:
        return 5 if narrow else 3
    return 3 if narrow else 2


def doubtful(result):
    """Whether other programs had the CPUs."""
    return result.get("waiting", 0) > problems.BUSY


def full(results):
    width = max(len(result["problem"]) for result in results)
    lines = [f"{'problem':{width}} {'cold ms':>10} {'floor ms':>10} {'x floor':>8} {'hot ms':>10}  "
             "strategy"]
    for result in results:
        multiple = result["x_floor"]
        lines.append(f"{result['problem']:{width}} {result['seconds'] * 1e3:10.4f} "
                     f"{result['floor_seconds'] * 1e3:10.4f} "
                     + (f"{'-':>8}" if multiple is None else f"{multiple:8.2f}")
                     + " ?"[doubtful(result)]
                     + f"{result['hot_seconds'] * 1e3:10.4f}  {result['strategy']}")
    return "\n".join(lines)


def rows_of(results, names):
    """{(label, form): {(type, layout): (multiple, above its bar, in doubt)}}, in order"""
    rows, left = {}, 0
    for result in results:
        try:
            problem = problems.parse(result["problem"])
        except problems.Unreadable:
            left += 1
            continue
        if result["x_floor"] is None:
            continue
        common = problem.apart_from_type()
        key = (names.get(common) or problems.label("", result["problem"]), problem.form())
        value = (result["x_floor"], result["x_floor"] > bar(problem), doubtful(result))
        rows.setdefault(key, {})[problem.dtype, problem.layout] = value
    return rows, left


def names_of(path):
    """{problem without type and layout: its name in the list}"""
    names = {}
    for name, text in problems.read_list(path):
        try:
            names.setdefault(problems.parse(text).apart_from_type(), name)
        except problems.Unreadable:
            continue
    return names


def pivot(results, names):
    rows, left = rows_of(results, names)
    width = max([4, *(len(label) for label, _ in rows)])
    columns = [(dtype, layout) for dtype in TYPES for layout in LAYOUTS
               if any((dtype, layout) in row for row in rows.values())]
    lines = [f"{'case':{width}} {'operator':11}"
             + "".join(f" {f'{dtype} {layout}':>10}" for dtype, layout in columns)]
    for (label, form), row in rows.items():
        cells = []
        for column in columns:
            value, above, doubt = row.get(column, (None, False, False))
            number = "-" if value is None else f"{value:.2f}"
            cells.append(f"{number:>8}" + " *"[above] + " ?"[doubt])
        lines.append(f"{label:{width}} {form:11}" + "".join(f" {cell}" for cell in cells).rstrip())
    values = [value for row in rows.values() for value in row.values()]
    if values:
        mean = math.exp(sum(math.log(value[0]) for value in values) / len(values))
        lines.append(f"multiples of the memory floor; * above the case's bar: "
                     f"{sum(value[1] for value in values)} of {len(values)}; geometric mean "
                     f"{mean:.2f}, largest {max(values)[0]:.2f}")
        if any(value[2] for value in values):
            lines.append("? other programs had the CPUs; measure these again")
    if left:
        lines.append(f"{left} problems of other kinds are left out")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help="what poolgrad bench --json wrote")
    parser.add_argument("--cases", default=str(HERE / "cases.txt"),
                        help="the list that names the cases")
    parser.add_argument("--full", action="store_true", help="all figures first")
    options = parser.parse_args()
    results = json.loads(pathlib.Path(options.file).read_text(encoding="utf-8"))
    if not results:
        parser.error(f"{options.file} holds no results")
    if options.full:
        print(full(results), end="\n\n")
    print(pivot(results, names_of(options.cases)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
