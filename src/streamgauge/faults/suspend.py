"""suspend: a process stands still and keeps all it holds, as a node that cannot be reached."""

from __future__ import annotations

import signal

from streamgauge.model.fault import FaultVerb, Victim


def _strike(victim: Victim) -> None:
    victim.send(signal.SIGSTOP)


def _bring_back(victim: Victim) -> None:
    victim.send(signal.SIGCONT)


FAULT = FaultVerb(
    name="suspend",
    about="lets the process stand still (SIGSTOP); with `for` it goes on after that time",
    strike=_strike,
    effect="stopped",
    bring_back=_bring_back,
    at_random={"driver": (1.0, 5.0), "executor": (1.0, 5.0), "worker": (1.0, 5.0), "broker": (0.5, 2.0)},
    papers=("MA2", "MA3"),
)
