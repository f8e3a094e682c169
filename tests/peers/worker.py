# SPDX-License-Identifier: MIT
"""Runs the problems of one peer, inside that peer's environment; run.py starts it.

    worker.py PEER LIBRARY SEED FIRST STEP COUNT

The process imports the system and then only forks: every child runs problems until it ends or
dies. A death costs one problem, not the batch, and no second import. One JSON object per problem
goes to standard output.
"""
import json
import os
import select
import signal
import sys
import traceback

import compare
import faces
import peer as peers
import problems
from call import Accepted, Forward, Violation

_SILENCE = 120  # seconds after which a child counts as hung


class Runner:
    """One problem at a time, in whatever process."""

    def __init__(self, name, library, seed):
        self.peer = peers.load(name)
        self.library = faces.Library(library)
        self.seed = seed

    def judge(self, index, own, died, report):
        """report(verdict) on a problem; report(None) if it wants a process of its own.

        died: how the original died on it, if it did; then only the face is asked.
        """
        problem = problems.make(self.peer.profile, self.seed, index)
        try:
            call = self.peer.call(problem)
        except Forward as refusal:
            return report(compare.verdict("not asked", "its forward operator refuses",
                                          str(refusal)))
        if not own and not died and self.peer.own_process(call):
            return report(None)

        def finish(result):
            if result["verdict"] == "disagree":
                result["call"] = call.text()
                result["problem"] = self.library.problem_string(self.peer.face, call)
            result["fault"] = call.notes.get("fault", "")
            report(result)

        try:
            finish(self._compare(problem, call, died, finish))
        except Violation as broken:
            finish(compare.verdict("disagree", text=str(broken)))

    def _compare(self, problem, call, died, finish):
        peer = self.peer

        def right():
            return peer.right(problem, call)

        mine = self.library.run(peer.face, call)
        if died:
            return compare.crashed(peer.rules, call, mine, right, died)

        def escape(refused, note):
            result = compare.compare(peer.rules, call, mine, refused, right)
            if result["verdict"] == "refused":
                result["name"] = note
            finish(result)
            os._exit(0)

        peer.escape = escape
        theirs = peer.run(call)
        result = compare.compare(peer.rules, call, mine, theirs, right)
        if not isinstance(mine, Accepted) or not isinstance(theirs, Accepted):
            return result
        if result["verdict"] == "equal" and peer.exact(call):
            parity = self.library.run(peer.face, call, parity=True)
            return compare.in_parity(peer.rules, call, parity, theirs, right)
        if result["verdict"] in (compare.DEFECT, compare.DIFFERENCE) and peer.repeats(call):
            parity = self.library.run(peer.face, call, parity=True)
            again = compare.in_parity((), call, parity, theirs, right)
            return again if again["verdict"] == "disagree" else dict(result, bits=True)
        return result


def _child(runner, indices, own, died, pipe):
    """Reports every problem, then ends. The system's own chatter goes nowhere."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    out = os.fdopen(pipe, "w")

    def say(message):
        out.write(json.dumps(message) + "\n")
        out.flush()

    def report(result):
        say({"done": index, "result": result})
        if result is None:
            os._exit(0)

    for index in indices:
        say({"start": index})
        try:
            runner.judge(index, own, died, report)
        except Exception:  # the harness itself is wrong: say where
            report(compare.verdict("disagree", text=traceback.format_exc()))
    os._exit(0)


def _messages(pipe, pid):
    """The child's lines; kills it when it has been silent for too long."""
    rest = b""
    while True:
        if not select.select([pipe], [], [], _SILENCE)[0]:
            os.kill(pid, signal.SIGKILL)
        chunk = os.read(pipe, 1 << 16)
        if not chunk:
            return
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (json.loads(line) for line in lines)


def _fork(runner, indices, own=False, died=""):
    """(results by index, index that wants its own process or killed the child, how it died)"""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _child(runner, indices, own, died, writing)
    os.close(writing)
    results, current = {}, None
    for message in _messages(reading, pid):
        if "start" in message:
            current = message["start"]
        else:
            results[message["done"]] = message["result"]
    os.close(reading)
    status = os.waitpid(pid, 0)[1]
    if os.WIFSIGNALED(status):
        how = signal.Signals(os.WTERMSIG(status)).name
        return results, current, "hung" if how == "SIGKILL" else f"died with {how}"
    if current in results and results[current] is None:
        del results[current]
        return results, current, ""
    return results, None, ""


def _alone(runner, index):
    """One problem in a process of its own, and if that dies, the face alone in another."""
    results, dead, how = _fork(runner, [index], own=True)
    if dead is None:
        return results[index]
    results, dead, _ = _fork(runner, [index], died=how)
    if dead is None:
        return results[index]
    return compare.verdict("not asked", f"its forward operator {how}")


def main(name, library, seed, first, step, count):
    runner = Runner(name, library, seed)
    print(json.dumps({"version": runner.peer.version(), "poolgrad": runner.library.version()}),
          flush=True)
    todo = list(range(first, count, step))
    while todo:
        results, stopped, how = _fork(runner, todo)
        if stopped is not None:
            if how:
                again, dead, _ = _fork(runner, [stopped], died=how)
                results[stopped] = (again[stopped] if dead is None else
                                    compare.verdict("not asked",
                                                    f"its forward operator {how}"))
            else:
                results[stopped] = _alone(runner, stopped)
        for index, result in results.items():
            print(json.dumps({"index": index, **result}), flush=True)
        todo = [index for index in todo if index not in results]


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *(int(word) for word in sys.argv[4:7]))
