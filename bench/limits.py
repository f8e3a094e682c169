#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What of a case is work in the caches: the same problems, cut until a core's own cache holds them.

    bench/limits.py build/bench.json     multiples of the floor that the threads of bench.json would
                                         reach if memory cost nothing; * above the case's bar

A figure near that of bench/table.py says that arithmetic limits a case, one far below it that memory
does. Few images, channels and rows are left, one thread works on them again and again, and its time
is scaled by the bytes.
"""
import argparse
import json
import pathlib
import subprocess
import sys
from dataclasses import replace

import problem as problems
import runner
import table

CACHE = 384 << 10  # bytes of a problem at most
LEAST_CHANNELS = {"ncx": 16, "nxc": 64}


def cut(problem):
    """A problem of the same kind that fits: fewer images, then fewer channels, then fewer rows; of
    what lies side by side enough is left."""
    problem = replace(problem, batch=1)
    cuttable = problem.rank - (problem.layout == "ncx")
    while problem.operand_bytes() > CACHE:
        if problem.channels > LEAST_CHANNELS[problem.layout]:
            problem = replace(problem, channels=problem.channels // 2)
            continue
        for axis, (size, kernel) in enumerate(zip(problem.input[:cuttable], problem.kernel)):
            if size // 2 >= 2 * kernel:
                halved = (*problem.input[:axis], size // 2, *problem.input[axis + 1:])
                problem = replace(problem, input=halved)
                break
        else:
            if problem.channels == 1:
                break
            problem = replace(problem, channels=max(1, problem.channels // 2))
    return problem


def shape_of(problem):
    return "x".join(str(size) for size in (problem.batch, problem.channels, *problem.input))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", help="what poolgrad bench --json wrote")
    parser.add_argument("--seconds", type=float, default=0.1, help="timing for each problem (0.1)")
    parser.add_argument("--program", default=str(runner.PROGRAM), help="the poolgrad to run")
    options = parser.parse_args()
    results, texts, scales = [], [], []
    for result in json.loads(pathlib.Path(options.file).read_text(encoding="utf-8")):
        try:
            problem = problems.parse(result["problem"])
        except problems.Unreadable:
            continue
        small = cut(problem)
        words = result["problem"].split(":")
        texts.append(":".join([*words[:3], shape_of(small), *words[4:]]))
        scales.append(problem.operand_bytes() / small.operand_bytes() / result["threads"])
        results.append(result)
    done = subprocess.run([options.program, "bench", *texts, "--json", "--threads", "1",
                           "--seconds", str(options.seconds)], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        return done.returncode
    for result, scale, small in zip(results, scales, json.loads(done.stdout)):
        result["waiting"] = small.get("waiting", 0)
        result["x_floor"] = small["hot_seconds"] * scale / result["floor_seconds"]
    print(table.pivot(results, table.names_of(table.HERE / "cases.txt")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
