"""When a job that began cold has become as fast as it gets: what it says before that is no figure."""

from __future__ import annotations

import math
import statistics
import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing

from streamgauge.lab.request import PlannedTrial
from streamgauge.load import parse_load
from streamgauge.log.cluster import Cluster
from streamgauge.log.tail import EVERY_S, Tail, TailRecord
from streamgauge.model import Trial
from streamgauge.places import parse_place

COLD = "the job starts cold: what it answers is thrown away until it gets no faster"
MOST_EVENTS = 1_000_000
MOST_AGAIN_S = 16.0
"""A warm process drains the full log of an application that is new to it for so long at most."""
MOST_BROKEN_S = 8.0
"""A trial with faults has a process of its own, whose successor is cold anyway: it is not waited for longer."""
MOST_BROKEN_CLUSTER_S = 24.0
"""What a fault leaves of a cluster is warm, and its executors share the cores while they become so."""
RISE = 10.0
"""A process that has run at paced loads is cold for one of more than so many times their rate."""
SPAN_S = 8.0
RARE_S = 3 * SPAN_S
"""Where spans have no answers, as an application that answers rarely has, it is enough to have run for this long."""
SETTLED = 0.95
SETTLED_PASS = 0.9
"""What takes at least this share of the best before has settled; two spans or passes in a row must."""
SLACK_MS = 5.0
LOOKS = 5
"""So often a broker is asked for the newest output of a drained log before it is taken to be unknown."""


class Warmth:
    """What a job process has run since it started, and so for which trials it is warm."""

    def __init__(self) -> None:
        self._paced_per_s = 0.0
        self._drained: set[tuple[object, ...]] = set()

    def is_cold_for(self, trial: Trial) -> bool:
        """Whether it has run nothing like the trial so far."""
        if _is_paced(trial):
            return _rate_per_s(trial) > RISE * self._paced_per_s
        return _drained_by(trial) not in self._drained

    def add(self, trial: Trial) -> None:
        """From now on it has run this trial."""
        if _is_paced(trial):
            self._paced_per_s = max(self._paced_per_s, _rate_per_s(trial))
        else:
            self._drained.add(_drained_by(trial))


def _rate_per_s(trial: Trial) -> float:
    """The mean rate of the first minute."""
    return parse_load(trial.load).events_by(60.0) / 60


def _drained_by(trial: Trial) -> tuple[object, ...]:
    """What must have drained a full log: the application, and in a cluster over the same input.

    Its topics and partitions decide which of the executors read it.
    """
    what = (trial.found_at, trial.stop_after, tuple(sorted(trial.parameters.items())))
    return (*what, trial.partitions, trial.events, trial.seed) if parse_place(trial.place).nodes > 1 else what


def longest_s(planned: PlannedTrial, again: bool) -> float:
    """How long the process is warmed for the trial at most; `again` where it has run other jobs before."""
    if _is_paced(planned.trial):
        spread = parse_place(planned.trial.place).nodes > 1
        most_s = MOST_BROKEN_CLUSTER_S if spread else MOST_BROKEN_S
        return min(planned.settling_s, most_s) if planned.trial.faults else planned.settling_s
    return min(planned.settling_s, MOST_AGAIN_S) if again or planned.trial.faults else planned.settling_s


def shortest_s(planned: PlannedTrial, again: bool) -> float:
    """How long passes over a full log go on at least.

    What runs around the job in a new process goes on getting faster while one application no longer shows it.
    """
    return 0.0 if again or planned.trial.faults else planned.settling_s / 2


def _is_paced(trial: Trial) -> bool:
    return parse_load(trial.load).job_starts_at_s is not None


class ColdLatency:
    """The median latency of each span of a job's first seconds."""

    def __init__(self, most_s: float) -> None:
        self._most_s = most_s
        self._spans: defaultdict[int, list[float]] = defaultdict(list)

    def look(self, elapsed_s: float, latencies_ms: Sequence[float]) -> None:
        """Take the latencies of what was answered last."""
        self._spans[int(elapsed_s // SPAN_S)] += latencies_ms

    def settled(self, elapsed_s: float) -> bool:
        """Whether the last two whole spans were hardly faster than those before; without answers, after a while."""
        whole = int(elapsed_s // SPAN_S)
        if elapsed_s >= self._most_s or whole < 3:
            return elapsed_s >= self._most_s
        *before, last, newest = (self._spans[span] for span in range(whole))
        answered = [statistics.median(span) for span in before if span]
        if not (answered and last and newest):
            return elapsed_s >= RARE_S
        was, became = min(answered), min(statistics.median(last), statistics.median(newest))
        return became >= SETTLED * was or was - became < SLACK_MS


class ColdPasses:
    """The times of passes over one full log."""

    def __init__(self, most_s: float, least_s: float = 0.0) -> None:
        self._most_s, self._least_s = most_s, least_s
        self.taken_s: list[float] = []
        self._answered_s: list[float] = []

    def look(self, took_s: float, answered_s: float | None = None) -> None:
        """Take the time of one more, and that to its last answer: one that waits for its commit hides its speed."""
        self.taken_s.append(took_s)
        self._answered_s.append(took_s if answered_s is None else answered_s)

    @property
    def settled(self) -> bool:
        """Whether the last two were hardly faster than the fastest before, or all have taken long enough."""
        if sum(self.taken_s) >= self._most_s:
            return True
        *before, last, newest = (math.inf, math.inf, *self._answered_s)
        long_enough = sum(self.taken_s) >= self._least_s and len(self._answered_s) > 2
        return long_enough and min(last, newest) >= SETTLED_PASS * min(before)


def answered_after_s(cluster: Cluster, topics: Collection[str], since_ms: int) -> float | None:
    """How long after that the newest output was appended; None where there is none to be seen."""
    found: list[int] = []
    for topic in topics:
        with closing(Tail(cluster, topic)) as tail:
            found += [record.append_ms for record in _newest(tail, cluster.end_offsets(topic))]
    return (max(found) - since_ms) / 1000 if found else None


def _newest(tail: Tail, ends: Mapping[int, int]) -> list[TailRecord]:
    """What a broker, busy as it may be, answers within a few looks."""
    for look in range(LOOKS if any(ends.values()) else 0):
        time.sleep(EVERY_S if look else 0)
        if found := tail.look(ends):
            return found
    return []


class NewestLatencies:
    """Latencies of the newest outputs, from a bounded tail of their topics."""

    def __init__(self, cluster: Cluster, topics: Collection[str]) -> None:
        self._cluster = cluster
        self._tails = {topic: Tail(cluster, topic) for topic in topics}
        self._due_s = 0.0

    def look(self) -> list[float]:
        """What was answered since the last look, in milliseconds; nothing where that was just now."""
        if time.monotonic() < self._due_s:
            return []
        self._due_s = time.monotonic() + EVERY_S
        return [
            float(record.append_ms - record.origin[0])
            for topic, tail in self._tails.items()
            for record in tail.look(self._cluster.end_offsets(topic))
            if record.origin is not None
        ]

    def close(self) -> None:
        """Let the log go."""
        for tail in self._tails.values():
            tail.close()
