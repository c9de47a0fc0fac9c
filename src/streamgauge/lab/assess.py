"""After a trial: read the topics back, judge the answer, and take the figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from streamgauge.engines import get_engine
from streamgauge.lab.conduct import Conductor, Phase
from streamgauge.lab.conducted import Conducted
from streamgauge.lab.dead_letters import judge_dead_letters
from streamgauge.lab.latency_parts import components_of
from streamgauge.lab.published_events import Published, write_events
from streamgauge.lab.recoveries import recoveries_of, recovery_record, span_ms
from streamgauge.load import parse_load
from streamgauge.load.burst import BurstLoad
from streamgauge.load.bursts import BurstsLoad
from streamgauge.load.specification import PublisherResult
from streamgauge.load.steps import StepsLoad
from streamgauge.log.reading import ReadBack, read_append_times
from streamgauge.measure.answering import Answer, Answered, answering
from streamgauge.measure.bursts import catching_up, inflation, scheduling_delay
from streamgauge.measure.durability import measure_durability
from streamgauge.measure.latency import Latencies, measure_latencies
from streamgauge.measure.requirements import check_requirements
from streamgauge.measure.resources import cpu_s_per_million, summarise_resources
from streamgauge.measure.seconds import Floats, mean_of_seconds, seen_by_second, settling
from streamgauge.measure.throughput import Throughput, measure_throughput
from streamgauge.measure.validity import TrialFacts, Validity, assess
from streamgauge.measure.window import Window, largest_partition_share, measured_window
from streamgauge.model import Expected, Output, StreamgaugeError, Trial, UserError, Verdict, wanted
from streamgauge.model.units import parse_duration_s
from streamgauge.places import parse_place
from streamgauge.store.tables import attach, detach, quoted
from streamgauge.streams.reference import open_source
from streamgauge.verify import digest, phases
from streamgauge.verify.decode import Decoded, decode_outputs
from streamgauge.verify.events import Events
from streamgauge.verify.phases import Spans
from streamgauge.verify.verdict import judge


@dataclass(frozen=True)
class Assessed:
    """A trial's figures and verdict, and the tables that they were taken from."""

    figures: dict[str, Any]
    tables: dict[str, pa.Table | Path]
    progress: list[dict[str, Any]]


@dataclass(frozen=True)
class _Read:
    """One output as it was read back, and what the oracle asks for."""

    output: Output
    expected: Expected
    decoded: Decoded

    @property
    def answer(self) -> Answer:
        return Answer(self.decoded.path, self.output.matching, self.expected.touches, self.output.stage)


def assess_trial(conductor: Conductor, done: Conducted, phase: Phase) -> Assessed:
    """Figures and verdict of a conducted trial, all from what the log holds."""
    trial, folder = conductor.trial, conductor.folder
    phase("verifying", 0, 0)
    files, malformed, in_log, read_back = _write_inputs(conductor, done, phase)
    with Events({**files, **done.tables}, folder / "spill") as events:
        connection = events.connection
        read = [_read(conductor, done, output, events) for output in done.application.leaf_outputs()]
        letters = judge_dead_letters(
            malformed, done.dead_letters, conductor.lab.cluster, folder, get_engine(trial.engine).guarantee, connection
        )
        window = measured_window(connection, list(files.values()), trial.warmup_events)
        inputs = list(files.values())
        largest = largest_partition_share(connection)
        answers = [each.answer for each in read]
        with answering(connection, inputs, answers) as answered:
            arrived_ms = done.job_started_ms if done.load.job_starts_at_s is None else 0
            latencies = measure_latencies(connection, answered, window, arrived_ms=arrived_ms)
            by_second = _by_second(done, connection, answered, window)
            components = components_of(conductor, done, connection, answered, window)
        place = parse_place(trial.place)
        throughput = measure_throughput(
            connection,
            list(files.values()),
            [a.outputs for a in answers],
            window,
            commits=done.commits,
            job_started_ms=done.job_started_ms,
            nodes=place.nodes,
        )
        resources = summarise_resources(
            connection, done.resources, throughput.start_ms, _last_ms(done, throughput), place.cores
        )
        resources["job"]["cpu_s_per_million"] = cpu_s_per_million(resources["job"], throughput.events_per_s)
        recoveries, tenths = recoveries_of(
            done.endured, connection, inputs, answers, latencies, window.start_ms, done.commits
        )
        spans = Spans([span_ms(each) for each in recoveries], inputs) if recoveries else None
        verdicts = [_judged(conductor, done, each, connection, spans) for each in read]
    validity = _validity(trial, done, in_log, latencies)
    verdict = _together(verdicts, letters, [each.output.stage for each in read])
    figures = {
        **_latency_figures(latencies),
        "components": components,
        "durability": measure_durability(
            throughput.table, done.resources, window, verdict, start_ms=throughput.start_ms
        ).as_dict(),
        "measured_events": window.events,
        "throughput": throughput.as_dict(),
        "bursts": _bursts(trial, latencies, throughput, by_second),
        "seconds": mean_of_seconds(by_second),
        "scheduling": _scheduling(trial, done, throughput),
        "scheduler": done.scheduler,
        "publisher": _publisher_figures(done),
        "requirements": [r.as_dict() for r in _requirements(done, throughput, read_back)],
        "resources": resources,
        "warmup": {**validity.warmup, "seconds": conductor.warmup_s, "discarded_s": round(done.discarded_s, 1)},
        "end": done.end,
        "valid": validity.valid,
        "invalid_reasons": validity.reasons,
        "warnings": validity.warnings,
        "verdict": verdict.as_dict(),
        "quality": {name: value for each in read for name, value in each.expected.quality.items()},
        "faults": [each.as_dict() for each in done.endured.injected],
        "recovery": recovery_record(done.endured, recoveries, verdict) if trial.faults else None,
        "log": {
            "read_back_per_s": read_back.records_per_s,
            "events": in_log,
            "largest_partition_share": largest,
        },
        "started_at_ms": throughput.start_ms,
        "process": {"jobs_before": done.jobs_before, "watching_cpu_s": done.watching_cpu_s, **done.engine_facts},
    }
    tables = _tables(done, latencies, throughput)
    return Assessed(figures, {**tables, "tenths": tenths} if tenths is not None else tables, done.progress)


