#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Times poolgrad beside PyTorch, TensorFlow, ONNX Runtime and oneDNN on the same problems.

    bench/peers.py                            all problems of bench/cases.txt, all peers
    bench/peers.py --filter avg2d:f32         those whose problem string or name has this in it
    bench/peers.py --peers torch,onednn --seconds 0.2 --json peers.json

All are timed by the rule of `poolgrad bench`, with the same threads, in turn: problem by problem,
one system after the other, twice. README.md in this folder has more.
"""
import argparse
import math
import pathlib
import sys

import machine
import problem as problems
import runner

HERE = pathlib.Path(__file__).resolve().parent
LONG = 0.2  # seconds; a peer that takes longer has one turn


# How poolgrad is timed as well, for peers with such a note: what is added to the problem, and how.
ALIKE = {problems.NO_INDICES: ("", {"values": True}),
         problems.BYTE_TAPS: (":index=u8:base=window", {})}


def _alike(peer):
    """The note of a peer that poolgrad is timed in another way for, or None."""
    return next((note for note in ALIKE if note in (peer.get("note") or "")), None)


def _ratio_to(result, name, key):
    """poolgrad's time / that of a peer, None if it has none; both with the same kind of indices."""
    peer = result["peers"][name]
    own = result.get("alike", {}).get(_alike(peer), result["poolgrad"])
    return own[key] / peer[key] if key in peer else None


def _worst(result, key):
    """The largest of these ratios, and the peer's name; (None, None) if no peer has the operator."""
    found = [(value, name) for name in result["peers"] if (value := _ratio_to(result, name, key))]
    return max(found) if found else (None, None)


def ratio(result, key):
    """poolgrad's time / that of the best peer; below 1 poolgrad is the faster one."""
    return _worst(result, key)[0]


def measure(name, text, peers, options):
    """One problem: all systems, one after the other, in several rounds; the best counts."""
    seconds = options.seconds / options.rounds
    own, alike, found = None, {}, {}
    for _ in range(options.rounds):
        runner.wait_until_calm(options.patience)
        one = runner.poolgrad([text], seconds, options.threads, options.program)[0]
        own = one if own is None else dict(own, **{
            key: min(own[key], one[key])
            for key in ("seconds", "hot_seconds", "floor_seconds", "waiting")})
        for peer in peers:
            before = found.get(peer.name, {})
            if "refused" not in before and before.get("cold", 0) < LONG:
                one_peer = peer.measure(text, seconds)
                found[peer.name] = dict(one_peer, **{
                    key: min(before[key], one_peer[key]) for key in ("cold", "hot")
                    if key in before and key in one_peer})
        for note in {_alike(peer) for peer in found.values()} - {None}:
            more, how = ALIKE[note]
            one = runner.poolgrad([text + more], seconds, options.threads, options.program, **how)[0]
            before = alike.get(note, {})
            alike[note] = {key: min(one[name], before.get(key, math.inf))
                           for key, name in (("cold", "seconds"), ("hot", "hot_seconds"))}
    floor = own["floor_seconds"]
    return {**({"alike": alike} if alike else {}), "case": problems.label(name, text), "problem": text,
            "type": own["type"], "layout": own["layout"],
            "poolgrad": {"cold": own["seconds"], "hot": own["hot_seconds"],
                         "x_floor": own["seconds"] / floor if floor else None,
                         "waiting": own["waiting"], "strategy": own["strategy"]},
            "peers": found}


def _milliseconds(seconds):
    """Four significant digits or so, whatever the size."""
    value = seconds * 1e3
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}" if value >= 100 else f"{value:.3f}"


