# SPDX-License-Identifier: MIT
"""Elements of SVG pictures, their colours in light and dark, and logarithmic axes.

Colours are named. An element carries its light colour as an attribute, which every program that
shows SVG understands, and a class, by which DARK changes it where the reader prefers that.
"""
import math
from xml.sax.saxutils import escape, quoteattr

# name: (light, dark)
PALETTE = {
    "page": ("#ffffff", "#15181c"), "ink": ("#1c2126", "#e6e9ec"), "text": ("#4b535c", "#aab3bc"),
    "grid": ("#e3e6e9", "#2c3238"), "axis": ("#8b939b", "#6b747d"), "copy": ("#7a828a", "#98a1aa"),
    # systems
    "poolgrad": ("#0b7a57", "#35c493"), "torch": ("#c8502f", "#f08d6e"),
    "tensorflow": ("#b3780a", "#e6b450"), "onnxruntime": ("#2f66ab", "#84b0ee"),
    "onednn": ("#7b4b94", "#c39be0"),
    # element types
    "f32": ("#0b7a57", "#35c493"), "f64": ("#2f66ab", "#84b0ee"),
    "bf16": ("#c8502f", "#f08d6e"), "f16": ("#b3780a", "#e6b450"),
    # curves without a meaning of their own
    "one": ("#0b7a57", "#35c493"), "two": ("#c8502f", "#f08d6e"), "three": ("#2f66ab", "#84b0ee"),
    "four": ("#b3780a", "#e6b450"), "five": ("#7b4b94", "#c39be0"),
}
NUMBERED = ("one", "two", "three", "four", "five")
DARK = "@media (prefers-color-scheme: dark) {" + "".join(
    f" .f-{name} {{fill: {dark}}} .s-{name} {{stroke: {dark}}}"
    for name, (_, dark) in PALETTE.items()) + " }"
STEPS = (1, 2, 5)


def fill(name):
    return f'class="f-{name}" fill="{PALETTE[name][0]}"'


def stroke(name, width=1.0, dashes=""):
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return f'class="s-{name}" stroke="{PALETTE[name][0]}" stroke-width="{width:g}"{dashed}'


def text(x, y, content, anchor="middle", size=12.0, colour="text", extra=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size:g}" '
            f'{fill(colour)}{extra}>{escape(content)}</text>')


def line(x1, y1, x2, y2, colour="grid", width=1.0, dashes=""):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'{stroke(colour, width, dashes)}/>')


def path(places, colour, width=2.0, dashes=""):
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    return f'<polyline points="{points}" fill="none" {stroke(colour, width, dashes)}/>'


def dot(x, y, colour, radius=3.0, hollow=False, tip=""):
    """A disk, or a ring; what a mouse that rests on it is told."""
    paint = f'fill="none" {stroke(colour, 1.6)}' if hollow else fill(colour)
    size = radius - 0.6 if hollow else radius
    end = f"><title>{escape(tip)}</title></circle>" if tip else "/>"
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:g}" {paint}{end}'


def document(parts, width, height, label, standalone=True):
    """A whole picture; one that stands alone has a background and its own dark colours."""
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'role="img" aria-label={quoteattr(label)} font-family="system-ui, sans-serif"')
    if not standalone:
        return "\n".join([head + ">", *parts, "</svg>"])
    return "\n".join([f'{head} width="{width}" height="{height}">', f"<style>{DARK}</style>",
                      f'<rect width="{width}" height="{height}" {fill("page")}/>', *parts,
                      "</svg>"]) + "\n"


def round_to_step(value, up):
    """The next of 1, 2, 5, 10, ... at or beyond a value."""
    power = 10.0 ** math.floor(math.log10(value))
    steps = [step * power for step in (*STEPS, 10)]
    if up:
        return next(step for step in steps if step >= value * 0.999)
    return next(step for step in reversed(steps) if step <= value * 1.001)


class Axis:
    """From values to places, by their logarithm."""

    def __init__(self, low, high, begin, end):
        self.low, self.high = (low, high) if low < high else (low / 2, high * 2)
        self._begin, self._end = begin, end

    def place(self, value):
        part = math.log(value / self.low) / math.log(self.high / self.low)
        return self._begin + part * (self._end - self._begin)

    def ticks(self):
        """1, 2, 5, 10, ... within the range; only powers of ten where there would be many."""
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        steps = STEPS if math.log10(self.high / self.low) <= 2.5 else (1,)
        values = [step * 10.0 ** power for power in range(first, last + 1) for step in steps]
        return [value for value in values if self.low * 0.999 <= value <= self.high * 1.001]


def apart(places, distance):
    """Moves labels down until none covers another; {name: place} in, the same out."""
    result, least = {}, -math.inf
    for name, place in sorted(places.items(), key=lambda item: item[1]):
        least = result[name] = max(place, least + distance)
    return result