def _write_inputs(
    conductor: Conductor, done: Conducted, phase: Phase
) -> tuple[dict[str, Path], pa.Table, int, ReadBack]:
    trial = conductor.trial
    files: dict[str, Path] = {}
    malformed: list[pa.Table] = []
    in_log = 0
    read = ReadBack(0, 0, 0.0)
    for name, where in done.inputs.items():
        times, back = read_append_times(conductor.lab.cluster, where.topic)
        read = ReadBack(read.records + back.records, read.value_bytes + back.value_bytes, read.seconds + back.seconds)
        in_log += times.records
        stream, source = open_source(conductor.events[name].reference, trial.seed)
        paced = done.load.job_starts_at_s is not None
        published = Published(
            stream=stream,
            source=source,
            events=trial.events,
            partitions=trial.partitions,
            first_partition=where.first_partition,
            load=done.load,
            start_at_ms=done.publishers[name].start_at_epoch_ns / 1e6 if paced else None,
            append_times=times,
            required=done.application.required_of(name),
            spoiling=conductor.events[name].spoiling,
        )
        files[name] = conductor.folder / f"events-{name}.parquet"
        malformed.append(write_events(published, files[name], lambda n: phase("verifying", n, trial.events)))
    return files, pa.concat_tables(malformed), in_log, read


def _read(conductor: Conductor, done: Conducted, output: Output, events: Events) -> _Read:
    expected = _expected(conductor, done, output, events)
    decoded = decode_outputs(
        conductor.results.read(done.outputs[output.stage]),
        output,
        expected.rows,
        conductor.folder / f"out-{output.stage}.parquet",
        connection=events.connection,
    )
    return _Read(output, expected, decoded)


def _judged(conductor: Conductor, done: Conducted, read: _Read, connection: Any, spans: Spans | None) -> Verdict:
    return judge(
        read.expected,
        read.decoded.path,
        read.output.matching,
        conductor.guarantee,
        done.endured.restarts,
        connection=connection,
        ordered=done.application.order != "free",
        undecodable=read.decoded.undecodable,
        spans=spans,
        disturbed=spans is not None or switched(done),
    )


def switched(done: Conducted) -> bool:
    """Whether a query was stopped and another went on from its checkpoint: what it had not committed came again."""
    return bool(done.scheduler.get("switches") or done.scheduler.get("broken_off"))


def _expected(conductor: Conductor, done: Conducted, output: Output, events: Events) -> Expected:
    """The oracle's answer, its query run once: rows are read by the decoder, the judge and the figures."""
    parameters = done.application.bind(conductor.trial.parameters)
    connection, table = events.connection, f"oracle_{output.stage}"
    try:
        expected = output.oracle(events, **wanted(output.oracle, parameters))
        attach(connection, "oracle_rows", expected.rows)
        connection.execute(f"create or replace table {quoted(table)} as select * from oracle_rows")
        detach(connection, "oracle_rows")
    except StreamgaugeError:
        raise
    except Exception as error:
        said = str(error).strip().partition("\n")[0] or type(error).__name__
        raise UserError(f"the oracle of '{output.stage}' failed: {said}", "Correct the oracle and run again") from error
    return replace(expected, rows=connection.table(table))


def _validity(trial: Trial, done: Conducted, in_log: int, latencies: Latencies) -> Validity:
    behind = [result for result in done.publishers.values() if not result.kept_up]
    # Whoever breaks the log or the publisher makes the load late on purpose, and latency rise and fall.
    late_on_purpose = bool(done.endured.hit & {"broker", "publisher"})
    broken = bool(done.endured.hit)
    return assess(
        TrialFacts(
            publisher_kept_up=not behind or late_on_purpose,
            publisher_detail=behind[0].kept_up_reason if behind else "",
            events_published=trial.events * len(done.inputs),
            events_in_log=in_log,
            ended_in_time=done.ended_in_time,
            output_still_growing=done.output_still_growing,
            load_is_paced=done.load.job_starts_at_s is not None,
            load_is_constant=trial.load.startswith("constant:"),
            warmup_events=trial.warmup_events,
            warmup_p50_ms=latencies.warmup_last_half_p50_ms,
            measured_p50_ms=latencies.event.percentiles["p50"],
            first_third_p50_ms=None if broken else latencies.first_third_p50_ms,
            last_third_p50_ms=None if broken else latencies.last_third_p50_ms,
            faults_missed=done.endured.missed,
            stayed_down=done.endured.went_down,
            negative_latencies=sum(latencies.negative.values()),
        )
    )


