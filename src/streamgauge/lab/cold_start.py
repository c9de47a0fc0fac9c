"""What a trial does first where its job process is cold: the same job, its outputs thrown away."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING

from streamgauge.lab.warming import (
    COLD,
    ColdLatency,
    ColdPasses,
    NewestLatencies,
    answered_after_s,
    longest_s,
    shortest_s,
)
from streamgauge.load import parse_load
from streamgauge.model.job import InputTopic

if TYPE_CHECKING:
    from streamgauge.lab.conduct import Conductor
    from streamgauge.lab.job_process import JobProcess


def discard_passes(conductor: Conductor, process: JobProcess, inputs: dict[str, InputTopic]) -> float:
    """The same job over the same input until it gets no faster; the seconds that it took."""
    conductor.lab.live.note(COLD)
    planned, again = conductor.planned, process.jobs > 0
    cluster, passes = conductor.lab.cluster, ColdPasses(longest_s(planned, again), shortest_s(planned, again))
    while not passes.settled:
        label = f"warm-{len(passes.taken_s) + 1}"
        outputs = conductor.make_topics(label)
        began_s = time.monotonic()
        handle = conductor.run_job(process, label, inputs, outputs)
        started = handle.started or {}
        while not handle.consumed(cluster.end_offsets):
            conductor.look(process, handle)
            conductor.phase("warming up", 0, 0)
        took_s = time.monotonic() - began_s
        passes.look(took_s, answered_after_s(cluster, _followed(conductor, outputs), started["starting_ms"]))
        conductor.stop_job(process, handle)
        conductor.topics.drop(outputs.values())
    return sum(passes.taken_s)


def discard_time(conductor: Conductor, process: JobProcess) -> float:
    """The same job at the same load over other events until it gets no faster; the seconds that it took."""
    conductor.lab.live.note(COLD)
    publishers, most_s = conductor.publishers, longest_s(conductor.planned, process.jobs > 0)
    inputs, outputs = conductor.make_inputs("cold-"), conductor.make_topics("cold-out")
    handle = conductor.run_job(process, "cold", inputs, outputs, conductor.engine.warming)
    for name, where in inputs.items():
        publishers.start_cold(name, where.topic, parse_load(conductor.trial.load), most_s)
    elapsed_s, latency = 0.0, ColdLatency(most_s)
    with closing(NewestLatencies(conductor.lab.cluster, _followed(conductor, outputs))) as newest:
        while not publishers.all_ended() and not latency.settled(elapsed_s):
            conductor.look(process, handle)
            conductor.phase("warming up", 0, 0)
            elapsed_s = publishers.elapsed_s()
            latency.look(elapsed_s, newest.look())
    publishers.stop()
    publishers.forget()
    conductor.stop_job(process, handle)
    conductor.topics.drop([where.topic for where in inputs.values()] + list(outputs.values()))
    return elapsed_s


def _followed(conductor: Conductor, outputs: Mapping[str, str]) -> list[str]:
    """The topics of outputs; results that lie elsewhere cannot be followed."""
    return [] if conductor.trial.sink else list(outputs.values())
