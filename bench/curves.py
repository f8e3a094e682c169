# SPDX-License-Identifier: MIT
"""Curves with logarithmic axes as SVG: as much of a plotting library as is needed here."""
import math
from dataclasses import dataclass
from xml.sax.saxutils import escape

COLOURS = {"poolgrad": "#0b6e4f", "torch": "#c8553d", "tensorflow": "#d99a1c",
           "onnxruntime": "#4a6fa5", "onednn": "#7b4b94"}
WIDTH, HEIGHT = 420, 300  # of a panel
LEFT, RIGHT, TOP, BOTTOM = 62, 90, 34, 44  # its margins
COLUMNS = 2


@dataclass
class Panel:
    """A plot: {name: [(x, y)]}, all numbers above 0."""

    title: str
    series: dict


STEPS = (1, 2, 5)


def _round(value, up):
    """The next of 1, 2, 5, 10, ... at or beyond a value."""
    power = 10.0 ** math.floor(math.log10(value))
    steps = [step * power for step in (*STEPS, 10)]
    if up:
        return next(step for step in steps if step >= value * 0.999)
    return next(step for step in reversed(steps) if step <= value * 1.001)


class _Axis:
    """From values to places."""

    def __init__(self, low, high, begin, end):
        self.low, self.high = (low, high) if low < high else (low / 2, high * 2)
        self._begin, self._end = begin, end

    def place(self, value):
        part = math.log(value / self.low) / math.log(self.high / self.low)
        return self._begin + part * (self._end - self._begin)


def _text(x, y, content, anchor="middle", size=11, colour="#333", extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" '
            f'fill="{colour}"{extra}>{escape(content)}</text>')


def _line(x1, y1, x2, y2, colour):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'stroke="{colour}" stroke-width="1"/>')


def _ticks(low, high):
    """1, 2, 5, 10, ... within the range; only powers of ten where there would be many."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    steps = STEPS if last - first <= 3 else (1,)
    values = [step * 10.0 ** power for power in range(first, last + 1) for step in steps]
    return [value for value in values if low * 0.999 <= value <= high * 1.001]


def _apart(places, distance):
    """Moves labels down until none covers another; {name: place} in, the same out."""
    result, least = {}, -math.inf
    for name, place in sorted(places.items(), key=lambda item: item[1]):
        least = result[name] = max(place, least + distance)
    return result


def _panel(panel, x_title, y_title):
    points = [point for series in panel.series.values() for point in series]
    widths, heights = zip(*points)
    xs = _Axis(min(widths), max(widths), LEFT, WIDTH - RIGHT)
    ys = _Axis(_round(min(heights), False), _round(max(heights), True), HEIGHT - BOTTOM, TOP)
    parts = [_text(LEFT, 18, panel.title, "start", 13, "#111", ' font-weight="bold"')]
    for value in _ticks(ys.low, ys.high):
        y = ys.place(value)
        parts += [_line(LEFT, y, WIDTH - RIGHT, y, "#e4e4e4"),
                  _text(LEFT - 6, y + 4, f"{value:g}", "end")]
    last = -math.inf
    for value in sorted(set(widths)):
        x = xs.place(value)
        parts.append(_line(x, HEIGHT - BOTTOM, x, HEIGHT - BOTTOM + 4, "#888"))
        if x - last >= 16:
            parts.append(_text(x, HEIGHT - BOTTOM + 17, f"{value:g}"))
            last = x
    parts.append(_line(LEFT, HEIGHT - BOTTOM, WIDTH - RIGHT, HEIGHT - BOTTOM, "#888"))
    parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, x_title))
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(_text(14, middle, y_title, extra=f' transform="rotate(-90 14 {middle:.1f})"'))
    ends = {}
    for name, series in panel.series.items():
        colour = COLOURS.get(name, "#555")
        places = [(xs.place(x), ys.place(y)) for x, y in series]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in places]
        ends[name] = places[-1][1]
    for name, y in _apart(ends, 13).items():
        parts.append(_text(WIDTH - RIGHT + 8, y + 4, name, "start", 12, COLOURS.get(name, "#555")))
    return parts


def picture(panels, x_title, y_title):
    """The text of an SVG file with all panels, two in a row."""
    rows = -(-len(panels) // COLUMNS)
    width, height = WIDTH * min(COLUMNS, len(panels)), HEIGHT * rows
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
             f'width="{width}" height="{height}" font-family="sans-serif">',
             f'<rect width="{width}" height="{height}" fill="white"/>']
    for number, panel in enumerate(panels):
        x, y = number % COLUMNS * WIDTH, number // COLUMNS * HEIGHT
        parts.append(f'<g transform="translate({x} {y})">')
        parts += _panel(panel, x_title, y_title)
        parts.append("</g>")
    parts.append("</svg>")
    return "\n".join(parts) + "\n"
