"""Which trials of two runs stand against each other, and why some may not be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamgauge.measure.repeats import Group, groups
from streamgauge.measure.validity import Record, correct, measured, why_not_measured

HARDWARE = ("cpu", "cores", "physical_cores", "architecture", "memory_bytes")
_CHANGING = ("disk_free_bytes", "load_average")
# The kernel keeps a share of the memory for itself, another one after every update.
_MEMORY_SHARE = 0.02
_FREE = ("application", "engine", "repeat", "seed", "file", "settings")
"""Members of a trial that are looked at apart: any other member, known today or not, must be alike."""


@dataclass(frozen=True)
class Side:
    """One side of a comparison: the repeats of one trial in one run."""

    run: Mapping[str, Any]
    group: Group

    @property
    def application(self) -> str:
        """What was computed."""
        return str(self.group.first["application"])

    @property
    def engine(self) -> str:
        """The engine, without its version."""
        return str(self.group.first["engine"])

    @property
    def version(self) -> str:
        """The engine's version; empty where the run did not record it."""
        found = [(r.get("process") or {}).get("version") for r in self.group.records]
        return next((str(v) for v in found if v), "")

    @property
    def title(self) -> str:
        """The side in words: engine with its version, and run."""
        return f"{self.engine} {self.version}".strip() + f" of run {self.run.get('run', '?')}"

    @property
    def full_title(self) -> str:
        """The side in words, with its application and load."""
        return f"{self.application} · {self.group.first['load']} · {self.title}"

    @property
    def counted(self) -> tuple[Record, ...]:
        """The repeats whose figures are compared: the ranked ones; where there is none, all that were measured."""
        return self.group.ranked or tuple(r for r in self.group.records if measured(r))

    @property
    def facts(self) -> dict[str, Any]:
        """What decides the trial, beside its application and engine; what is empty is left out."""
        trial = dict(self.group.first.get("trial") or {})
        kept = {name: value for name, value in trial.items() if name not in _FREE and value}
        seeds = sorted({r["seed"] for r in self.group.records})
        return {**kept, "seed": seeds[0] if len(seeds) == 1 else seeds}


@dataclass(frozen=True)
class Pair:
    """Two sides that stand against each other."""

    baseline: Side
    candidate: Side

    @property
    def both(self) -> tuple[Side, Side]:
        """Baseline and candidate."""
        return self.baseline, self.candidate

    @property
    def same_engine(self) -> bool:
        """Whether both sides ran on one engine, in whatever version."""
        return self.baseline.engine == self.candidate.engine

    @property
    def title(self) -> str:
        """The pair in a few words."""
        load = str(self.baseline.group.first["load"])
        engine = [self.baseline.engine] if self.same_engine else []
        return " · ".join([self.baseline.application, *engine, load])

    @property
    def reasons(self) -> list[str]:
        """Why the two may not be compared, a line each; none where they may."""
        return [*self._machine_reasons(), *(f"{self.title}: {each}" for each in self._trial_reasons())]

    def _machine_reasons(self) -> list[str]:
        one, other = (dict(side.run.get("machine") or {}) for side in self.both)
        if not one or not other:
            return ["the machine of a run is not recorded"]
        found = [
            f"the machines differ in {_worded(name)}: {one.get(name)} against {other.get(name)}"
            for name in HARDWARE
            if not _alike(name, one.get(name), other.get(name))
        ]
        kinds = [(side.run.get("log") or {}).get("kind") for side in self.both]
        return [*found, *([f"the logs differ: {kinds[0]} against {kinds[1]}"] if kinds[0] != kinds[1] else [])]

    def _trial_reasons(self) -> list[str]:
        found = [f"{name} differs: {a} against {b}" for name, a, b in self.distance]
        if self.same_engine and all(side.counted for side in self.both):
            found += [f"variant of {n} differs: {a} against {b}" for n, a, b in self._differing("variants")]
        for side in self.both:
            found += _why_not_ranked(side)
        return found

    @property
    def distance(self) -> list[tuple[str, str, str]]:
        """The facts of the trials that must be alike and are not: name and both values."""
        return [(_worded(n), a, b) for n, a, b in _differences(self.baseline.facts, self.candidate.facts)]

    @property
    def differences(self) -> list[str]:
        """What differs and may: what the comparison may be about, a line each."""
        versions = self.baseline.version, self.candidate.version
        found = []
        if not self.same_engine or versions[0] != versions[1]:
            names = [f"{side.engine} {side.version}".strip() for side in self.both]
            found.append(f"engine: {names[0]} against {names[1]}")
        found += [f"setting {n}: {a} against {b}" for n, a, b in self.settings]
        if not self.same_engine:
            found += [f"variant of {n}: {a} against {b}" for n, a, b in self._differing("variants")]
        files = [(side.group.first.get("trial") or {}).get("file") for side in self.both]
        found += [f"file: {files[0]} against {files[1]}"] if files[0] != files[1] else []
        cuts = [", ".join(side.group.first.get("between") or []) or "none" for side in self.both]
        found += [f"topics between queries, after: {cuts[0]} against {cuts[1]}"] if cuts[0] != cuts[1] else []
        return [*found, *self._left_out(), *self._software(versions[0] != versions[1])]

    @property
    def settings(self) -> list[tuple[str, str, str]]:
        """Settings that differ: those that the user chose; of one engine, also its defaults."""
        if self.same_engine:
            return self._differing("tuning")
        one, other = ((s.group.first.get("trial") or {}).get("settings") for s in self.both)
        return _differences(one or {}, other or {})

    def _differing(self, member: str) -> list[tuple[str, str, str]]:
        one, other = (side.group.first.get(member) or {} for side in self.both)
        return _differences(one, other)

    def _left_out(self) -> list[str]:
        found = []
        for side in self.both:
            left = len(side.group.records) - len(side.counted)
            if left:
                found.append(f"{left} of {len(side.group.records)} repeats of {side.title} not ranked and left out")
        return found

    def _software(self, named_version: bool) -> list[str]:
        one, other = (dict(side.run.get("machine") or {}) for side in self.both)
        apart = {*HARDWARE, *_CHANGING, *(["pyspark"] if named_version else [])}
        return [f"{_worded(n)}: {a} against {b}" for n, a, b in _differences(one, other) if n not in apart]


