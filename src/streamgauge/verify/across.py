"""Validation across engines (QI3): did every engine give the same answer to the same events?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Record = Mapping[str, Any]

SHORT = 8
"""Hexadecimal digits that are shown of a digest."""
EVENTS = ("application", "file", "stop_after", "parameters", "seed", "events", "partitions", "data", "malformed")
"""Members of a trial that decide which events it is given and what is asked of them."""


@dataclass(frozen=True)
class EngineAnswer:
    """The answers of one engine's trials over the same events."""

    digests: tuple[str, ...]
    """Each once; more than one where its trials did not agree."""
    as_expected: bool
    """Whether every one is the digest of its oracle's answer."""


@dataclass(frozen=True)
class SameAnswer:
    """One application over the same events, on every engine that answered."""

    trial: Mapping[str, Any]
    """What decides the events: the members in EVENTS."""
    oracle: tuple[str, ...]
    """Digests of the oracle's answer; several where the answer depends on when events arrive."""
    engines: Mapping[str, EngineAnswer]

    @property
    def same(self) -> bool | None:
        """Whether all engines gave one answer; None where one engine answered or arrival decides the answer."""
        if len(self.engines) < 2 or len(self.oracle) > 1:
            return None
        return len({digest for each in self.engines.values() for digest in each.digests}) == 1

    def as_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        engines = {
            name: {"digests": list(each.digests), "as_expected": each.as_expected}
            for name, each in self.engines.items()
        }
        return {**self.trial, "same": self.same, "oracle": list(self.oracle), "engines": engines}


def same_answers(records: Sequence[Record]) -> list[SameAnswer]:
    """The answers of trials with the same events side by side; records without a digest are left out."""
    gathered: dict[str, list[Record]] = {}
    for record in records:
        if (record.get("verdict") or {}).get("digest"):
            gathered.setdefault(json.dumps(_events(record), sort_keys=True, default=str), []).append(record)
    return [_side_by_side(found) for found in gathered.values()]


def _side_by_side(records: Sequence[Record]) -> SameAnswer:
    by_engine: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        by_engine.setdefault(record["engine"], []).append(record["verdict"])
    oracle = dict.fromkeys(record["verdict"]["expected_digest"] for record in records)
    engines = {name: _of_engine(verdicts) for name, verdicts in by_engine.items()}
    return SameAnswer(_events(records[0]), tuple(oracle), engines)


def _of_engine(verdicts: Sequence[Mapping[str, Any]]) -> EngineAnswer:
    as_expected = all(each["digest"] == each["expected_digest"] for each in verdicts)
    return EngineAnswer(tuple(dict.fromkeys(each["digest"] for each in verdicts)), as_expected)


def _events(record: Record) -> dict[str, Any]:
    trial = record.get("trial") or {}
    return {name: trial.get(name) for name in EVENTS}
