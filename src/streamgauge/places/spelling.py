"""Places by their spelling: threads of this machine, workers of the run's own, or a cluster that is there."""

from __future__ import annotations

import re

from streamgauge.model import Place, UserError
from streamgauge.model.cores import available_cores
from streamgauge.places.embedded_cluster import SLOTS_PER_WORKER

DEFAULT_SLOTS = 32
"""Task slots, not cores: a real-time query holds one slot per task for its whole life."""
MOST_WORKERS = 16
_ADDRESS = r"(?:[^:/,\s\[\]]+|\[[0-9a-fA-F:]+\]):\d+"
FOREIGN = {
    rf"spark://{_ADDRESS}(?:,{_ADDRESS})*": "spark",
    "yarn": "spark",
    r"k8s://\S+": "spark",
    rf"flink://{_ADDRESS}": "flink",
}
"""Spelling of a cluster that is there → the system that runs in it."""


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
    for pattern, system in FOREIGN.items():
        if re.fullmatch(pattern, spelling):
            return Place(spelling, 0, 1, None, spelling, runs=system, foreign=True)
    raise UserError(
        f"'{spelling}' is not a place",
        f"Use local, local[N] for N task slots, cluster:N for N workers, at most {MOST_WORKERS}, or a cluster that is"
        " there: spark://HOST:PORT, yarn, k8s://URL, flink://HOST:PORT",
    )
