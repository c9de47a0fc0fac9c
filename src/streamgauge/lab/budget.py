"""How long trials are expected to take: one estimate, from the plan alone, on two cores.

It is made of the times that a trial must take (its schedule, its discarded pass, waiting for a checkpoint) and of
rates and costs that were seen on two cores. An engine that cannot keep up takes longer, up to the time-out.
"""

from __future__ import annotations

from collections.abc import Sequence

from streamgauge.engines import get_engine
from streamgauge.lab.expansion import process_key
from streamgauge.lab.fault_planning import breaks_the_cluster, failure_timeout_of
from streamgauge.lab.planning import publishing_load, resolved
from streamgauge.lab.request import PlannedTrial
from streamgauge.lab.warming import Warmth, longest_s, shortest_s
from streamgauge.load import parse_load
from streamgauge.model.units import parse_duration_s
from streamgauge.places import parse_place

RUN_S = 8.0
"""Starting the log and ending everything."""
PROCESS_S = 6.0
"""Starting a job process."""
TRIAL_S = 4.5
"""Topics, the start of the job, the silence at the end, reading back, storing."""
QUERY_S = 1.0
"""What a query takes to its first row."""
PUBLISHED_PER_S = 500_000
VERIFIED_PER_S = 200_000
DRAINED_PER_S = 50_000
FAST_PER_S = 200_000
FAST = frozenset({"identity", "sample", "projection", "grep", "wordcount", "distinct-count", "statistics"})
RECORDS_SETTLE_S = 32.0
"""What it takes under a paced load until it gets no faster where every record takes its own way; micro-batches: all."""
PASSES = 5
"""Over a full log the passes that are thrown away, where they are short."""
RECORD_AT_A_TIME = 3
"""A preloaded log is drained so many times slower where every record takes its own way."""
CLUSTER_S = 5.0
"""Starting an embedded cluster."""
EXECUTORS_S = 4.0
"""Starting the executors of a job process in it."""
RECOVERED_S = 10.0
"""What a job that a fault has ended takes until it is where it was, for each fault that is spelled."""
WAITS = ("trigger", "batch-duration", "epoch", "checkpoint-interval")
"""Settings that say how long the end of the input may wait to be committed; half of it is expected."""


def expected_s(trials: Sequence[PlannedTrial]) -> list[float]:
    """Seconds that each trial is expected to take, in this order: what an earlier one has warmed is warm."""
    found: list[float] = []
    process: tuple[object, ...] | None = None
    cluster: tuple[object, ...] | None = None
    warmth = Warmth()
    for planned in trials:
        if planned.gap is not None:
            found.append(0.0)
            continue
        key = process_key(planned)
        cold = key != process
        if cold:
            process, warmth = key, Warmth()
        seconds = _trial_s(planned, cold, warmth.is_cold_for(planned.trial))
        wanted = _cluster(planned)
        if wanted is not None:
            seconds += (EXECUTORS_S if cold else 0.0) + (CLUSTER_S if wanted != cluster else 0.0)
        cluster = None if breaks_the_cluster(planned.trial) else wanted
        found.append(seconds)
        warmth.add(planned.trial)
    return found


def expected_run_s(trials: Sequence[PlannedTrial]) -> float:
    """Seconds that a run of these trials is expected to take."""
    seconds = expected_s(trials)
    return sum(seconds) + (RUN_S if any(seconds) else 0.0)


def _cluster(planned: PlannedTrial) -> tuple[object, ...] | None:
    """Trials with equal ones share an embedded cluster; None where there is none."""
    place = parse_place(planned.trial.place)
    return (place.nodes, failure_timeout_of(planned.trial)) if place.embedded else None


def _trial_s(planned: PlannedTrial, cold: bool, first: bool) -> float:
    trial = planned.trial
    load = parse_load(trial.load)
    events = trial.events * len(resolved(trial.found_at, trial.stop_after).inputs)
    wait_s, most_s = _wait_s(planned), longest_s(planned, not cold) if first else 0.0
    fixed_s = TRIAL_S + (PROCESS_S if cold else 0.0) + wait_s + events / VERIFIED_PER_S
    fixed_s += RECOVERED_S * len(trial.faults)
    if load.job_starts_at_s is None:
        drain_s = QUERY_S + events / _drained_per_s(planned)
        pass_s = drain_s + wait_s
        passes_s = max(shortest_s(planned, not cold), min(PASSES * pass_s, max(pass_s, most_s)))
        discarded_s = passes_s if most_s else 0.0
        return fixed_s + events / PUBLISHED_PER_S + discarded_s + drain_s
    schedule_s = float(publishing_load(trial.load, planned.warmup_s).due_s([trial.events - 1])[0])
    discarded_s = min(most_s, RECORDS_SETTLE_S) if _takes_records_one_by_one(planned) else most_s
    waiting_s = load.events_by(load.job_starts_at_s) / _drained_per_s(planned)
    return fixed_s + schedule_s + discarded_s + waiting_s


def _drained_per_s(planned: PlannedTrial) -> float:
    rate = FAST_PER_S if planned.trial.application in FAST else DRAINED_PER_S
    return rate / RECORD_AT_A_TIME if _takes_records_one_by_one(planned) else rate


def _takes_records_one_by_one(planned: PlannedTrial) -> bool:
    return "trigger" not in get_engine(planned.trial.engine).settings


def _wait_s(planned: PlannedTrial) -> float:
    values = get_engine(planned.trial.engine).resolve(planned.trial.settings)
    return sum(parse_duration_s(values[name]) for name in WAITS if values.get(name)) / 2
