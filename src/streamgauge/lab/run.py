"""A whole run: the laboratory opened, its trials conducted one after another, each stored as soon as it is done."""

from __future__ import annotations

import contextlib
import json
import shutil
from pathlib import Path
from typing import Any

from streamgauge.engines import get_engine
from streamgauge.lab.assess import Assessed, assess_trial
from streamgauge.lab.conduct import Conductor
from streamgauge.lab.environment import Laboratory
from streamgauge.lab.planning import chosen_application, plan, warmup_s
from streamgauge.lab.request import Listener, RunOutcome, RunRequest
from streamgauge.lab.space import needed_bytes
from streamgauge.load import parse_load
from streamgauge.log.redis_store import RedisStore
from streamgauge.measure.thresholds import check, parse_threshold
from streamgauge.model import LogError, StoreError, StreamgaugeError, Trial
from streamgauge.model.errors import (
    EXIT_ENGINE,
    EXIT_INVALID,
    EXIT_OK,
    EXIT_THRESHOLD,
    EXIT_USER,
    EXIT_WRONG_ANSWER,
)
from streamgauge.provision.java import find_java
from streamgauge.provision.machine import describe_machine
from streamgauge.provision.work import check_space, work_root
from streamgauge.store.records import trial_record
from streamgauge.store.run_store import RunStore, RunWriter


def conduct_run(request: RunRequest, listener: Listener) -> RunOutcome:
    """Conduct every trial of a request; an engine that fails in one does not stop the others."""
    trials = plan(request)
    check_space(work_root(), needed_bytes(trials))
    find_java()
    if request.sink is not None:
        RedisStore(request.sink).check()
    writer = RunStore(request.out).create(command=request.command, machine=describe_machine(), trials=len(trials))
    listener.planned(writer.id, trials)
    records: list[dict[str, Any]] = []
    status = "failed"
    try:
        with Laboratory(writer.id, request, listener.note) as lab:
            writer.describe(log=lab.describe_log())
            for number, trial in enumerate(trials, 1):
                record = _one_trial(lab, trial, number, listener, writer)
                records.append(record)
                listener.finished(number, trial, record)
                if _log_is_gone(lab):
                    listener.note("the broker is gone: the remaining trials were not run")
                    break
        status = "complete" if len(records) == len(trials) else "failed"
    except KeyboardInterrupt:
        status = "interrupted"
        raise
    finally:
        writer.finish(status)
        if status == "failed":
            writer.discard()
    return RunOutcome(writer.id, writer.folder, tuple(records), exit_code(records))


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


def _one_trial(lab: Laboratory, trial: Trial, number: int, listener: Listener, writer: RunWriter) -> dict[str, Any]:
    engine = get_engine(trial.engine)
    application = chosen_application(trial)
    gap = engine.gap(application) or (engine.sink_gap() if trial.sink else None)
    tuning = engine.tuning(trial.settings)
    if gap is not None:
        record = trial_record(trial, status="gap", gap={"kind": gap.kind, "reason": gap.reason}, tuning=tuning)
        writer.add_trial(record)
        return record
    warm = warmup_s(lab.request, parse_load(trial.load))
    conductor = Conductor(
        lab, trial, number, warm, lambda phase, done, total: listener.phase(number, trial, phase, done, total)
    )
    try:
        done = conductor.conduct()
        assessed = assess_trial(conductor, done, conductor.phase)
        how = {"variants": engine.variants(application, trial.settings), "between": list(application.cuts)}
        record = trial_record(trial, status="done", tuning=tuning, **how, **assessed.figures)
        record["thresholds"] = _check_thresholds(lab.request.thresholds, record)
        writer.add_trial(record, {**assessed.tables, "progress": _progress_file(conductor, assessed)})
        return record
    except StoreError:
        raise
    except StreamgaugeError as error:
        return _failed(lab, trial, conductor, writer, error, tuning)
    finally:
        _tidy(lab, conductor)


def _failed(
    lab: Laboratory, trial: Trial, conductor: Conductor, writer: RunWriter, error: StreamgaugeError, tuning: Any
) -> dict[str, Any]:
    lab.end_processes()
    what = {"cause": error.cause, "way_out": error.way_out, "exit_code": error.exit_code}
    record = trial_record(trial, status="failed", error=what, tuning=tuning)
    record["thresholds"] = _check_thresholds(lab.request.thresholds, record)
    writer.add_trial(record)
    return record


def _progress_file(conductor: Conductor, assessed: Assessed) -> Path:
    path = conductor.folder / "progress.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in assessed.progress))
    return path


def _check_thresholds(texts: tuple[str, ...], record: dict[str, Any]) -> list[dict[str, Any]]:
    outcomes = [(text, check(parse_threshold(text), record)) for text in texts]
    return [{"threshold": text, "ok": each.ok, "seen": each.seen, "text": each.text} for text, each in outcomes]


def _tidy(lab: Laboratory, conductor: Conductor) -> None:
    if not lab.request.keep:
        with contextlib.suppress(LogError):
            if not _log_is_gone(lab):
                conductor.clean_up()
    shutil.rmtree(conductor.folder, ignore_errors=True)


def _log_is_gone(lab: Laboratory) -> bool:
    return lab.broker is not None and not lab.broker.alive()


__all__ = ["Assessed", "conduct_run", "exit_code"]
