"""Runs every measurement, prints the table of ratios with the raw figures, and keeps it as JSON."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.adaptive import PARTS, adaptive
from bench.applications import applications
from bench.brushing import brushing
from bench.draining import draining
from bench.faults import faults
from bench.flink import flink
from bench.latency import latency
from bench.publishing import generating, publishing
from bench.room import Room, open_room
from bench.scaling import memory, scaling
from bench.watching import watching
from streamgauge.provision.machine import describe_machine

MEASUREMENTS = {
    "generating": generating,
    "publishing": publishing,
    "latency": latency,
    "draining": draining,
    "applications": applications,
    "scaling": scaling,
    "memory": memory,
    "faults": faults,
    "adaptive": adaptive,
    "flink": flink,
    "watching": watching,
    "brushing": brushing,
}


def show(room: Room) -> None:
    """Print what was measured so far."""
    table = Table(title="streamgauge bench", show_lines=True)
    for heading in ("what", "seen", "goal", "", "raw figures"):
        table.add_column(heading, overflow="fold")
    for each in room.figures:
        table.add_row(each.what, each.seen, each.goal, "✓" if each.reached else "✗", each.raw)
    Console(width=None if sys.stdout.isatty() else 160).print(table)


def main() -> None:
    """Measure what is named on the command line, or everything."""
    wanted, known = sys.argv[1:] or list(MEASUREMENTS), {**MEASUREMENTS, **PARTS}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        sys.exit(f"error: no measurement is called {', '.join(unknown)}. There are {', '.join(known)}")
    with open_room() as room:
        try:
            for name in wanted:
                print(f"{name} …", flush=True)
                known[name](room)
        finally:
            # What was measured stays, whatever became of the rest.
            if room.figures:
                show(room)
                print(_keep(room))


def _keep(room: Room) -> Path:
    kept = Path(f"bench-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}.json")
    figures = [asdict(each) for each in room.figures]
    kept.write_text(json.dumps({"machine": describe_machine(), "figures": figures}, indent=2))
    return kept


if __name__ == "__main__":
    main()
