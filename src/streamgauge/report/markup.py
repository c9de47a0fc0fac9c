"""Pieces of HTML: every text that comes from outside is escaped here and nowhere else."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamgauge.model.units import duration, size
from streamgauge.report.words import NO, NOTHING, YES, count, milliseconds, per_second


@dataclass(frozen=True)
class Markup:
    """HTML that is finished and must not be escaped again."""

    html: str


Content = Any
"""Finished Markup, or anything else, which is shown as text."""


def shown(content: Content) -> str:
    """The HTML of a content: markup as it is, the rest escaped."""
    return content.html if isinstance(content, Markup) else html.escape(str(content))


def element(tag: str, content: Content = "", **attributes: str) -> Markup:
    """One element; an underscore at an attribute's end is dropped, others become hyphens."""
    given = "".join(f' {k.rstrip("_").replace("_", "-")}="{html.escape(v)}"' for k, v in attributes.items())
    return Markup(f"<{tag}{given}>{shown(content)}</{tag}>")


def joined(parts: Iterable[Content], between: str = "\n") -> Markup:
    """Contents one after another."""
    return Markup(between.join(shown(p) for p in parts))


@dataclass(frozen=True)
class Column:
    """A column of a table: its heading and how its cells are set."""

    heading: str
    kind: str = ""


def table(columns: Sequence[Column], rows: Sequence[tuple[str, Sequence[Content]]], *, cards: bool = False) -> Markup:
    """A table that scrolls inside itself; with `cards` each row becomes a card on a narrow screen."""
    head = "".join(f'<th class="{_side(c)}">{html.escape(c.heading)}</th>' for c in columns)
    body = "".join(f'<tr class="{html.escape(style)}">{_cells(columns, cells)}</tr>\n' for style, cells in rows)
    whole = f'<table class="{"cards" if cards else ""}"><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table>'
    return element("div", Markup(whole), class_="wide")


def facts(values: Mapping[str, Any]) -> Markup:
    """Named figures as two columns, with units read from the names."""
    rows = "".join(
        f"<tr><th>{html.escape(label(k))}</th><td>{shown(figure(k, v))}</td></tr>" for k, v in _flat(values).items()
    )
    return Markup(f'<table class="facts"><tbody>{rows}</tbody></table>')


def figure(name: str, value: Any) -> Content:
    """A value as a person reads it, by the unit at the end of its name."""
    if value is None or value == "":
        return NOTHING
    if isinstance(value, bool):
        return yes_or_no(value)
    if isinstance(value, int | float):
        return _number(name, value)
    if isinstance(value, list | tuple):
        return ", ".join(str(v) for v in value) or NOTHING
    return str(value)


def label(name: str) -> str:
    """A stored name as words, without the unit that its value shows."""
    words = []
    for part in name.split(" "):
        stem, statistic = _parted(part)
        for suffix in ("_bytes", "_ms", "_s"):
            if not stem.endswith("_per_s"):
                stem = stem.removesuffix(suffix)
        words += [stem.replace("_per_s", "_per_second").replace("mb_per", "MB_per"), statistic]
    return " ".join(" ".join(words).replace("_", " ").split())


def _parted(name: str) -> tuple[str, str]:
    """A name without the statistic at its end, and that statistic."""
    stem, _, last = name.rpartition("_")
    return (stem, last) if stem and last in ("mean", "min", "max", "total") else (name, "")


def yes_or_no(value: bool | None, words: str = "") -> Markup:
    """✓ or ✗ with its words, coloured, or a dash."""
    if value is None:
        return Markup(NOTHING)
    text = f"{YES if value else NO} {words}".strip()
    return element("span", text, class_="good" if value else "bad")


def chip(text: str, kind: str) -> Markup:
    """A short coloured word: good, bad or warn."""
    return element("span", text, class_=f"chip {kind}")


def bullets(lines: Iterable[Content]) -> Markup:
    """A plain list."""
    return element("ul", joined(element("li", line) for line in lines), class_="plain")


def embedded_json(identity: str, value: Any) -> Markup:
    """Data for the page's script; no text in it can end the element early."""
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    safe = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    return Markup(f'<script type="application/json" id="{html.escape(identity)}">{safe}</script>')


def _side(column: Column) -> str:
    return "number" if "number" in column.kind else ""


def _cells(columns: Sequence[Column], cells: Sequence[Content]) -> str:
    return "".join(
        f'<td class="{c.kind}" data-label="{html.escape(c.heading)}">{shown(v)}</td>'
        for c, v in zip(columns, cells, strict=True)
    )


def _number(name: str, value: float) -> str:
    if not math.isfinite(value):
        return NOTHING
    if name.rpartition(" ")[2] in ("n", "records"):
        return count(value)
    # A figure inside another one has the outer name before it: 'lateness_ms p99' is in milliseconds.
    stems = [_parted(part)[0] for part in name.split(" ")]
    for ends, say in _UNITS:
        if any(stem.endswith(ends) for stem in stems):
            return say(value)
    return count(value) if value == int(value) else f"{value:,.4g}"


_UNITS: tuple[tuple[str | tuple[str, ...], Callable[[float], str]], ...] = (
    (("bytes_per_s",), lambda v: f"{size(v)}/s"),
    (("mb_per_s", "mb_per_s_per_node"), lambda v: f"{v:,.3g} MB/s"),
    (("per_s", "per_s_per_node"), per_second),
    (("bytes",), size),
    (("_ms",), milliseconds),
    (("_s",), duration),
    (("cores",), lambda v: f"{v:.3g}"),
    (("share",), lambda v: f"{v:.0%}"),
)


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flat |= _flat(value, f"{prefix}{name} ")
        else:
            flat[prefix + name] = value
    return flat
