#!/usr/bin/env python3
"""Draws how recall grows with the number of memories, from a report of bench_recall, as an SVG.

    plot.py results/recall-growth.json ../docs/performance.svg

Both axes are logarithmic. Only the standard library is used; the same report gives the same bytes.
"""
import json
import math
import pathlib
import sys

WIDTH, HEIGHT = 760, 430
LEFT, RIGHT, TOP, BOTTOM = 64, 236, 52, 50
INK, QUIET, GRID = "#24292f", "#57606a", "#d8dee4"
SERIES = [  # name, row, index of the series in it, figure, colour, dashes
    ("SQLite FTS5, OR, p50", "query", 1, "p50_us", "#9a6700", ""),
    ("new process, first answer", "cold", 0, "median_us", "#6e7781", ""),
    ("recall, p99", "query", 0, "p99_us", "#0969da", "5 4"),
    ("recall, p50", "query", 0, "p50_us", "#0969da", ""),
]


def points(rows, row_name, index, figure):
    found = []
    for row in rows:
        name, _, size = row["id"].rpartition("-")
        if name == row_name and index < len(row["series"]):
            found.append((int(size), row["series"][index][figure] / 1000))
    return sorted(found)


class Axis:
    def __init__(self, values, start, end):
        self.low = 10 ** math.floor(math.log10(min(values)))
        self.high = 10 ** math.ceil(math.log10(max(values)))
        self.start, self.end = start, end

    def place(self, value):
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def decades(self):
        value = self.low
        while value <= self.high * 1.001:
            yield value
            value *= 10


def count_label(value):
    value = round(value)
    return f"{value // 1_000_000} M" if value >= 1_000_000 else f"{value // 1000} k"


def spread(labels, gap=16):
    """Moves labels apart: (place, item) in, (new place, item) out, from top to bottom."""
    placed = []
    for y, item in sorted(labels, key=lambda label: label[0]):
        placed.append((max(y, placed[-1][0] + gap) if placed else y, item))
    return placed


def draw(report):
    lines = [(name, colour, dashes, points(report["rows"], row, index, figure))
             for name, row, index, figure, colour, dashes in SERIES]
    lines = [line for line in lines if line[3]]
    x = Axis([p[0] for line in lines for p in line[3]], LEFT, WIDTH - RIGHT)
    y = Axis([p[1] for line in lines for p in line[3]], HEIGHT - BOTTOM, TOP)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
           f'width="{WIDTH}" height="{HEIGHT}" font-family="system-ui, sans-serif" font-size="12">',
           "<title>Time of a recall by the number of memories</title>",
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
           f'<text x="16" y="26" font-size="15" font-weight="600" fill="{INK}">'
           "Time of a recall, in milliseconds</text>"]
    for value in y.decades():
        at = y.place(value)
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at}" y2="{at}" stroke="{GRID}"/>')
        out.append(f'<text x="{LEFT - 8}" y="{at + 4}" text-anchor="end" fill="{QUIET}">'
                   f"{value:g}</text>")
    sizes = sorted({p[0] for line in lines for p in line[3]})
    for value in sizes:
        at = x.place(value)
        out.append(f'<line x1="{at}" x2="{at}" y1="{TOP}" y2="{HEIGHT - BOTTOM}" stroke="{GRID}" '
                   'stroke-dasharray="2 4"/>')
        out.append(f'<text x="{at}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle" '
                   f'fill="{QUIET}">{count_label(value)}</text>')
    out.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 12}" text-anchor="middle" '
               f'fill="{QUIET}">memories in the bank</text>')
    labels = []
    for name, colour, dashes, line in lines:
        path = " ".join(f"{x.place(size)},{y.place(ms)}" for size, ms in line)
        dash = f' stroke-dasharray="{dashes}"' if dashes else ""
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" '
                   f'stroke-width="2"{dash}/>')
        for size, ms in line:
            out.append(f'<circle cx="{x.place(size)}" cy="{y.place(ms)}" r="3" fill="{colour}"/>')
        labels.append((y.place(line[-1][1]) + 4, (f"{name}: {line[-1][1]:.3g}", colour)))
    for at, (text, colour) in spread(labels):
        out.append(f'<text x="{WIDTH - RIGHT + 12}" y="{round(at, 1)}" '
                   f'fill="{colour}">{text}</text>')
    return "\n".join(out + ["</svg>", ""])


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    report = json.loads(pathlib.Path(sys.argv[1]).read_text())
    pathlib.Path(sys.argv[2]).write_text(draw(report))


if __name__ == "__main__":
    main()