def pairs(
    baseline: Sequence[Side], candidate: Sequence[Side], *, across_engines: bool = False
) -> tuple[list[Pair], list[Side]]:
    """Sides of the same application, and unless told of the same engine, next to next; and those without a partner.

    What is alike is paired first. Only where an application has nothing alike are its nearest sides paired, so that
    the reasons against comparing them can be told.
    """

    def key(side: Side) -> tuple[str, ...]:
        return (side.application,) if across_engines else (side.application, side.engine)

    found: list[Pair] = []
    alone: list[Side] = []
    for subject in dict.fromkeys(map(key, [*baseline, *candidate])):
        mine, theirs = ([s for s in sides if key(s) == subject] for sides in (baseline, candidate))
        paired = _nearest_first(mine, theirs)
        found += paired
        taken = {id(side) for pair in paired for side in (pair.baseline, pair.candidate)}
        alone += [side for side in [*mine, *theirs] if id(side) not in taken]
    return found, alone


def _nearest_first(mine: Sequence[Side], theirs: Sequence[Side]) -> list[Pair]:
    possible = [Pair(one, other) for one in mine for other in theirs]
    possible.sort(key=lambda pair: (len(pair.distance), len(pair.settings)))
    found: list[Pair] = []
    taken: set[int] = set()
    for pair in possible:
        if found and pair.distance:
            break
        if not taken & {id(pair.baseline), id(pair.candidate)}:
            found.append(pair)
            taken |= {id(pair.baseline), id(pair.candidate)}
    return sorted(found, key=lambda pair: mine.index(pair.baseline))


def sides(run: Mapping[str, Any], records: Sequence[Record]) -> list[Side]:
    """Every trial of a run with its repeats gathered."""
    return [Side(run, group) for group in groups(records)]


def _differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    names = dict.fromkeys([*one, *other])
    return [(n, _said(one.get(n)), _said(other.get(n))) for n in names if one.get(n) != other.get(n)]


def _said(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{k}={v}" for k, v in value.items())
    return "none" if value is None else f"{value:,}" if isinstance(value, int) else str(value)


def _alike(name: str, one: Any, other: Any) -> bool:
    if name == "memory_bytes" and one and other:
        return bool(abs(one - other) <= _MEMORY_SHARE * max(one, other))
    return bool(one == other)


def _why_not_ranked(side: Side) -> list[str]:
    wrong = [r for r in side.group.records if correct(r) is False]
    if wrong:
        return [f"{side.title} gave a wrong answer in {len(wrong)} of {len(side.group.records)} repeats"]
    if side.group.ranked:
        return []
    tried = next((r for r in side.group.records if measured(r)), None)
    if tried is None:
        return [f"{side.title} was not measured: {why_not_measured(side.group.first) or 'no figures'}"]
    reasons = tried.get("invalid_reasons") or ["no reason was recorded"]
    return [f"{side.title} is not valid: {reasons[0]}"]


def _worded(name: str) -> str:
    return {"warmup_events": "warm-up events", "memory_bytes": "memory"}.get(name, name.replace("_", " "))


def deciding_facts(side: Side) -> dict[str, str]:
    """Everything that must be alike for figures of several runs to be one series over time, by name and in words."""
    settings = (side.group.first.get("trial") or {}).get("settings") or {}
    machine = side.run.get("machine") or {}
    return {
        "application": side.application,
        "engine": side.engine,
        **{_worded(name): _said(value) for name, value in side.facts.items()},
        **{f"setting {name}": _said(value) for name, value in settings.items()},
        # Not the memory: it is never the same to the byte.
        **{f"machine's {_worded(n)}": _said(machine[n]) for n in HARDWARE if n in machine and n != "memory_bytes"},
    }
