"""kill: a process ends without a word, as by a power cut; with `for` its owner starts it again after that time."""

from __future__ import annotations

import signal

from streamgauge.model.fault import FaultVerb, Victim


def _strike(victim: Victim) -> None:
    victim.send(signal.SIGKILL)


def _bring_back(victim: Victim) -> None:
    victim.start_again()


FAULT = FaultVerb(
    name="kill",
    about="ends the process at once (SIGKILL); with `for` it is started again after that time",
    strike=_strike,
    effect="gone",
    bring_back=_bring_back,
    at_random={"driver": None, "executor": None, "worker": (1.0, 5.0)},
    papers=("MA2", "MA3", "SB6"),
)
