# SPDX-License-Identifier: MIT
"""Times one system, in its own virtual environment: worker.py SYSTEM THREADS.

Reads lines {"problem": ..., "seconds": ...} and answers each with a line: {"cold", "hot"} in
seconds, with a "note" where the system's nearest call is not quite the problem, or {"refused"}. The
first line it writes has the system's version.
"""
import gc
import importlib
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import problem as problems  # noqa: E402
import timing  # noqa: E402


class _Last:
    """The problem that was prepared last; it is mostly asked for again."""

    def __init__(self, system):
        self._system = system
        self._text, self._calls, self._note = None, None, None

    def answer(self, problem, seconds):
        try:
            if problem != self._text:
                self._text = self._calls = None
                gc.collect()  # the buffers of the problem before
                self._calls, self._note = self._system.prepare(problems.parse(problem))
                self._text = problem
            result = timing.measure(self._calls, seconds)
        except (timing.Unsupported, problems.Unreadable) as why:
            return {"refused": str(why)}
        except self._system.refusals as error:
            return {"refused": str(error).splitlines()[0][:200]}
        if self._note:
            result["note"] = self._note
        return result


def serve(make):
    """Answers the lines of standard input; make() returns (version, function that answers)."""
    # What libraries print must not get between the answers.
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    version, answer = make()
    print(json.dumps({"version": version}), file=answers)
    for line in sys.stdin:
        print(json.dumps(answer(**json.loads(line))), file=answers)


def _system():
    system = importlib.import_module("system_" + sys.argv[1]).System(int(sys.argv[2]))
    return system.version(), _Last(system).answer


def main():
    serve(_system)


if __name__ == "__main__":
    main()
