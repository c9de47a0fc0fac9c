"""A load whose own times are taken several times: how a suite's scale reaches into it."""

from __future__ import annotations

from dataclasses import replace

from streamgauge.load.burst import BurstLoad
from streamgauge.load.ramp import RampLoad
from streamgauge.load.steps import StepsLoad
from streamgauge.model.load import Load


def longer(load: Load, factor: float) -> Load:
    """The load with its burst, ramp or steps so many times as long; rates stay, and so does a load without an end."""
    if isinstance(load, BurstLoad):
        return replace(load, burst_s=load.burst_s * factor)
    if isinstance(load, RampLoad):
        return replace(load, length_s=load.length_s * factor)
    if isinstance(load, StepsLoad):
        return replace(load, lengths_s=tuple(each * factor for each in load.lengths_s))
    return load
