"""A whole run: the laboratory opened, its trials conducted one after another, each stored as soon as it is done."""

from __future__ import annotations

import contextlib
import json
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from streamgauge.engines import get_engine
from streamgauge.lab.assess import Assessed, assess_trial
from streamgauge.lab.conduct import Conductor, Phase
from streamgauge.lab.environment import Laboratory, session_settings
from streamgauge.lab.fault_planning import drained_s_of, failure_timeout_of, needs_twin
from streamgauge.lab.inputs import InputEvents, preloaded_inputs, wanted_later
from streamgauge.lab.live import LiveRun
from streamgauge.lab.planning import chosen_application, plan_run, resolved
from streamgauge.lab.request import Listener, Plan, PlannedTrial, RunOutcome, RunRequest
from streamgauge.lab.resuming import left_of, stored_plan
from streamgauge.lab.space import needed_bytes
from streamgauge.lab.warming import answered_after_s
from streamgauge.log.result_store import open_store
from streamgauge.measure.thresholds import check, parse_threshold
from streamgauge.model import EngineError, LogError, StoreError, StreamgaugeError, UserError
from streamgauge.model.errors import (
    EXIT_ENGINE,
    EXIT_INVALID,
    EXIT_OK,
    EXIT_THRESHOLD,
    EXIT_USER,
    EXIT_WRONG_ANSWER,
)
from streamgauge.places import check_needs, parse_place
from streamgauge.provision.java import find_java
from streamgauge.provision.machine import describe_machine
from streamgauge.provision.work import check_space, work_root
from streamgauge.store.live import LiveWriter
from streamgauge.store.records import trial_record
from streamgauge.store.run_store import RunStore, RunWriter
from streamgauge.store.stored_run import StoredRun


def conduct_run(request: RunRequest, listener: Listener) -> RunOutcome:
    """Conduct every trial of a request."""
    return conduct_plan(plan_run(request), listener)


def conduct_plan(plan: Plan, listener: Listener) -> RunOutcome:
    """Conduct every trial of a plan as a new run; an engine that fails in one does not stop the others."""
    check_before(plan)
    writer = RunStore(plan.out).create(
        command=plan.command,
        machine=describe_machine(),
        trials=len(plan.trials),
        plan=stored_plan(plan),
        **({"suite": dict(plan.suite)} if plan.suite else {}),
    )
    return _conduct(plan, writer, listener, [None] * len(plan.trials))


def resume_run(given: Plan, run: str, listener: Listener, sink: str | None = None) -> RunOutcome:
    """Go on with a run that was interrupted: trials that are stored are not repeated.

    Of `given` count the folder of the runs and, where they are said, the log and `keep`.
    """
    store = RunStore(given.out)
    check_before(left_of(given, store.open(run), sink).plan)
    writer = store.reopen(run)
    left = left_of(given, StoredRun.open(writer.folder), sink)
    stored = len(left.records) - len(left.trials)
    listener.note(f"{stored} of {len(left.records)} trials are stored and will not be repeated")
    return _conduct(left.plan, writer, listener, left.records)


def check_before(plan: Plan) -> None:
    """Raise what would keep every trial from running, before anything is stored or started."""
    trials = [each.trial for each in plan.trials]
    check_space(work_root(), needed_bytes(trials))
    find_java()
    runnable = [each.trial for each in plan.trials if each.gap is None]
    for where, settings in {(trial.place, tuple(sorted(trial.settings.items()))) for trial in runnable}:
        check_needs(parse_place(where), plan.kafka, dict(settings))
    for sink in {trial.sink for trial in trials if trial.sink is not None}:
        open_store(sink).check()


def _conduct(plan: Plan, writer: RunWriter, listener: Listener, records: list[dict[str, Any] | None]) -> RunOutcome:
    """Conduct the trials that have no record yet; `records` has a place for each."""
    listener.planned(writer.id, [each.trial for each in plan.trials])
    later = wanted_later([_preloaded_inputs(each) for each in plan.trials])
    with laboratory_of(plan, writer, listener) as lab:
        lab.prepared.enabled = not plan.keep
        for number, known in enumerate(records, 1):
            if known is not None:
                lab.live.finished(number, known)
        for place, planned in enumerate(plan.trials):
            if records[place] is not None:
                continue
            drained_s = drained_s_of(planned.trial, records) if needs_twin(planned.trial) else None
            record = conduct_trial(lab, planned, place + 1, listener, writer, plan.keep, drained_s)
            records[place] = record
            listener.finished(place + 1, planned.trial, record)
            if log_is_gone(lab):
                listener.note("the broker is gone: the remaining trials were not run")
                break
            lab.prepared.keep_only(later[place])
    made = [record for record in records if record is not None]
    return RunOutcome(writer.id, writer.folder, tuple(made), exit_code(made))


def _preloaded_inputs(planned: PlannedTrial) -> dict[str, InputEvents]:
    """What a trial reads that may lie in the log before it begins."""
    if planned.gap is not None:
        return {}
    return preloaded_inputs(planned.trial, resolved(planned.trial.found_at, planned.trial.stop_after))


@contextlib.contextmanager
def laboratory_of(plan: Plan, writer: RunWriter, listener: Listener) -> Iterator[Laboratory]:
    """The laboratory of a run; how it is left becomes the run's status."""
    resumed = writer.run.get("resumed_at", [])
    # Topics of an attempt that was killed may still lie in a log that outlived it.
    name = f"{writer.id}-{len(resumed) + 1}" if resumed else writer.id
    status = "failed"
    live = LiveRun(LiveWriter(writer.folder))
    live.planned(writer.id, [each.trial for each in plan.trials])

    def note(text: str) -> None:
        listener.note(text)
        live.note(text)

    try:
        with live, Laboratory(name, note, plan.kafka, plan.kafka_config, plan.verbose) as lab:
            lab.live = live
            writer.describe(log=lab.describe_log())
            yield lab
        status = "complete" if writer.trials_stored >= writer.run["trials"] else "failed"
    except KeyboardInterrupt:
        status = "interrupted"
        if plan.trials:
            listener.note(f"to go on: streamgauge run --resume {writer.id}{_elsewhere(plan.out)}")
        raise
    finally:
        try:
            writer.finish(status)
        finally:
            live.close(status)
        if status == "failed" and not resumed:
            writer.discard()


