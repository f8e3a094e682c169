# SPDX-License-Identifier: MIT
"""Curves with logarithmic axes as SVG: as much of a plotting library as is needed here."""
import math
from dataclasses import dataclass, field

import svg

WIDTH, HEIGHT = 430, 300  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 58, 96, 36, 46  # its margins
COLUMNS = 2


@dataclass
class Series:
    """Points, all numbers above 0, and how they are drawn."""

    name: str  # at its end; "" for none
    points: list  # (x, y)
    colour: str
    kind: str = "line"  # line, dashes, dots, rings, stem: a thin line
    tips: list = field(default_factory=list)  # for each point, for the mouse


@dataclass
class Panel:
    """A plot."""

    title: str
    series: list
    x_title: str
    y_title: str
    labels: list = field(default_factory=list)  # (x, y, text) beside points
    every_x: bool = True  # ticks at every x of a point, not at 1, 2, 5, ...
    y_ticks: list = field(default_factory=list)  # instead of 1, 2, 5, ...


def _ends(values):
    return svg.round_to_step(min(values), False), svg.round_to_step(max(values), True)


def _x_axis(panel, widths):
    if panel.every_x:
        xs = svg.Axis(min(widths), max(widths), LEFT, WIDTH - RIGHT)
        ticks = sorted(set(widths))
    else:
        xs = svg.Axis(*_ends(widths), LEFT, WIDTH - RIGHT)
        ticks = xs.ticks()
    base, last, parts = HEIGHT - BOTTOM, -math.inf, []
    for value in ticks:
        x = xs.place(value)
        parts.append(svg.line(x, base, x, base + 4, "axis"))
        if x - last >= 18:
            parts.append(svg.text(x, base + 18, f"{value:g}", size=11))
            last = x
    parts += [svg.line(LEFT, base, WIDTH - RIGHT, base, "axis"),
              svg.text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, panel.x_title)]
    return xs, parts


def _y_axis(panel, heights):
    ticks = panel.y_ticks
    low, high = (min(*heights, *ticks), max(*heights, *ticks)) if ticks else _ends(heights)
    ys = svg.Axis(low, high, HEIGHT - BOTTOM, TOP)
    parts = []
    for value in ticks or ys.ticks():
        y = ys.place(value)
        parts += [svg.line(LEFT, y, WIDTH - RIGHT, y),
                  svg.text(LEFT - 7, y + 4, f"{value:g}", "end", 11)]
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(svg.text(14, middle, panel.y_title,
                          extra=f' transform="rotate(-90 14 {middle:.1f})"'))
    return ys, parts


def _draw(series, places):
    parts = []
    if series.kind in ("line", "dashes", "stem"):
        parts.append(svg.path(places, series.colour, 2.2 if series.kind == "line" else 1.4,
                              "5 4" if series.kind == "dashes" else ""))
    if series.kind in ("line", "dots", "rings"):
        tips = series.tips or [""] * len(places)
        parts += [svg.dot(x, y, series.colour, 2.6 if series.kind == "line" else 4,
                          series.kind == "rings", tip) for (x, y), tip in zip(places, tips)]
    return parts


def _labels(panel, xs, ys):
    """Beside their points, where they cover neither points nor each other; left out where there is
    no such place."""
    taken = []
    for series in panel.series:
        places = [(xs.place(x), ys.place(y)) for x, y in series.points]
        taken += [(x - 4, y - 4, x + 4, y + 4) for x, y in places if series.kind != "dashes"]
        if series.kind == "stem":
            taken.append((places[0][0] - 2, min(y for _, y in places), places[0][0] + 2,
                          max(y for _, y in places)))
    parts = []
    for x, y, label in panel.labels:
        width, height = 5.6 * len(label), 9
        for right, down in ((7, 0), (-7 - width, 0), (-width / 2, 12), (-width / 2, -11), (6, 9),
                            (-6 - width, -9), (6, 18), (-6 - width, -18)):
            left, middle = xs.place(x) + right, ys.place(y) + down
            box = left, middle - height / 2, left + width, middle + height / 2
            if not any(box[0] < one[2] and one[0] < box[2] and box[1] < one[3] and one[1] < box[3]
                       for one in taken):
                parts.append(svg.text(left, middle + 4, label, "start", 10.5))
                taken.append(box)
                break
    return parts


def _panel(panel):
    widths, heights = zip(*(point for series in panel.series for point in series.points))
    xs, across = _x_axis(panel, widths)
    ys, up = _y_axis(panel, heights)
    parts = [svg.text(LEFT, 20, panel.title, "start", 14, "ink", ' font-weight="600"')]
    parts += up + across
    ends, colours = {}, {}
    # What is drawn last lies on top: the first series.
    for series in reversed(panel.series):
        places = [(xs.place(x), ys.place(y)) for x, y in series.points]
        parts += _draw(series, places)
        if series.name:
            ends[series.name], colours[series.name] = places[-1][1], series.colour
    for name, y in svg.apart(ends, 14).items():
        parts.append(svg.text(WIDTH - RIGHT + 8, y + 4, name, "start", 12, colours[name]))
    return parts + _labels(panel, xs, ys)


def figure(panel):
    """One panel, to be set into a page."""
    return svg.document(_panel(panel), WIDTH, HEIGHT, panel.title, standalone=False)


def picture(panels, title="", captions=()):
    """The text of an SVG file with all panels, two in a row, a title above and lines below."""
    rows = -(-len(panels) // COLUMNS)
    top, below = (34 if title else 0), 18 * len(captions) + (8 if captions else 0)
    width, height = WIDTH * min(COLUMNS, len(panels)), HEIGHT * rows + top + below
    parts = []
    if title:
        parts.append(svg.text(18, 26, title, "start", 16, "ink", ' font-weight="600"'))
    for number, panel in enumerate(panels):
        x, y = number % COLUMNS * WIDTH, number // COLUMNS * HEIGHT + top
        parts += [f'<g transform="translate({x} {y})">', *_panel(panel), "</g>"]
    parts += [svg.text(18, height - below + 14 + 18 * number, caption, "start", 11)
              for number, caption in enumerate(captions)]
    return svg.document(parts, width, height, title or panels[0].title)
