"""The figures of a suite's page, as its file asks for them: keys that are checked when the suite is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from streamgauge.measure.facets import TABLES, get_facet
from streamgauge.measure.figures import get_figure
from streamgauge.measure.published import get_published
from streamgauge.model.errors import UserError, unknown

KINDS = {
    "lines": "y against x, a line for each of `by`",
    "bars": "y as bars side by side, a group for each x and a bar for each of `by`",
    "percentiles": "latency from the median to the largest, a row for each x and `by`",
    "grid": "y as a heat map of x and `by`",
    "table": "the figures y, a row for each of `by`",
    "largest": "the largest x that held, a row for each of `by`",
    "over-time": "y second by second, a chart for each of `each`",
}
TIMELINES = ("latency", "throughput", "input-output", "availability", "cpu", "memory")
"""What can be drawn over time."""
NEEDED = {
    **dict.fromkeys(("lines", "bars", "grid"), ("x", "y", "by")),
    **{"percentiles": ("x", "by"), "table": ("y", "by"), "largest": ("x", "by"), "over-time": ("y", "each")},
}
"""Kind → the keys that it cannot be drawn without."""


@dataclass(frozen=True)
class SuiteFigure:
    """One figure of a suite's page."""

    title: str
    kind: str
    about: str = ""
    matrices: tuple[str, ...] = ()
    """Whose trials it shows; all where none is named."""
    x: str = ""
    y: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    each: str = ""
    """A chart for each value of this facet."""
    against: str = ""
    """The matrix that holds the baseline."""
    per: Literal["second", "minute"] = "second"
    published: tuple[str, ...] = ()
    """Groups of published values that stand beside it."""

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}

    @staticmethod
    def from_dict(values: Mapping[str, Any]) -> SuiteFigure:
        """What `as_dict` gave, also after it was stored; members of another version are left out."""
        known = {field.name for field in fields(SuiteFigure)}
        plain: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in values.items()
        }
        return SuiteFigure(**{key: value for key, value in plain.items() if key in known})


KEYS = tuple(field.name for field in fields(SuiteFigure))
_SEVERAL = ("matrices", "y", "by", "published")


def parse_figures(tables: Any, matrices: Sequence[str], used: Mapping[str, set[str]], shown: str) -> list[SuiteFigure]:
    """The figures that `[[figure]]` tables ask for; `used` are the settings and parameters that the matrices name."""
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise UserError(f"{shown}: 'figure' is not a list of tables", "Write each as [[figure]]")
    return [_figure(table, number, matrices, used, shown) for number, table in enumerate(tables, 1)]


def _figure(
    table: Mapping[str, Any], number: int, matrices: Sequence[str], used: Mapping[str, set[str]], shown: str
) -> SuiteFigure:
    where = f"{shown}: figure '{table.get('title', number)}'"
    try:
        for key in table:
            if key not in KEYS:
                raise unknown("key", key, list(KEYS))
        found = SuiteFigure(**{"title": "", "kind": "", **{key: _value(key, given) for key, given in table.items()}})
        _check(found, matrices, used)
    except UserError as error:
        raise UserError(f"{where}: {error.cause}", error.way_out) from None
    return found


def _value(key: str, given: Any) -> Any:
    entries = given if isinstance(given, list) and key in _SEVERAL else [given]
    if not entries or not all(isinstance(each, str) and each.strip() for each in entries):
        raise UserError(f"key '{key}': {given!r} is not a text{' or a list of texts' if key in _SEVERAL else ''}")
    return tuple(entries) if key in _SEVERAL else entries[0]


def _check(figure: SuiteFigure, matrices: Sequence[str], used: Mapping[str, set[str]]) -> None:
    if not figure.title:
        raise UserError("it has no 'title'", "Say what the figure shows in a few words")
    _known("kind", [figure.kind], KINDS)
    for key in NEEDED[figure.kind]:
        if not getattr(figure, key):
            raise UserError(f"it has no '{key}'", f"{figure.kind}: {KINDS[figure.kind]}")
    _known("per", [figure.per], ("second", "minute"))
    _known("matrices", figure.matrices, matrices)
    _known("against", [figure.against] if figure.against else [], matrices)
    if figure.kind == "over-time":
        _known("y", figure.y, TIMELINES)
    else:
        _each("y", figure.y, get_figure)
    _each("published", figure.published, get_published)
    for key, names in (("x", [figure.x]), ("by", figure.by), ("each", [figure.each])):
        _each(key, [name for name in names if name], lambda name: _used_facet(name, used))


def _used_facet(name: str, used: Mapping[str, set[str]]) -> None:
    """Refuse a facet that no trial of the suite could have."""
    get_facet(name)
    for prefix, member in TABLES.items():
        if name.startswith(prefix) and name.removeprefix(prefix) not in used[member]:
            raise unknown(f"name among the suite's {member}", name.removeprefix(prefix), sorted(used[member]))


def _known(key: str, names: Iterable[str], known: Iterable[str]) -> None:
    for name in names:
        if name not in known:
            error = unknown(key, name, list(known))
            raise UserError(f"key '{key}': {error.cause}", error.way_out)


def _each(key: str, names: Iterable[str], check: Callable[[str], Any]) -> None:
    for name in names:
        try:
            check(name)
        except UserError as error:
            raise UserError(f"key '{key}': {error.cause}", error.way_out) from None
