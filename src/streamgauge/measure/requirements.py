"""The two requirements on the log (SB3): events come in, and can be read, faster than the job consumes them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from streamgauge.model.units import rate


@dataclass(frozen=True)
class Requirement:
    """One requirement, whether the trial met it (None: it could not be told), and its numbers in words."""

    name: str
    met: bool | None
    detail: str

    def as_dict(self) -> dict[str, Any]:
        """The requirement as plain JSON values."""
        return asdict(self)


def check_requirements(
    *,
    consumption_per_s: float | None,
    preloaded: bool,
    publishing_per_s: float | None,
    publisher_kept_up: bool,
    raw_read_per_s: float | None,
) -> list[Requirement]:
    """SB3's two requirements; under a paced load the publisher is fast enough when it kept its schedule."""
    if preloaded:
        publishing = _faster("publishing faster than consumption", "published at", publishing_per_s, consumption_per_s)
    else:
        publishing = Requirement(
            "publishing faster than consumption",
            publisher_kept_up,
            "the publisher kept its schedule" if publisher_kept_up else "the publisher fell behind its schedule",
        )
    return [publishing, _served(raw_read_per_s, consumption_per_s)]


def _served(read_per_s: float | None, consumption_per_s: float | None) -> Requirement:
    """Met where one reader of ours is faster than the job; a job that is faster says nothing against the broker."""
    found = _faster("broker serves faster than consumption", "read back at", read_per_s, consumption_per_s)
    if found.met is not False:
        return found
    return Requirement(found.name, None, f"{found.detail}: more than one reader of the laboratory takes")


def _faster(name: str, verb: str, supply_per_s: float | None, consumption_per_s: float | None) -> Requirement:
    if supply_per_s is None or consumption_per_s is None:
        missing = "its rate was not measured" if supply_per_s is None else "nothing was consumed"
        return Requirement(name, None, missing)
    detail = f"{verb} {rate(supply_per_s)}, consumed at {rate(consumption_per_s)}"
    return Requirement(name, supply_per_s > consumption_per_s, detail)