class Table:
    """Printed line by line, as results come."""

    def __init__(self, rows, peers):
        self._names = [peer.name for peer in peers]
        self._width = max([4, *(len(problems.label(*row)) for row in rows)])
        head = ["cold ms", "hot ms", "x floor", *self._names, "x best", "hot"]
        print(f"{'case':{self._width}} {'operator':11} {'type':4} {'layout':6}"
              + "".join(f" {title:>11}" for title in head), flush=True)

    def row(self, result):
        try:
            form = problems.parse(result["problem"]).form()
        except problems.Unreadable:
            form = ""
        own = result["poolgrad"]
        doubt = "?" if own["waiting"] > problems.BUSY else ""
        cells = [doubt + _milliseconds(own["cold"]), _milliseconds(own["hot"]),
                 "-" if own["x_floor"] is None else f"{own['x_floor']:.2f}"]
        for name in self._names:
            peer = result["peers"][name]
            mark = "~" if peer.get("note") else ""
            cells.append("-" if "refused" in peer else mark + _milliseconds(peer["cold"]))
        for key in ("cold", "hot"):
            value = ratio(result, key)
            cells.append("-" if value is None else f"{value:.2f}" + "*" * (value > 1))
        print(f"{result['case']:{self._width}} {form:11} {result['type']:4} {result['layout']:6}"
              + "".join(f" {cell:>11}" for cell in cells), flush=True)


def summary(results, peers):
    """Lines about all results together."""
    lines = ["", "x best: poolgrad's time / that of the best peer, cold and hot; * where a peer is "
             "faster.",
             "Maxima are timed without indices as well, for peers that give none, and with taps in "
             "bytes, for peers that keep these; cold ms is with indices of 8 bytes.",
             "? in every round other programs had the CPUs; peers suffer as well.",
             "~ the peer's nearest call, which is not quite the problem:"]
    notes = sorted({(peer, value["note"]) for result in results
                    for peer, value in result["peers"].items() if value.get("note")})
    lines += [f"    {peer}: {note}" for peer, note in notes] or ["    none"]
    for key in ("cold", "hot"):
        found = [(ratio(result, key), result) for result in results if ratio(result, key)]
        if not found:
            lines.append(f"{key}: no peer has any of these operators")
            continue
        slower = [pair for pair in found if pair[0] > 1]
        worst, at = max(found, key=lambda pair: pair[0])
        mean = math.exp(sum(math.log(value) for value, _ in found) / len(found))
        lines.append(f"{key}: a peer is faster in {len(slower)} of {len(found)} problems; the "
                     f"worst ratio is {worst:.2f}, {at['problem']} ({_worst(at, key)[1]}); "
                     f"geometric mean {mean:.3f}")
    for peer in peers:
        timed = [value for result in results if (value := _ratio_to(result, peer.name, "cold"))]
        faster = sum(value > 1 for value in timed)
        mean = math.exp(sum(map(math.log, timed)) / len(timed)) if timed else math.nan
        lines.append(f"{peer.name} {peer.version}: {len(timed)} problems, faster than poolgrad in "
                     f"{faster}, geometric mean of poolgrad / {peer.name} {mean:.3f}")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", default=str(HERE / "cases.txt"), help="list of problems")
    parser.add_argument("--filter", action="append", default=[], metavar="TEXT",
                        help="only problems with TEXT in their string or name; all of several")
    parser.add_argument("--peers", default="all", metavar="LIST",
                        help=f"with commas, of {', '.join(runner.SYSTEMS)}, or none (all)")
    parser.add_argument("--rounds", type=int, default=2,
                        help="how often the systems take turns on a problem (2)")
    runner.add_options(parser, 0.4)
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds: at least 1")
    names = runner.peer_names(parser, options.peers)
    rows = [row for row in problems.read_list(options.cases)
            if all(text in row[0] or text in row[1] for text in options.filter)]
    if not rows:
        parser.error(f"no problem of {options.cases} matches")
    peers = runner.start_peers(names, options.threads)
    results = []
    try:
        table = Table(rows, peers)
        for row in rows:
            results.append(measure(*row, peers, options))
            table.row(results[-1])
    except runner.Failed as failed:
        print(f"peers.py: {failed}", file=sys.stderr)
        return 1
    finally:
        for peer in peers:
            peer.close()
        if options.json and results:
            runner.write_json(options.json, {
                "machine": machine.describe(options.program),
                "threads": options.threads, "seconds": options.seconds,
                "peers": {peer.name: peer.version for peer in peers}, "results": results})
    print(summary(results, peers))
    return 0


if __name__ == "__main__":
    sys.exit(main())
