"""restart: a process is ended in order and started again by its owner, at once or after `for`."""

from __future__ import annotations

import signal
import time

from streamgauge.model.fault import TARGETS, FaultVerb, Victim

GRACE_S = 5.0
_LOOK_S = 0.01


def _strike(victim: Victim) -> None:
    """TERM, and KILL for what does not listen: a restart that waits for ever is none."""
    victim.send(signal.SIGTERM)
    deadline = time.monotonic() + GRACE_S
    while victim.state() != "gone" and time.monotonic() < deadline:
        time.sleep(_LOOK_S)
    if victim.state() != "gone":
        victim.send(signal.SIGKILL)


def _bring_back(victim: Victim) -> None:
    victim.start_again()


FAULT = FaultVerb(
    name="restart",
    about="ends the process in order (SIGTERM) and starts it again; with `for` after that time",
    strike=_strike,
    effect="gone",
    # An executor belongs to its worker, which starts another one by itself.
    targets=tuple(name for name in TARGETS if name != "executor"),
    bring_back=_bring_back,
    always_back=True,
    at_random={"broker": None},
    papers=("MA2",),
)
