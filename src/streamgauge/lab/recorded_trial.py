"""The small trial that the class archives are recorded from, in a process of its own."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from streamgauge.lab.request import RunRequest
from streamgauge.lab.run import conduct_run
from streamgauge.model import Trial


class _Deaf:
    """Hears and shows nothing."""

    def planned(self, run: str, trials: list[Trial]) -> None: ...

    def phase(self, number: int, trial: Trial, phase: str, done: float, total: float) -> None: ...

    def finished(self, number: int, trial: Trial, record: dict[str, Any]) -> None: ...

    def note(self, text: str) -> None: ...


def conduct_recorded(runs: Path) -> None:
    """Drain a little in real time: it loads what micro-batches load, and more."""
    request = RunRequest(
        applications=("wordcount",),
        engines=("spark-realtime",),
        load="preloaded",
        events=2_000,
        warmup_s=0,
        settings={"batch-duration": "2s"},
        out=runs,
    )
    conduct_run(request, _Deaf())


if __name__ == "__main__":
    conduct_recorded(Path(sys.argv[1]))