def _elsewhere(out: Path) -> str:
    return "" if out == RunRequest.out else f" --out {shlex.quote(str(out))}"


def exit_code(records: list[dict[str, Any]]) -> int:
    """What the records deserve: a wrong answer before a failure, an invalid trial, a broken threshold."""
    if any(r["verdict"] and not r["verdict"]["correct"] for r in records):
        return EXIT_WRONG_ANSWER
    failed = [r for r in records if r["status"] == "failed"]
    if failed:
        return EXIT_USER if all(r["error"].get("exit_code") == EXIT_USER for r in failed) else EXIT_ENGINE
    if any(r["status"] == "done" and not r["valid"] for r in records):
        return EXIT_INVALID
    if any(not t["ok"] for r in records for t in r["thresholds"]):
        return EXIT_THRESHOLD
    return EXIT_OK


def conduct_trial(
    lab: Laboratory,
    planned: PlannedTrial,
    number: int,
    listener: Listener,
    writer: RunWriter,
    keep: bool,
    drained_s: float | None = None,
) -> dict[str, Any]:
    """Conduct one trial and store it; what goes wrong in it becomes its record.

    `drained_s` is how long the same preloaded trial took without its faults, where one of them comes at half of it.
    """
    record = _conduct_trial(lab, planned, number, listener, writer, keep, drained_s)
    lab.live.finished(number, record)
    return record


def _conduct_trial(
    lab: Laboratory,
    planned: PlannedTrial,
    number: int,
    listener: Listener,
    writer: RunWriter,
    keep: bool,
    drained_s: float | None,
) -> dict[str, Any]:
    trial = planned.trial
    engine = get_engine(trial.engine)
    session = session_settings(engine, parse_place(trial.place), trial.settings, failure_timeout_of(trial))
    tuning = {**session, **engine.tuning(trial.application, trial.settings)}
    facts: dict[str, Any] = {"tuning": tuning, "matrices": list(planned.matrices)}
    if planned.gap is not None:
        gap = {"kind": planned.gap.kind, "reason": planned.gap.reason}
        record = trial_record(trial, status="gap", gap=gap, **facts)
        writer.add_trial(record)
        return record
    conductor: Conductor | None = None

    def tell(phase: str, done: float, total: float) -> None:
        listener.phase(number, trial, phase, done, total)
        lab.live.phase(number, phase, done, total)

    try:
        conductor = Conductor(lab, planned, number, tell, drained_s)
        lab.live.begin(number, trial, conductor)
        done = conductor.conduct()
        assessed = assess_trial(conductor, done, conductor.phase)
        application = chosen_application(trial)
        how = {"variants": engine.variants(application, trial.settings), "between": list(conductor.application.cuts)}
        record = trial_record(trial, status="done", **facts, **how, **assessed.figures)
        record["thresholds"] = _check_thresholds(planned.thresholds, record)
        writer.add_trial(record, {**assessed.tables, "progress": _progress_file(conductor, assessed)})
        return record
    except StoreError:
        raise
    except StreamgaugeError as error:
        return _failed(lab, planned, writer, error, facts)
    finally:
        if conductor is not None:
            _tidy(lab, conductor, keep)


def discard_trial(lab: Laboratory, planned: PlannedTrial, phase: Phase) -> float | None:
    """Conduct a trial for the process that it leaves warm; return the seconds to its last answer, where one is seen."""
    conductor = Conductor(lab, planned, 0, phase)
    try:
        done = conductor.conduct()
        return answered_after_s(lab.cluster, done.outputs.values(), done.job_started_ms)
    finally:
        _tidy(lab, conductor, keep=False)


def _failed(
    lab: Laboratory, planned: PlannedTrial, writer: RunWriter, error: StreamgaugeError, facts: dict[str, Any]
) -> dict[str, Any]:
    lab.end_processes()
    lab.end_workers()
    kind = next(
        each.__name__ for each in (EngineError, LogError, UserError, StreamgaugeError) if isinstance(error, each)
    )
    what = {"kind": kind, "cause": error.cause, "way_out": error.way_out, "exit_code": error.exit_code}
    record = trial_record(planned.trial, status="failed", error=what, **facts)
    record["thresholds"] = _check_thresholds(planned.thresholds, record)
    writer.add_trial(record)
    return record


def _progress_file(conductor: Conductor, assessed: Assessed) -> Path:
    path = conductor.folder / "progress.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in assessed.progress))
    return path


def _check_thresholds(texts: tuple[str, ...], record: dict[str, Any]) -> list[dict[str, Any]]:
    outcomes = [(text, check(parse_threshold(text), record)) for text in texts]
    return [{"threshold": text, "ok": each.ok, "seen": each.seen, "text": each.text} for text, each in outcomes]


def _tidy(lab: Laboratory, conductor: Conductor, keep: bool) -> None:
    if not keep:
        with contextlib.suppress(LogError):
            if not log_is_gone(lab):
                conductor.clean_up()
    conductor.checkpoints.remove()
    shutil.rmtree(conductor.folder, ignore_errors=True)


def log_is_gone(lab: Laboratory) -> bool:
    """Whether the run's own broker has died."""
    return lab.broker is not None and not lab.broker.alive()
