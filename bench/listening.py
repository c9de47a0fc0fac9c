"""What the listeners of the benchmark share: they show nothing, and a wrong answer ends the benchmark."""

from __future__ import annotations

from typing import Any

from streamgauge.model import Trial


class Quiet:
    """Shows nothing of a run while it goes on; whoever inherits it says what becomes of a finished trial."""

    def planned(self, run: str, trials: list[Trial]) -> None:
        """Nothing to show."""

    def phase(self, *_: Any) -> None:
        """Nothing to show."""

    def note(self, text: str) -> None:
        """Nothing to show."""


def check_right(trial: Trial, record: dict[str, Any]) -> None:
    """Raise where a trial failed or its answer is wrong."""
    if record["status"] != "done" or not record["verdict"]["correct"]:
        raise RuntimeError(f"{trial.title}: {record['error'] or record['verdict']}")
