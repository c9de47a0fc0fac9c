"""A verdict: how the outputs differ from the oracle's answer, and what the declared guarantee allows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from streamgauge.model.engine import Guarantee


@dataclass(frozen=True)
class Verdict:
    """Counts of what differed; the words are those of docs/glossary.md."""

    expected: int
    """Outputs, or keys with a final value, that the oracle asked for."""
    seen: int
    """Outputs that were read back."""
    lost: int = 0
    wrong: int = 0
    unexpected: int = 0
    duplicated: int = 0
    out_of_order: int = 0
    late: int = 0
    rejected: int = 0
    restarts: int = 0
    duplicates_allowed: bool = False
    examples: tuple[str, ...] = ()
    """A few differences in words, so that a person can start looking."""
    digest: str = ""
    """A short name of the whole answer: the same for the same answer, whatever its order and repeats."""
    expected_digest: str = ""
    """The same of the oracle's answer."""
    phases: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Before, during and after the faults of the trial, each with its own counts; empty where there were none."""

    @property
    def correct(self) -> bool:
        """Whether the answer is right under the declared guarantee."""
        differing = self.lost + self.wrong + self.unexpected + self.out_of_order
        return differing == 0 and (self.duplicated == 0 or self.duplicates_allowed)

    def as_dict(self) -> dict[str, Any]:
        """The verdict as plain JSON values, `correct` first."""
        return {"correct": self.correct, **asdict(self), "examples": list(self.examples)}


def duplicates_allowed(guarantee: Guarantee, restarts: int) -> bool:
    """Repeats are allowed only after a restart, and only where outputs are at-least-once."""
    return guarantee.outputs == "at-least-once" and restarts > 0