def _by_second(
    done: Conducted, connection: duckdb.DuckDBPyConnection, answered: Sequence[Answered], window: Window
) -> Floats:
    """The one-second medians of a paced trial; a preloaded one has no seconds of its load."""
    return np.zeros(0) if done.load.job_starts_at_s is None else seen_by_second(connection, answered, window)


def _bursts(trial: Trial, latencies: Latencies, throughput: Throughput, by_second: Floats) -> dict[str, Any]:
    load = parse_load(trial.load)
    if isinstance(load, StepsLoad):
        return settling(by_second, load.bursts_s())
    if isinstance(load, BurstLoad):
        return catching_up(throughput.table)
    if isinstance(load, BurstsLoad):
        measured_s = float(load.due_s(trial.events - trial.warmup_events - 1))
        starts_s = [n * load.period_s for n in range(1, int(measured_s // load.period_s) + 1)]
        return inflation(latencies.counts, starts_s, load.period_s)
    return {}


def _scheduling(trial: Trial, done: Conducted, throughput: Throughput) -> dict[str, Any]:
    trigger = get_engine(trial.engine).resolve(trial.settings).get("trigger")
    if trigger is None:
        return {}
    return scheduling_delay(done.progress, parse_duration_s(trigger), throughput.start_ms)


def _requirements(done: Conducted, throughput: Throughput, read_back: ReadBack) -> list[Any]:
    rates = [r.achieved_rate_per_s for r in done.publishers.values()]
    return check_requirements(
        consumption_per_s=throughput.events_per_s,
        preloaded=done.load.job_starts_at_s is None,
        publishing_per_s=min(rates) if rates else None,
        publisher_kept_up=all(r.kept_up for r in done.publishers.values()),
        raw_read_per_s=read_back.records_per_s,
    )


def _latency_figures(latencies: Latencies) -> dict[str, Any]:
    return {
        "latency_ms": latencies.event.as_dict(),
        "output_latency_ms": latencies.output.as_dict(),
        "due_latency_ms": latencies.due.as_dict(),
        "samples_kept": latencies.samples_kept,
    }


def _publisher_figures(done: Conducted) -> dict[str, Any]:
    reused = done.reused_inputs
    each = {name: {**_publisher_figure(r), "reused": name in reused} for name, r in done.publishers.items()}
    worst = max(each.values(), key=lambda r: (not r["kept_up"], r["lateness_ms"]["p99"] or 0))
    return {**worst, "inputs": each} if len(each) > 1 else worst


def _publisher_figure(result: PublisherResult) -> dict[str, Any]:
    return {
        "events": result.events,
        "bytes": result.bytes,
        "achieved_per_s": result.achieved_rate_per_s,
        "kept_up": result.kept_up,
        "kept_up_reason": result.kept_up_reason,
        "delivery_failures": result.delivery_failures,
        "lateness_ms": {
            "mean": result.lateness_mean_ms,
            "p50": result.lateness_p50_ms,
            "p99": result.lateness_p99_ms,
            "max": result.lateness_max_ms,
        },
    }


def _together(answers: Sequence[Verdict], letters: Verdict, stages: Sequence[str]) -> Verdict:
    """One verdict of a trial: counts added up, and a digest of all answers; dead letters are no part of the answer."""
    first, *rest = [*answers, letters]
    for other in rest:
        first = replace(
            first,
            **{
                name: getattr(first, name) + getattr(other, name)
                for name in (
                    *("expected", "seen", "lost", "wrong", "unexpected", "duplicated", "out_of_order"),
                    *("late", "rejected", "examples"),
                )
            },
            phases=phases.together([first.phases, other.phases]),
        )
    named = list(zip(stages, answers, strict=True))
    return replace(
        first,
        digest=digest.together({stage: each.digest for stage, each in named}),
        expected_digest=digest.together({stage: each.expected_digest for stage, each in named}),
    )


def _last_ms(done: Conducted, throughput: Throughput) -> int:
    seconds = len(throughput.table)
    return throughput.start_ms + max(seconds, 1) * 1000


def _tables(done: Conducted, latencies: Latencies, throughput: Throughput) -> dict[str, pa.Table | Path]:
    tables: dict[str, pa.Table | Path] = {
        "latency": latencies.counts,
        "throughput": throughput.table,
        "resources": done.resources,
    }
    if latencies.samples is not None:
        tables["samples"] = latencies.samples
    tables.update(done.left_tables)
    lateness = [pq.read_table(path) for path in done.lateness_paths if path.exists()]
    if lateness:
        tables["lateness"] = pa.concat_tables(lateness)
    return tables
