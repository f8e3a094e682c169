# SPDX-License-Identifier: MIT
"""The outcome, as text and as Markdown."""
import os

_COLUMNS = (
    ("peer", lambda t: t.peer),
    ("version", lambda t: t.version),
    ("problems", lambda t: t.counts["problems"]),
    ("equal within tolerance", lambda t: t.counts["equal"]),
    ("bit for bit in parity", lambda t: t.counts["bits"]),
    ("both refused", lambda t: t.counts["refused"]),
    ("listed differences", lambda t: t.counts["difference"]),
    ("defects of the peer", lambda t: t.counts["defect"]),
    ("crashes of the peer", lambda t: t.counts["crash"]),
    ("not asked", lambda t: t.counts["not asked"]),
    ("disagreements", lambda t: t.counts["disagree"]),
)


def _ran(tallies):
    return [tally for tally in tallies if not tally.skipped]


def _names(tally):
    """(what, name, count), most frequent first."""
    for kind, names in tally.names.items():
        for name, count in names.most_common():
            yield kind, name, count


def text(tallies):
    """For the terminal: one block per peer, then one line."""
    lines = []
    for tally in _ran(tallies):
        lines.append(f"{tally.peer} {tally.version}, {tally.seconds:.0f} s")
        for title, value in _COLUMNS[2:]:
            lines.append(f"  {value(tally):6}  {title}")
        if tally.counts["refused"]:
            lines.append(f"  {tally.counts['same kind']:6}  of those both refused, with the same "
                         "kind of error")
        for kind, name, count in _names(tally):
            lines.append(f"  {count:6}  {kind}: {name}")
    for tally in tallies:
        if tally.skipped:
            lines.append(f"peers: SKIPPED {tally.peer}: {tally.skipped}")
    failed = sum(bool(failures(tally)) for tally in _ran(tallies))
    skipped = len(tallies) - len(_ran(tallies))
    lines.append(f"peers: {len(_ran(tallies)) - failed} passed, {failed} failed, "
                 f"{skipped} skipped")
    return "\n".join(lines)


def markdown(tallies):
    """For a page: the numbers, then what the differences were."""
    lines = ["| " + " | ".join(title for title, _ in _COLUMNS) + " |",
             "|" + "---|" * len(_COLUMNS)]
    for tally in _ran(tallies):
        cells = [value(tally) for _, value in _COLUMNS]
        lines.append("| " + " | ".join(f"{c:,}" if isinstance(c, int) else c for c in cells) + " |")
    lines += ["", "| peer | kind | what | problems |", "|---|---|---|---|"]
    for tally in _ran(tallies):
        for kind, name, count in _names(tally):
            lines.append(f"| {tally.peer} | {kind} | {name} | {count:,} |")
    return "\n".join(lines) + "\n"


def failures(tally):
    return [r for r in tally.disagreements if r["verdict"] == "disagree"]


def exit_code(tallies, skip_code):
    """A peer that could not be installed is no failure, except where everything must run.

    skip_code: what to return if none could.
    """
    if any(failures(tally) for tally in _ran(tallies)):
        return 1
    if len(_ran(tallies)) < len(tallies) and os.environ.get("CI") == "true":
        print("peers: a peer was skipped, which CI=true does not allow")
        return 1
    return 0 if _ran(tallies) else skip_code
