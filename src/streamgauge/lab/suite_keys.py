"""The keys of a suite's matrices: what each may hold, said in one line where it holds something else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamgauge.applications import get_application, is_file
from streamgauge.engines import get_engine
from streamgauge.lab.fault_planning import canonical
from streamgauge.load import parse_load
from streamgauge.measure.thresholds import parse_threshold
from streamgauge.model import UserError, unknown
from streamgauge.model.units import parse_count, parse_duration_s
from streamgauge.places import parse_place
from streamgauge.streams.reference import parse_key_skew

Parse = Callable[[Any, Path], Any]
"""A TOML value and the folder of its file → the value."""


def _text(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise UserError(f"{value!r} is not a text")
    return value


def _application(value: Any, folder: Path) -> str:
    """A name, or the path of a user's file as seen from the suite's own folder."""
    name = _text(value)
    found = str(folder / name) if is_file(name) else name
    get_application(found)
    return found


def _engine(value: Any, folder: Path) -> str:
    return get_engine(_text(value)).name


def _load(value: Any, folder: Path) -> str:
    return parse_load(_text(value)).spelling


def _place(value: Any, folder: Path) -> str:
    return parse_place(_text(value)).spelling


def _stage(value: Any, folder: Path) -> str:
    return _text(value)


def _table(value: Any, folder: Path) -> dict[str, str]:
    """Names with values as `--set` and `--param` take them: texts."""
    if not isinstance(value, dict):
        raise UserError(f"{value!r} is not a table", "Write it like { name = 'value' }")
    return {name: _plain(each) for name, each in value.items()}


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise UserError(f"{value!r} is not one value", "Write a text or a number")


def _key_skew(value: Any, folder: Path) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise UserError(f"{value!r} is not a number", "Write 0 for even keys, or an exponent like 1.2")
    return f"{parse_key_skew(str(value)):g}"


def _whole(value: Any, folder: Path) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise UserError(f"{value!r} is not a whole number above 0")
    return value


def _seed(value: Any, folder: Path) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise UserError(f"{value!r} is not a whole number")
    return value


def _count(value: Any, folder: Path) -> int:
    return _whole(parse_count(value) if isinstance(value, str) else value, folder)


def _duration_s(value: Any, folder: Path) -> float:
    return parse_duration_s(_text(value))


def _positive_s(value: Any, folder: Path) -> float:
    seconds = _duration_s(value, folder)
    if seconds <= 0:
        raise UserError(f"'{value}' is not more than 0")
    return seconds


def _faults(value: Any, folder: Path) -> tuple[str, ...]:
    """The faults of one trial: one in words, a list of them, or an empty list for none."""
    return canonical(_text(each) for each in (value if isinstance(value, list) else [value]))


def _flag(value: Any, folder: Path) -> bool:
    if not isinstance(value, bool):
        raise UserError(f"{value!r} is neither true nor false")
    return value


def _threshold(value: Any, folder: Path) -> str:
    return parse_threshold(_text(value)).text


@dataclass(frozen=True)
class Key:
    """How the entries of a key are read, and whether it may hold several."""

    parse: Parse
    several: bool = True


def _case(value: Any, folder: Path) -> dict[str, Any]:
    """Values of several axes that belong together, by the name of the axis."""
    if not isinstance(value, dict) or not value:
        raise UserError(f"{value!r} is not a table", "Write it like { partitions = 4, settings = { trigger = '1s' } }")
    found = {}
    for name, each in value.items():
        if name not in CASE_KEYS:
            raise unknown("key of a case", name, list(CASE_KEYS))
        axis = CASE_KEYS[name]
        try:
            found[axis] = KEYS[axis].parse(each, folder)
        except UserError as error:
            raise UserError(f"{name}: {error.cause}", error.way_out) from None
    return found


AXES = {
    "engines": Key(_engine),
    "places": Key(_place),
    "settings": Key(_table),
    "partitions": Key(_whole),
    "applications": Key(_application),
    "parameters": Key(_table),
    "stop-after": Key(_stage),
    "key-skew": Key(_key_skew),
    "loads": Key(_load),
    "events": Key(_count),
    "for": Key(_positive_s),
    "faults": Key(_faults),
    "no-restart": Key(_flag),
    "failure-timeout": Key(_positive_s),
    "seeds": Key(_seed),
}
"""In the order in which trials are laid out: what a warm process cannot share comes first."""

KEYS: Mapping[str, Key] = {
    **AXES,
    "cases": Key(_case),
    "repeats": Key(_whole, several=False),
    "warmup": Key(_duration_s, several=False),
    "settling": Key(_duration_s, several=False),
    "timeout": Key(_positive_s, several=False),
    "thresholds": Key(_threshold),
}
CASE_KEYS = {
    "application": "applications",
    "engine": "engines",
    "load": "loads",
    "place": "places",
    "seed": "seeds",
    **{name: name for name in ("settings", "parameters", "partitions", "stop-after", "key-skew", "events", "for")},
    **{name: name for name in ("faults", "no-restart", "failure-timeout")},
}
"""Key of a case → the axis that it stands for."""
TABLES = ("settings", "parameters")
"""Axes whose entries are tables: a case adds to them instead of taking their place."""
