"""Places by their spelling: `local`, `local[N]`, `cluster:N` with workers of its own, `flink://HOST:PORT`."""

from __future__ import annotations

import re

from streamgauge.model import Place, UserError
from streamgauge.model.cores import available_cores
from streamgauge.places.embedded_cluster import SLOTS_PER_WORKER

DEFAULT_SLOTS = 32
"""Task slots, not cores: a real-time query holds one slot per task for its whole life."""
MOST_WORKERS = 16


def parse_place(spelling: str) -> Place:
    """The place that a spelling names."""
    if spelling == "local":
        return Place("local", available_cores(), 1, DEFAULT_SLOTS, f"local[{DEFAULT_SLOTS}]")
    found = re.fullmatch(r"local\[(\d+)\]", spelling)
    if found and int(found[1]) > 0:
        slots = int(found[1])
        return Place(spelling, min(slots, available_cores()), 1, slots, f"local[{slots}]")
    found = re.fullmatch(r"cluster:(\d+)", spelling)
    if found and 1 <= int(found[1]) <= MOST_WORKERS:
        workers = int(found[1])
        spare = SLOTS_PER_WORKER if workers > 1 else 0
        slots = workers * SLOTS_PER_WORKER - spare
        return Place(spelling, available_cores(), workers, slots, "", embedded=True, spare_slots=spare, runs="spark")
    if re.fullmatch(r"flink://[^/\s]+:\d+", spelling):
        return Place(spelling, available_cores(), 1, DEFAULT_SLOTS, spelling, runs="flink")
    raise UserError(
        f"'{spelling}' is not a place",
        f"Use local, local[N] for N task slots, cluster:N for N workers, at most {MOST_WORKERS}, or flink://HOST:PORT",
    )
