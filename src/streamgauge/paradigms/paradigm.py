"""The two paradigms, and the two ways out of one of them."""

from __future__ import annotations

from enum import Enum


class Paradigm(Enum):
    """How a segment is executed."""

    DATA_STREAM = "data stream"
    """A record at a time: Spark's real-time mode."""
    OPERATION_STREAM = "operation stream"
    """A batch at a time: Spark's micro-batches."""

    @property
    def other(self) -> Paradigm:
        """The paradigm that a switch leads to."""
        return Paradigm.OPERATION_STREAM if self is Paradigm.DATA_STREAM else Paradigm.DATA_STREAM


class How(Enum):
    """How the old query is left."""

    DRAIN = "drain"
    """It runs on to the next boundary of its batches: nothing is repeated (the paper's way)."""
    REPLAY = "replay"
    """It is stopped at once, and what it had done since the boundary is done again: ours, not the paper's."""
