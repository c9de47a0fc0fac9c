"""What a fault can hit at a place: processes that the run itself starts there."""

from __future__ import annotations

from streamgauge.places.spelling import parse_place

SINGLE = ("driver", "publisher")
"""Started by every run, wherever the job is executed."""


def fault_targets(place: str, *, own_broker: bool) -> dict[str, int]:
    """Target → how many processes of it there are; a log that was given is not ours to break."""
    found = {**dict.fromkeys(SINGLE, 1), **({"broker": 1} if own_broker else {})}
    parsed = parse_place(place)
    if parsed.embedded:
        found |= {"master": 1, "worker": parsed.nodes, "executor": parsed.nodes}
    return found
