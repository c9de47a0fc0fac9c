"""What this process has measured of segments: a later query of the same segments begins with it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from streamgauge.paradigms.equations import ASSUMED_K, assumed_figures
from streamgauge.paradigms.tracking import Known, SegmentTracker

Identity = tuple[str, ...]
"""What makes two queries the same: the application or name, its cuts, its parameters."""

LEAST_K, MOST_K = ASSUMED_K / 4, 2 * ASSUMED_K
"""K below the first: the data stream was probably measured cold, and is measured again before it is left. Above the
second micro-batches were: their speed is assumed again, or no burst would ever try them."""

_measured: dict[tuple[Identity, str], Known] = {}


def remember(identity: Identity, trackers: Iterable[SegmentTracker]) -> None:
    """Keep the figures of segments that were measured in both paradigms; half of them would not make a K."""
    for tracker in trackers:
        if tracker.compared:
            # Latency is seen at once and anew: that of the last moments of a query is not typical.
            figures = replace(tracker.figures, data_transfer_s=assumed_figures().data_transfer_s)
            _measured[identity, tracker.name] = Known(
                tracker.name,
                figures,
                measured=figures.k <= MOST_K,
                magnification=tracker.magnification,
                sure=figures.k >= LEAST_K,
                worked_s=tracker.worked_s,
                gaps_s=tracker.measured_gaps_s,
            )


def remembered(identity: Identity, known: Sequence[Known]) -> list[Known]:
    """The same segments, with what was measured of them in place of what is only assumed."""
    found = []
    for each in known:
        mine = None if each.measured else _measured.get((identity, each.name))
        found.append(each if mine is None else replace(mine, pinned=each.pinned))
    return found


def forget() -> None:
    """Begin as a new process does."""
    _measured.clear()
