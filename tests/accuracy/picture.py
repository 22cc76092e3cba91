"""Pictures of predictions beside measurements, as SVG.

One picture a source: on the left predicted against measured, on the right the
error by size; a colour for each family of rows.
"""
import html
import math

WIDTH, HEIGHT = 760, 300
# Panels: left edge, top, width, height.
LEFT = (64, 28, 250, 220)
RIGHT = (400, 28, 220, 220)
LEGEND = 634
COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf",
           "#8c564b", "#7f7f7f")


def text(x, y, words, anchor="middle", size=11):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" '
            f'font-size="{size}">{html.escape(words)}</text>')


def line(x1, y1, x2, y2, style):
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
            f'{style}/>')


GRID = 'stroke="#ddd"'
RULER = 'stroke="#555"'
BAND = 'stroke="#aaa" stroke-dasharray="4 3"'


class Axis:
    """From values to a stretch of the picture, logarithmic or linear."""

    def __init__(self, low, high, start, end, log):
        self.log = log
        self.low, self.high = self._of(low), self._of(high)
        self.start, self.end = start, end

    def _of(self, value):
        return math.log10(value) if self.log else value

    def __call__(self, value):
        share = (self._of(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def decades(low, high, unit=1):
    """1, 2 and 5 times powers of ten of the unit between the two."""
    low, high = low / unit, high / unit
    first = math.floor(math.log10(low))
    last = math.ceil(math.log10(high))
    ticks = [m * 10.0**e for e in range(first, last + 1) for m in (1, 2, 5)]
    ticks = [tick for tick in ticks if low <= tick <= high]
    if len(ticks) > 7:
        ticks = [tick for tick in ticks if f"{tick:e}"[0] == "1"]
    return [tick * unit for tick in ticks]


def size_of(unit):
    return 2**30 if unit == "bytes" else 1


def tick_name(value, unit):
    return f"{value / size_of(unit):g}"


def error_ticks(most):
    step = next(s for s in (0.02, 0.05, 0.1, 0.2, 0.5, 1) if most / s <= 4)
    count = math.ceil(most / step)
    return [i * step for i in range(-count, count + 1)]


def colours_of(rows):
    families = sorted({row["family"] for row in rows})
    return {family: COLOURS[i % len(COLOURS)]
            for i, family in enumerate(families)}


def points(rows, place, colours):
    """One path a family: a dot is a stroke of no length."""
    parts = []
    for family, colour in colours.items():
        dots = ["M{:.1f} {:.1f}h0".format(*place(row)) for row in rows
                if row["family"] == family]
        parts.append(f'<path d="{"".join(dots)}" stroke="{colour}" '
                     'stroke-width="5" stroke-linecap="round" '
                     'stroke-opacity="0.55"/>')
    return parts


def against_measured(rows, unit, colours):
    left, top, width, height = LEFT
    values = [row[key] for row in rows for key in ("predicted", "measured")]
    low, high = min(values) / 1.2, max(values) * 1.2
    x = Axis(low, high, left, left + width, True)
    y = Axis(low, high, top + height, top, True)
    parts = []
    for tick in decades(low, high, size_of(unit)):
        parts += [line(x(tick), top, x(tick), top + height, GRID),
                  line(left, y(tick), left + width, y(tick), GRID),
                  text(x(tick), top + height + 14, tick_name(tick, unit)),
                  text(left - 5, y(tick) + 4, tick_name(tick, unit), "end")]
    parts.append(line(x(low), y(low), x(high), y(high), RULER))
    for share in (1.1, 1 / 1.1):
        start, end = max(low, low / share), min(high, high / share)
        parts.append(line(x(start), y(start * share), x(end), y(end * share),
                          BAND))
    name = "GiB" if unit == "bytes" else unit
    parts += points(rows, lambda r: (x(r["measured"]), y(r["predicted"])),
                    colours)
    parts += [text(left + width / 2, top - 10,
                   f"predicted against measured, {name}; broken lines: 10%"),
              text(left + width / 2, top + height + 32, f"measured, {name}")]
    return parts


def size_axis(rows, unit):
    """What errors are shown by, its name, ticks and their names: GPUs, or what
    was measured where there are few numbers of GPUs."""
    sizes = sorted({row["gpus"] for row in rows})
    if len(sizes) < 4:
        values = [row["measured"] for row in rows]
        ticks = decades(min(values) / 1.2, max(values) * 1.2, size_of(unit))
        name = "measured, " + ("GiB" if unit == "bytes" else unit)
        return "measured", name, ticks, [tick_name(t, unit) for t in ticks]
    shown = sizes[::math.ceil(len(sizes) / 6)]
    return "gpus", "number of GPUs", shown, [str(size) for size in shown]


def error_by_size(rows, unit, colours):
    left, top, width, height = RIGHT
    most = max(0.05, max(abs(row["error"]) for row in rows))
    ticks = error_ticks(most)
    key, name, marks, mark_names = size_axis(rows, unit)
    values = [row[key] for row in rows]
    x = Axis(min(values) / 1.4, max(values) * 1.4, left, left + width, True)
    y = Axis(ticks[0], ticks[-1], top + height, top, False)
    parts = []
    for tick in ticks:
        style = RULER if abs(tick) < 1e-9 else GRID
        parts += [line(left, y(tick), left + width, y(tick), style),
                  text(left - 5, y(tick) + 4, f"{100 * tick:+.0f}%", "end")]
    for mark, mark_name in zip(marks, mark_names):
        parts += [line(x(mark), top, x(mark), top + height, GRID),
                  text(x(mark), top + height + 14, mark_name)]
    parts += points(rows, lambda r: (x(r[key]), y(r["error"])), colours)
    parts += [text(left + width / 2, top - 10, f"error by {name}"),
              text(left + width / 2, top + height + 32, name)]
    return parts


def legend(colours):
    if len(colours) < 2:
        return []
    parts = []
    for i, (family, colour) in enumerate(list(colours.items())[:12]):
        y = LEFT[1] + 8 + 18 * i
        parts += [f'<circle cx="{LEGEND}" cy="{y}" r="4" fill="{colour}"/>',
                  text(LEGEND + 9, y + 4, family[:18], "start")]
    return parts


def picture(source):
    """The SVG of a source of `prismctl validate --format json`, with rows."""
    rows = source["rows"]
    colours = colours_of(rows)
    parts = against_measured(rows, source["unit"], colours)
    parts += error_by_size(rows, source["unit"], colours) + legend(colours)
    return "\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" '
         f'height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
         'font-family="sans-serif">',
         f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'] + parts +
        ["</svg>"]) + "\n"
