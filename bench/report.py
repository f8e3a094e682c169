#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A page of everything that was measured: one HTML file that needs nothing else.

    bench/report.py                        from what make bench, bench-peers, bench-growth and
                                           workloads left in build/, to build/report.html
    bench/report.py --folder measured -o report.html
"""
import argparse
import json
import math
import pathlib
import statistics
import sys
from html import escape

import curves
import dots
import growth
import machine as machines
import peers as peers_module
import problem as problems
import scaling
import svg
import table

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
FORMS = {"avg": "gradient", "avg forward": "forward", "max": "from indices",
         "max from x": "from x", "max forward": "forward"}
COLUMNS = [(dtype, layout) for dtype in table.TYPES for layout in table.LAYOUTS]
LAYOUT_NAMES = {"ncx": "channels first", "nxc": "channels last"}


def readable(text):
    """The Problem of a problem string, None if it is beyond what these lists hold."""
    try:
        return problems.parse(text)
    except problems.Unreadable:
        return None


def mean(values):
    """Geometric."""
    return math.exp(statistics.fmean(map(math.log, values)))


# ------------------------------------------------------------------- pieces


def section(title, text, *parts):
    return f"<section>\n<h2>{title}</h2>\n<p>{text}</p>\n" + "\n".join(parts) + "\n</section>"


def pair(*sections):
    """Beside each other where there is room."""
    return '<div class="pair">' + "\n".join(sections) + "</div>"


def legend(entries):
    """[(a dot's SVG, what it means)]"""
    items = [f'<span><svg viewBox="0 0 14 14">{shape}</svg>{escape(name)}</span>'
             for shape, name in entries]
    return '<div class="legend">' + "".join(items) + "</div>"


TYPE_LEGEND = [(svg.dot(7, 7, name, 5), name) for name in table.TYPES] + [
    (svg.dot(7, 7, "axis", 5), "channels first (NCX)"),
    (svg.dot(7, 7, "axis", 5, hollow=True), "channels last (NXC)")]


def heat(rows, colour):
    """{(case, form): {(type, layout): value}} as a table; colour(value) gives (class, strength)"""
    columns = [column for column in COLUMNS if any(column in row for row in rows.values())]
    head = "".join(f"<th>{dtype}<br/>{layout}</th>" for dtype, layout in columns)
    lines = [f"<tr><th>case</th><th></th>{head}</tr>"]
    for (case, form), row in rows.items():
        cells = []
        for column in columns:
            if column not in row:
                cells.append("<td>-</td>")
                continue
            kind, strength = colour(row[column])
            digits = 1 if row[column] >= 10 else 2 if row[column] >= 0.1 else 3
            cells.append(f'<td class="{kind}" style="--heat:{min(strength, 1) * 0.65:.2f}">'
                         f"{row[column]:.{digits}f}</td>")
        lines.append(f"<tr><td>{escape(case)}</td><td>{FORMS[form]}</td>{''.join(cells)}</tr>")
    return ('<details><summary>all figures</summary><div class="scroll"><table>'
            + "\n".join(lines) + "</table></div></details>")


def chart(title, axis, rows, least, reference_name):
    """Dots of {(case, form): {(type, layout): value}}, cases apart from each other."""
    found, gaps, before = [], [], None
    for (case, form), row in rows.items():
        marks = [dots.Mark(row[column], column[0], "dot" if column[1] == "ncx" else "ring",
                           f"{case} {FORMS[form]}, {column[0]} {LAYOUT_NAMES[column[1]]}: "
                           f"{row[column]:.2f}") for column in reversed(COLUMNS) if column in row]
        if (case, form) in least:
            value = least[case, form]
            marks.insert(0, dots.Mark(value, "copy", "tick",
                                      f"{case} {FORMS[form]}: this memory allows {value:.2f}"))
        if before is not None and case != before:
            gaps.append(len(found))
        found.append(dots.Row(case if case != before else "", FORMS[form], marks))
        before = case
    figure = dots.figure(dots.Chart(title, axis, found, 1, reference_name, gaps=gaps))
    return f'<div class="scroll">{figure}</div>'


# ----------------------------------------------------------------- sections


def multiples(results, names):
    """Multiples of the floor, of every case, type and layout."""
    found, _ = table.rows_of(results, names)
    rows = {key: {column: value[0] for column, value in row.items()}
            for key, row in found.items()}
    if not rows:
        return ""
    least = {}
    for result in results:
        problem = readable(result["problem"])
        if not problem or not result["least_x_floor"]:
            continue
        key = names.get(problem.apart_from_type()) or problems.label("", result["problem"])
        least.setdefault((key, problem.form()), []).append(result["least_x_floor"])
    least = {key: statistics.median(values) for key, values in least.items()}
    doubtful = sum(table.doubtful(result) for result in results)
    doubt = (f" Other programs had the CPUs during {doubtful} of {len(results)} measurements; "
             "those figures are too high." if doubtful else "")
    return section(
        "How far from the floor",
        "The time of every case as a multiple of the time that copying the same bytes takes, with "
        "the same threads, cold: 1 is a copy. Grey ticks: what this memory allows at best, where "
        f"reading or writing alone is slower than copying.{doubt}",
        legend([*TYPE_LEGEND, (svg.line(7, 1, 7, 13, "copy", 2), "least")]),
        chart("Multiples of the floor", "multiple of the floor", rows, least, "a copy"),
        heat(rows, lambda value: ("bad", math.log(max(value, 1)) / math.log(12))))


def windows(figures):
    """Time against window size."""
    peers = ", ".join(f"{name} {version}" for name, version in figures["peers"].items())
    return section(
        "Time against window size",
        "Stride 1, padding that keeps the size, f32, channels first. poolgrad adds along one axis "
        "after the other, by doubling: the cost grows with the logarithm of the window's side. "
        "Dashed: copying the same bytes."
        + (f" Beside {escape(peers)}, with the same threads." if peers else ""),
        '<div class="panels two">', *map(curves.figure, growth.panels(figures["results"])), "</div>")


def roofline(results):
    """Operations per byte against operations per second, cold and hot, of averages in f32."""
    series, labels, rates = [], [], []
    for result in results:
        problem = readable(result["problem"])
        if not problem or not result["x_floor"]:
            continue
        operations, size = problem.operations(), problem.operand_bytes()
        rates.append(size / result["floor_seconds"] / 1e9)
        if problem.is_max or problem.dtype != "f32" or problem.layout != "ncx":
            continue
        cold, hot = ((operations / size, operations / result[key] / 1e9)
                     for key in ("seconds", "hot_seconds"))
        tip = (f"{result['problem']}: {operations / size:.2f} operations per byte, "
               f"{result['x_floor']:.2f} times the floor; {size / result['seconds'] / 1e9:.1f} GB/s, "
               f"hot {size / result['hot_seconds'] / 1e9:.1f} GB/s")
        colour = "two" if problem.forward else "one"
        series += [curves.Series("", [cold], colour, "dots", [tip]),
                   curves.Series("", [cold, hot], colour, "stem")]
        if not problem.forward:
            labels.append((*cold, "x".join(map(str, problem.kernel))))
    if not series:
        return ""
    rate = statistics.median(rates)
    ends = [choose(x for one in series for x, _ in one.points) for choose in (min, max)]
    series.append(curves.Series("copying", [(x, x * rate) for x in ends], "copy", "dashes"))
    panel = curves.Panel("Averages, f32, channels first", series, "operations per byte",
                         "billion operations per second", labels, every_x=False)
    return section(
        "Roofline",
        "Additions and divisions, as many as the definition has, per byte that must move, against "
        "how many were done per second. The dashed line is the memory's roof, copying at "
        f"{rate:.0f} GB/s in the median; a dot's distance below it is about its multiple of the "
        "floor. Where the line from a dot is long, warm caches help, and memory is the limit; where "
        "it is short, arithmetic is, unless the buffers are larger than the caches.",
        legend([(svg.dot(7, 7, "one", 5), "gradient"), (svg.dot(7, 7, "two", 5), "forward"),
                (svg.line(7, 1, 7, 13, "axis", 1.6), "from cold to hot")]),
        f'<div class="panels">{curves.figure(panel)}</div>')


def threads(figures):
    """Speed-up with threads."""
    series = []
    ups = scaling.speed_ups(figures["results"])
    for colour, (text, row) in zip(svg.NUMBERED, ups.items()):
        problem = problems.parse(text)
        name = f"{problem.op} {'x'.join(map(str, problem.kernel))}"
        series.append(curves.Series(name, [(count, value[0]) for count, value in row.items()],
                                    colour, tips=[f"{text}, {count} threads: {value[0]:.2f}"
                                                  for count, value in row.items()]))
    counts = sorted({count for row in ups.values() for count in row})
    copy = [(count, max(row[count][1] for row in ups.values())) for count in counts]
    series.append(curves.Series("copying", copy, "copy", "dashes"))
    panel = curves.Panel("Speed-up over one thread", series, "threads", "times faster (cold)",
                         y_ticks=counts)
    return section(
        "Threads",
        "Dashed: what more threads bring a copy. What is bound by memory cannot do better; what is "
        "bound by arithmetic can.", f'<div class="panels">{curves.figure(panel)}</div>')


def ratios(figures):
    """poolgrad's time over that of the best peer."""
    rows = {}
    for result in figures["results"]:
        value, problem = peers_module.ratio(result, "cold"), readable(result["problem"])
        if value and problem:
            rows.setdefault((result["case"], problem.form()), {})[
                problem.dtype, problem.layout] = value
    if not rows:
        return ""
    values = [value for row in rows.values() for value in row.values()]
    systems = ", ".join(f"{name} {version}" for name, version in figures["peers"].items())
    return section(
        "Beside other systems",
        f"The time of poolgrad divided by that of the fastest of {escape(systems)} that has the "
        f"operator in that type and layout; the same threads, in turn, cold. Left of 1 poolgrad is "
        f"faster: in {sum(value < 1 for value in values)} of {len(values)}.",
        legend(TYPE_LEGEND),
        chart("Time beside the best peer", "poolgrad's time / the best peer's", rows, {},
              "as fast"),
        heat(rows, lambda value: ("good" if value < 1 else "bad",
                                  abs(math.log(value)) / math.log(10))))


def workloads(figures):
    """Steps of training: floor, poolgrad, PyTorch."""
    rows, lines, with_torch = [], [], False
    for result in figures["results"]:
        own, floor = result["seconds"] * 1e3, result["floor_seconds"] * 1e3
        torch = result.get("torch", {}).get("cold")
        name = f"{result['name']}, {result['shape']}"
        marks = [dots.Mark(floor, "copy", "tick", f"{name}: a copy takes {floor:.2f} ms"),
                 dots.Mark(own, "poolgrad", tip=f"{name}: poolgrad {own:.2f} ms, "
                                                f"{own / floor:.2f} times the floor")]
        if torch:
            with_torch = True
            marks.append(dots.Mark(torch * 1e3, "torch",
                                   tip=f"{name}: PyTorch {torch * 1e3:.2f} ms"))
        rows.append(dots.Row(result["name"], "", marks))
        torch_cells = ((f"{torch * 1e3:.2f}", f"{torch * 1e3 / own:.1f}x") if torch else ("-", "-"))
        doubt = " ?" if table.doubtful(result) else ""
        lines.append([result["name"], f"{own:.2f}{doubt}", f"{own / floor:.1f}", *torch_cells])
    shown = dots.figure(dots.Chart("Workloads", "ms a step", rows, connect=True, left=124))
    entries = [(svg.line(7, 1, 7, 13, "copy", 2), "copying the same bytes"),
               (svg.dot(7, 7, "poolgrad", 5), "poolgrad")]
    if with_torch:
        entries.append((svg.dot(7, 7, "torch", 5), f"PyTorch {figures['peers']['torch']}"))
    return section(
        "Steps of training",
        "What networks and losses spend on pooling, forward and gradient, in one step: "
        "bench/workloads has the programs. A ? marks what other programs disturbed; PyTorch suffers "
        "as well.", legend(entries),
        f'<div class="pair"><div class="scroll">{shown}</div>',
        '<div class="scroll"><table class="plain">',
        "<tr><th>step</th><th>ms</th><th>x floor</th><th>PyTorch ms</th><th>faster</th></tr>",
        *("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>"
          for line in lines), "</table></div></div>")


# --------------------------------------------------------------------- page


def tiles(files):
    """The few figures that matter most: (figure, what it is)."""
    found = []
    if "bench" in files:
        values = [result["x_floor"] for result in files["bench"]
                  if result["x_floor"] and result["type"] == "f32"]
        if values:
            found.append((f"{mean(values):.1f}x", f"the time of a copy, geometric mean of "
                                                  f"{len(values)} f32 problems"))
    if "growth" in files:
        group = next(iter(growth.groups(files["growth"]["results"]).values()))
        first, last = group[0], group[-1]
        found.append((f"{last['times']['poolgrad'] / first['times']['poolgrad']:.1f}x",
                      f"the time, when windows grow from {first['kernel']} to {last['kernel']} "
                      f"elements along both axes"))
    if "peers" in files:
        values = [value for result in files["peers"]["results"]
                  if (value := peers_module.ratio(result, "cold"))]
        if values:
            found.append((f"{mean(values):.2f}", "of the best peer's time, geometric mean of "
                                                 f"{len(values)} problems"))
    if "workloads" in files:
        values = [result["torch"]["cold"] / result["seconds"]
                  for result in files["workloads"]["results"] if "cold" in result.get("torch", {})]
        if values:
            found.append((f"{mean(values):.1f}x", f"faster than PyTorch, geometric mean of "
                                                  f"{len(values)} steps of training"))
    items = [f'<div class="tile"><b>{figure}</b><span>{escape(text)}</span></div>'
             for figure, text in found]
    return '<div class="tiles">' + "\n".join(items) + "</div>"


def provenance(files):
    """Machines, compilers, commits and days; one line where all are the same."""
    subjects = {"scaling": "floor and threads", "peers": "other systems",
                "growth": "window size", "workloads": "steps of training"}
    found = {}
    for name, subject in subjects.items():
        if "machine" in files.get(name, {}):
            found.setdefault(machines.sentence(files[name]["machine"]), []).append(subject)
    if len(found) == 1:
        return f"<p>{escape(next(iter(found)))}</p>"
    return "".join(f"<p>{', '.join(names)}: {escape(text)}</p>" for text, names in found.items())


def page(files, names):
    body = [f"<header><h1>poolgrad, measured</h1>{provenance(files)}</header>", tiles(files)]
    bench = files.get("bench")
    body += [windows(files["growth"]) if "growth" in files else "",
             pair(multiples(bench, names) if bench else "",
                  ratios(files["peers"]) if "peers" in files else ""),
             workloads(files["workloads"]) if "workloads" in files else "",
             pair(roofline(bench) if bench else "",
                  threads(files["scaling"]) if "scaling" in files else "")]
    body.append("<footer><p>Every time is the best of several. Cold: calls rotate over buffers that "
                "together exceed four times the last-level cache. The floor: bytes read and written, "
                "over the rate of the better of a plain and a streaming copy, measured in turn. "
                "docs/performance.md says what limits each case.</p></footer>")
    style = (HERE / "report.css").read_text(encoding="utf-8")
    return ("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            f"<title>poolgrad, measured</title>\n<style>\n{style}{svg.DARK}\n</style>\n</head>\n"
            "<body>\n<main>\n" + "\n".join(part for part in body if part)
            + "\n</main>\n</body>\n</html>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", default=str(ROOT / "build"), help="where the figures are")
    parser.add_argument("--cases", default=str(HERE / "cases.txt"),
                        help="the list that names the cases")
    parser.add_argument("-o", "--output", metavar="FILE.html",
                        help="the page (report.html among the figures)")
    options = parser.parse_args()
    folder = pathlib.Path(options.folder)
    places = {"bench": "bench.json", "scaling": "scaling.json", "peers": "bench-peers.json",
              "growth": "growth.json", "workloads": "workloads.json"}
    files = {name: json.loads((folder / place).read_text(encoding="utf-8"))
             for name, place in places.items() if (folder / place).exists()}
    if not files:
        parser.error(f"{folder} has no figures; 'make bench' measures")
    output = pathlib.Path(options.output or folder / "report.html")
    output.write_text(page(files, table.names_of(options.cases)), encoding="utf-8")
    missing = [place for name, place in places.items() if name not in files]
    print(f"report: {output}" + (f" (without {', '.join(missing)})" if missing else ""))
    return 0


if __name__ == "__main__":
    sys.exit(main())
