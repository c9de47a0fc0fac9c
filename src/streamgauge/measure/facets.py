"""The facets of a trial: what a suite's figures lay trials out by, under one name each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from streamgauge.measure.validity import Record
from streamgauge.model.errors import UserError, unknown
from streamgauge.model.units import parse_rate_per_s

Value = str | float | None

LOAD_WORDS = {
    "preloaded": "flat out",
    "constant": "steady",
    "bursts": "bursty",
    "burst": "burst at start-up",
    "ramp": "ramp",
    "steps": "single bursts",
    "trace": "trace",
}
"""Kind of load → what it is called on a suite's page."""
TABLES = {"setting.": "settings", "parameter.": "parameters"}
"""What a facet's name begins with → the member of the trial that it looks into."""
NOT_SET = "as it is"
NO_FAULT = "no fault"


@dataclass(frozen=True)
class Facet:
    """One facet: its name in a suite, what a page calls it, and its value of a record."""

    name: str
    label: str
    of: Callable[[Record], Value]


def _trial(record: Record) -> Mapping[str, Any]:
    return dict(record.get("trial") or {})


def _rate(record: Record) -> Value:
    """Of a paced load the rate of each input that its spelling begins with."""
    kind, _, rest = str(record["load"]).partition(":")
    return None if kind in ("preloaded", "trace") else parse_rate_per_s(rest.partition(":")[0])


def _pairs(record: Record, member: str) -> str:
    """Names with values, without the packages of Spark's long ones."""
    values = _trial(record).get(member) or {}
    return ", ".join(f"{_short(name, 2)}={_short(str(value), 1)}" for name, value in sorted(values.items())) or NOT_SET


def _short(text: str, parts: int) -> str:
    dotted = text.split(".")
    return ".".join(dotted[-parts:]) if dotted[0] in ("spark", "org") else text


def _workers(record: Record) -> Value:
    kind, _, count = str(_trial(record).get("place") or "local").partition(":")
    return float(count) if kind == "cluster" and count.isdigit() else 1.0


FACETS = {
    each.name: each
    for each in (
        Facet("application", "application", lambda r: str(r["application"])),
        Facet("engine", "engine", lambda r: str(r["engine"])),
        Facet("load", "load", lambda r: str(r["load"])),
        Facet("load-kind", "load", lambda r: LOAD_WORDS.get(str(r["load"]).partition(":")[0], str(r["load"]))),
        Facet("rate", "events per second of each input", _rate),
        Facet("events", "events", lambda r: float(r["events"])),
        Facet("stage", "up to stage", lambda r: str(_trial(r).get("stop_after") or "the end")),
        Facet("partitions", "partitions of the log", lambda r: float(_trial(r).get("partitions") or 1)),
        Facet("place", "place", lambda r: str(_trial(r).get("place") or "local")),
        Facet("workers", "workers", _workers),
        Facet("key-skew", "key skew (exponent of Zipf's law)", lambda r: _number(_trial(r).get("key_skew") or NOT_SET)),
        Facet("settings", "settings", lambda r: _pairs(r, "settings")),
        Facet("parameters", "parameters", lambda r: _pairs(r, "parameters")),
        Facet("fault", "fault", lambda r: "; ".join(_trial(r).get("faults") or ()) or NO_FAULT),
        Facet("seed", "seed", lambda r: float(r["seed"])),
        Facet("matrix", "matrix", lambda r: str((r.get("matrices") or [""])[0])),
    )
}
"""Every facet by its name; `setting.NAME` and `parameter.NAME` are facets too."""


def get_facet(name: str) -> Facet:
    """The facet of that name; an unknown one is answered with the nearest."""
    for prefix, member in TABLES.items():
        if name.startswith(prefix):
            return _inside(name, member, name.removeprefix(prefix))
    if name not in FACETS:
        raise unknown("facet of a trial", name, [*FACETS, *(f"{prefix}NAME" for prefix in TABLES)])
    return FACETS[name]


def _inside(name: str, member: str, inside: str) -> Facet:
    if not inside:
        raise UserError(f"'{name}' names nothing", f"Write it like {name}NAME")
    return Facet(name, inside, lambda r: _number((_trial(r).get(member) or {}).get(inside, NOT_SET)))


def _number(text: Any) -> Value:
    """A setting that is a number is laid out as one."""
    try:
        return float(text)
    except ValueError:
        return str(text)
