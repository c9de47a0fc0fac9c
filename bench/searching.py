"""The highest rate that an engine holds, for the benchmarks that compare engines by it."""

from __future__ import annotations

from pathlib import Path

from bench.room import Room
from streamgauge.lab.probing import ProbeListener, SearchRequest, conduct_search
from streamgauge.lab.search import SearchRange

SLO = "p50<3s,drain<5s"


def sustained(room: Room, application: str, engine: str, listener: ProbeListener) -> float:
    """The sustainable rate in events per second; 0 where even the lowest did not hold."""
    request = SearchRequest(
        application=application,
        engine=engine,
        slo=SLO,
        finds_start=True,
        where=SearchRange(most_per_s=800_000, tolerance=0.1, repeats=3, most_probes=20),
        kafka=room.cluster.bootstrap,
        out=Path(room.folder / "runs"),
        timeout_s=60,
    )
    return conduct_search(request, listener).result.rate_per_s or 0.0
