#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the faces with the real systems on random problems.

    tests/peers/run.py                      all peers, 2,000 problems each
    tests/peers/run.py onednn --count 300   one of them
    tests/peers/run.py torch --seed 7 --only 1234   one problem again

Ends with a table; exit code 0 if nothing disagrees, 1 if something does.
README.md in this folder has more.
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import environment
import table
from registry import PEERS

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


class Tally:
    """What came out for one peer."""

    def __init__(self, peer):
        self.peer = peer
        self.version = ""
        self.seconds = 0.0
        self.counts = collections.Counter()
        self.names = {kind: collections.Counter()
                      for kind in ("difference", "defect", "crash", "refused", "not asked")}
        self.disagreements = []
        self.skipped = ""

    def add(self, result):
        kind = result["verdict"]
        self.counts["problems"] += 1
        self.counts[kind] += 1
        self.counts["bits"] += bool(result.get("bits"))
        self.counts["same kind"] += bool(result.get("same_kind"))
        if kind in self.names and result["name"]:
            self.names[kind][result["name"]] += 1
        if kind == "disagree" or (kind == "crash" and result["name"] == "not predicted"):
            self.disagreements.append(result)


def _worker(python, peer, arguments, tally, lock, verbose):
    """One worker process; reads its results as they come."""
    variables = dict(os.environ, OMP_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1",
                     TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="", ONEDNN_VERBOSE="none",
                     **PEERS[peer].variables)
    command = [python, str(HERE / "worker.py"), peer, *(str(a) for a in arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                               env=variables)
    errors = []
    reader = threading.Thread(target=lambda: errors.append(process.stderr.read()))
    reader.start()
    try:
        for line in process.stdout:
            result = json.loads(line)
            with lock:
                if "version" in result:
                    tally.version = result["version"]
                    continue
                tally.add(result)
                if verbose:
                    print(json.dumps(result))
    finally:  # a worker whose results nobody reads would wait forever
        process.stdout.close()
        reader.join()
    if process.wait() != 0:
        with lock:
            tally.disagreements.append({"index": "-", "verdict": "disagree",
                                        "text": "the worker failed: " + errors[0][-2000:]})


def compare_peer(peer, options):
    """All problems of one peer, shared by --jobs processes."""
    tally = Tally(peer)
    python, why = environment.prepare(peer, ROOT)
    if python is None:
        tally.skipped = why
        return tally
    began = time.monotonic()
    lock = threading.Lock()
    if options.only is not None:
        shares = [(options.seed, options.only, 1, options.only + 1)]
    else:
        shares = [(options.seed, first, options.jobs, options.count)
                  for first in range(options.jobs)]
    threads = [threading.Thread(target=_worker, args=(
        python, peer, (options.library, *share), tally, lock,
        options.verbose or options.only is not None)) for share in shares]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tally.seconds = time.monotonic() - began
    wanted = 1 if options.only is not None else options.count
    if tally.counts["problems"] != wanted and not tally.disagreements:
        tally.disagreements.append({"index": "-", "verdict": "disagree", "text": "problems lost"})
    return tally


def _report(tally, seed, most):
    if len(tally.disagreements) > most:
        print(f"peers: the first {most} of {len(tally.disagreements)} follow")
    for result in sorted(tally.disagreements, key=lambda r: str(r["index"]))[:most]:
        word = "DISAGREE" if result["verdict"] == "disagree" else "crash, not predicted"
        print(f"{tally.peer} problem {result['index']}: {word}: {result['text']}")
        for key in ("call", "problem", "fault"):
            if result.get(key):
                print(f"    {key}: {result[key]}")
        print(f"    again: tests/peers/run.py {tally.peer} --seed {seed} "
              f"--only {result['index']}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("peers", nargs="*", metavar="PEER", help=", ".join(PEERS) + "; default all")
    parser.add_argument("--count", type=int, default=2000, help="problems per peer (2000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="run only this problem, and show its result")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    parser.add_argument("--library", default=str(ROOT / "build/release/src/libpoolgrad.so"))
    parser.add_argument("--markdown", help="also write the table to this file, as Markdown")
    parser.add_argument("--show", type=int, default=20, help="disagreements to print (20)")
    parser.add_argument("--skip-code", type=int, default=0, metavar="CODE",
                        help="exit code if no peer could be installed (0)")
    parser.add_argument("--verbose", action="store_true", help="every result, as JSON")
    options = parser.parse_args()
    peers = options.peers or list(PEERS)
    for peer in peers:
        if peer not in PEERS:
            parser.error(f"{peer}: there is no such peer; there are {', '.join(PEERS)}")
    options.library = str(pathlib.Path(options.library).resolve())
    if not os.path.exists(options.library):
        parser.error(f"{options.library} is not there; run make first")

    environment.announce(peers, ROOT)
    tallies = []
    for peer in peers:
        tally = compare_peer(peer, options)
        if tally.skipped:
            print(f"peers: SKIPPED {peer}: {tally.skipped}", flush=True)
        else:
            print(f"peers: {peer} {tally.version}: {tally.counts['problems']} problems in "
                  f"{tally.seconds:.0f} s", flush=True)
        _report(tally, options.seed, options.show)
        tallies.append(tally)
    print()
    print(table.text(tallies))
    if options.markdown:
        pathlib.Path(options.markdown).write_text(table.markdown(tallies))
    return table.exit_code(tallies, options.skip_code)


if __name__ == "__main__":
    sys.exit(main())
