# SPDX-License-Identifier: MIT
"""Dots in rows over one logarithmic axis, as SVG: many figures of many things at a glance."""
from dataclasses import dataclass, field

import svg

ROW, TOP, BOTTOM = 19, 30, 40


@dataclass
class Mark:
    value: float
    colour: str
    kind: str = "dot"  # dot, ring, tick
    tip: str = ""


@dataclass
class Row:
    label: str
    note: str  # behind the label, fainter
    marks: list


@dataclass
class Chart:
    title: str
    axis: str
    rows: list
    reference: float = 0  # a line that matters, 0 for none
    reference_name: str = ""
    connect: bool = False  # a line from the first to the last mark of a row
    gaps: list = field(default_factory=list)  # before these rows
    width: int = 560
    left: int = 216


def _mark(mark, x, y):
    if mark.kind == "tick":
        tip = f"<title>{svg.escape(mark.tip)}</title>"
        return f"<g>{tip}{svg.line(x, y - 6, x, y + 6, mark.colour, 1.6)}</g>"
    return svg.dot(x, y, mark.colour, 3.6, mark.kind == "ring", mark.tip)


def figure(chart):
    """The chart, to be set into a page."""
    values = [mark.value for row in chart.rows for mark in row.marks]
    low, high = min(values), max(values)
    if chart.reference:
        low, high = min(low, chart.reference), max(high, chart.reference)
    xs = svg.Axis(low / 1.12, high * 1.12, chart.left, chart.width - 18)
    bottom = TOP + ROW * len(chart.rows) + 8 * len(chart.gaps)
    parts = []
    for value in xs.ticks():
        x = xs.place(value)
        parts += [svg.line(x, TOP - 6, x, bottom), svg.text(x, bottom + 15, f"{value:g}", size=11)]
    parts.append(svg.text((chart.left + chart.width - 18) / 2, bottom + 33, chart.axis))
    if chart.reference:
        x = xs.place(chart.reference)
        parts += [svg.line(x, TOP - 6, x, bottom, "copy", 1.6),
                  svg.text(x, TOP - 12, chart.reference_name, size=11)]
    y = TOP + ROW / 2
    for number, row in enumerate(chart.rows):
        if number in chart.gaps:
            y += 8
        parts.append(svg.text(4, y + 4, row.label, "start", 12, "ink"))
        if row.note:
            parts.append(svg.text(chart.left - 10, y + 4, row.note, "end", 11))
        places = [xs.place(mark.value) for mark in row.marks]
        if chart.connect and len(places) > 1:
            parts.append(svg.line(min(places), y, max(places), y, "axis", 1.2))
        parts += [_mark(mark, x, y) for mark, x in zip(row.marks, places)]
        y += ROW
    return svg.document(parts, chart.width, bottom + BOTTOM, chart.title, standalone=False)
