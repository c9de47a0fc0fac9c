"""continue: a suspended process goes on."""

from __future__ import annotations

import signal

from streamgauge.model.fault import FaultVerb, Victim


def _strike(victim: Victim) -> None:
    victim.send(signal.SIGCONT)


FAULT = FaultVerb(
    name="continue",
    about="lets a suspended process go on (SIGCONT)",
    strike=_strike,
    effect="running",
    of_stopped=True,
    papers=("MA2",),
)
