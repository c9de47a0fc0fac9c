"""`streamgauge run`: conduct trials, print their table, write their report."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamgauge.cli.options import (
    AsJson,
    FailureTimeout,
    Faults,
    Kafka,
    KafkaConfig,
    NoRestart,
    Parameters,
    Partitions,
    PlaceName,
    RecordedFiles,
    RunsFolder,
    Seed,
    Settings,
    StopAfter,
)
from streamgauge.cli.plans import SuiteWishes
from streamgauge.cli.verb import Verb
from streamgauge.model.errors import UserError

if TYPE_CHECKING:
    from streamgauge.lab.request import Listener, Plan, PlannedTrial, RunOutcome, RunRequest
    from streamgauge.store import StoredRun


def run(
    context: typer.Context,
    applications: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="APPLICATION",
            help="Names, or paths of your own .py files. Or one suite: its name, or your own .toml file.",
        ),
    ] = None,
    engine: Annotated[
        list[str] | None, typer.Option("--engine", "-e", metavar="NAME", help="Engine; repeat it to compare several.")
    ] = None,
    load: Annotated[
        str, typer.Option(metavar="LOAD", help="When events are due; `list loads` shows the spellings.")
    ] = ("constant:500/s"),
    events: Annotated[
        str | None, typer.Option(metavar="N", help="Measured events, like 7500, 50k or 3M. Either this or --for.")
    ] = None,
    for_: Annotated[
        str | None, typer.Option("--for", metavar="TIME", help="Measured time, like 30s or 2min (default 15s).")
    ] = None,
    warmup: Annotated[
        str | None, typer.Option(metavar="TIME", help="Time at the same load that is not measured (default 10s).")
    ] = None,
    settling: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Longest time that an engine which has just started is warmed before its first trial (default 30s).",
        ),
    ] = None,
    seed: Seed = 1,
    repeat: Annotated[
        int, typer.Option(metavar="N", help="How often each trial is run; two or more give intervals.")
    ] = 1,
    param: Parameters = None,
    setting: Settings = None,
    objective: Annotated[
        str | None,
        typer.Option(
            metavar="RULE", help="A latency that spark-adaptive is to keep, like 'p99<200ms'; biases its choice."
        ),
    ] = None,
    partitions: Partitions = None,
    instances: Annotated[
        str | None,
        typer.Option(metavar="RUN", help="Partitions and parallelism from a characterisation that is stored in --out."),
    ] = None,
    multiplier: Annotated[
        int | None, typer.Option(metavar="K", help="Take the instances of --instances so many times (default 1).")
    ] = None,
    place: PlaceName = "local",
    stop_after: StopAfter = None,
    data: RecordedFiles = None,
    key_skew: Annotated[
        str | None,
        typer.Option(metavar="S", help="Keys of generated events by Zipf's law with this exponent; 0 for even keys."),
    ] = None,
    malformed: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="Spoil this share of the events, like 1%; implies --dead-letters."),
    ] = None,
    dead_letters: Annotated[
        bool, typer.Option("--dead-letters", help="Send malformed events to a topic of their own instead of dropping.")
    ] = False,
    fault: Faults = None,
    no_restart: NoRestart = False,
    failure_timeout: FailureTimeout = None,
    sink: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Write results to this store: redis://localhost:6379/0 or postgresql://user@host/database.",
        ),
    ] = None,
    kafka: Kafka = None,
    kafka_config: KafkaConfig = None,
    out: RunsFolder = Path("runs"),
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep the topics, or the results in the sink, after the run.")
    ] = False,
    timeout: Annotated[
        str, typer.Option(metavar="TIME", help="Longest time that a trial may take beyond its load.")
    ] = "10min",
    threshold: Annotated[
        list[str] | None,
        typer.Option(metavar="RULE", help="A rule like 'p99<500ms'; exit code 99 where it does not hold. Repeatable."),
    ] = None,
    scale: Annotated[
        str | None,
        typer.Option(
            metavar="SCALE", help="Sizes of a suite: laptop (default), paper, or a share of the paper's like 0.1."
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(metavar="N", help="Seeds 1 to N where a suite has several, like chaos.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A suite at its smallest sizes, in less than 3 min.")] = False,
    resume: Annotated[
        str | None, typer.Option(metavar="RUN", help="Go on with this interrupted run; what is stored is not repeated.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the trials with the expected time, and start nothing.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Also tell what spark-adaptive decides, while it runs.")
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", help="Serve the page of the run while it is measured, and print its address.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Run applications on engines under a load, or a suite of such trials: how fast were they, and were they right?"""
    from streamgauge.cli.values import pairs, recorded_files, share
    from streamgauge.lab.request import DEFAULT_ENGINES, Plan, RunRequest
    from streamgauge.model.units import parse_count, parse_duration_s

    names = tuple(applications or ())
    command = _command(context.obj or [], sink)
    where = Plan((), kafka, kafka_config, out, keep, command, verbose)
    how = Showing(dry_run, as_json, out if watch else None)
    if resume is not None:
        raise typer.Exit(_done(_resumed(context, where, resume, sink), how))
    if _says_a_suite(names):
        wishes = SuiteWishes(names[0], scale, quick, tuple(engine or ()), tuple(threshold or ()), seeds)
        raise typer.Exit(_done(_suite(context, where, wishes), how))
    for option, given in (("--quick", quick), ("--scale", scale is not None), ("--seeds", seeds is not None)):
        if given:
            raise UserError(f"{option} is for suites", "streamgauge list suites shows them")
    request = RunRequest(
        applications=names,
        engines=tuple(dict.fromkeys(engine)) if engine else DEFAULT_ENGINES,
        load=load,
        events=None if events is None else parse_count(events),
        for_s=None if for_ is None else parse_duration_s(for_),
        warmup_s=None if warmup is None else parse_duration_s(warmup),
        settling_s=RunRequest.settling_s if settling is None else parse_duration_s(settling),
        seed=seed,
        repeat=repeat,
        partitions=partitions,
        place=place,
        parameters=pairs("--param", param or []),
        settings=_settings(setting or [], objective, engine or []),
        stop_after=stop_after,
        data=recorded_files(data or []),
        malformed=0.0 if malformed is None else share("--malformed", malformed),
        key_skew=key_skew,
        dead_letters=dead_letters,
        faults=tuple(fault or ()),
        no_restart=no_restart,
        failure_timeout_s=None if failure_timeout is None else parse_duration_s(failure_timeout),
        sink=sink,
        kafka=kafka,
        kafka_config=kafka_config,
        out=out,
        keep=keep,
        timeout_s=parse_duration_s(timeout),
        thresholds=tuple(threshold or ()),
        command=command,
        verbose=verbose,
    )
    request = _with_instances(request, instances, multiplier)
    raise typer.Exit(_done(_applications(request), how))


def _settings(given: list[str], objective: str | None, engines: list[str]) -> dict[str, str]:
    """`--set`, and `--objective` as the setting that it is."""
    from streamgauge.cli.values import pairs

    if objective is None:
        return pairs("--set", given)
    if "spark-adaptive" not in engines:
        raise UserError("--objective is for spark-adaptive", "Add -e spark-adaptive")
    return pairs("--set", [*given, f"objective={objective}"])


def _with_instances(request: RunRequest, run: str | None, multiplier: int | None) -> RunRequest:
    if run is None:
        if multiplier is not None:
            raise UserError("--multiplier needs --instances", "Name the characterisation whose instances are meant")
        return request
    from streamgauge.lab.instances import with_instances

    request, notes = with_instances(request, run, 1 if multiplier is None else multiplier)
    for note in notes:
        print(note, file=sys.stderr)
    return request


def _command(arguments: list[str], sink: str | None) -> str:
    """What was typed, as it may be stored: no password of a sink."""
    from streamgauge.model.trial import without_password

    shown = [a if sink is None else a.replace(sink, without_password(sink)) for a in arguments]
    return shlex.join(["streamgauge", *shown])


@dataclass(frozen=True)
class Work:
    """What a command would do: its trials, and how they are conducted."""

    trials: Callable[[], Sequence[PlannedTrial]]
    conduct: Callable[[Listener], RunOutcome]


def _says_a_suite(names: Sequence[str]) -> bool:
    from streamgauge.cli.stdout import reserved_stdout

    if not names:
        raise UserError("missing argument 'APPLICATION'", "Name one, or a suite. See `streamgauge run --help`")
    with reserved_stdout():
        from streamgauge.cli.plans import is_suite, refuse_near_suite

        found = is_suite(names)
        if not found:
            refuse_near_suite(names)
        return found


def _applications(request: RunRequest) -> Work:
    def trials() -> Sequence[PlannedTrial]:
        from streamgauge.lab.planning import plan_trials

        return plan_trials(request)

    def conduct(listener: Listener) -> RunOutcome:
        from streamgauge.lab.run import conduct_run

        return conduct_run(request, listener)

    return Work(trials, conduct)


def _suite(context: typer.Context, where: Plan, wishes: SuiteWishes) -> Work:
    def plan() -> Plan:
        from streamgauge.cli.plans import OF_A_SUITE, refuse_others, suite_plan

        refuse_others(context, OF_A_SUITE, "a suite", "A suite says it itself: write it into a .toml file of your own")
        return suite_plan(wishes, where)

    def conduct(listener: Listener) -> RunOutcome:
        from streamgauge.lab.run import conduct_plan

        return conduct_plan(plan(), listener)

    return Work(lambda: plan().trials, conduct)


def _resumed(context: typer.Context, where: Plan, run: str, sink: str | None) -> Work:
    from streamgauge.cli.plans import OF_A_RESUMED, left_trials, refuse_others

    refuse_others(context, OF_A_RESUMED, "--resume", "The run knows its own trials: give --resume RUN alone")

    def conduct(listener: Listener) -> RunOutcome:
        from streamgauge.lab.run import resume_run

        return resume_run(where, run, listener, sink)

    return Work(lambda: left_trials(where, run, sink), conduct)


@dataclass(frozen=True)
class Showing:
    """How a command shows what it does."""

    dry_run: bool = False
    as_json: bool = False
    watched: Path | None = None
    """The folder of the runs, where their page is served meanwhile."""


def _done(work: Work, how: Showing) -> int:
    """Show what would be done, or do it, store it, report it; the exit code."""
    from streamgauge.cli.stdout import reserved_stdout
    from streamgauge.cli.watching import served

    if how.dry_run:
        from streamgauge.cli.plans import show_plan

        if how.watched is not None:
            raise UserError("--watch does not go with --dry-run", "Nothing is started, so there is nothing to watch")
        with reserved_stdout():
            trials = work.trials()
        return show_plan(trials, how.as_json)
    with served(how.watched) as page:
        with reserved_stdout():
            from streamgauge.cli.progress import progress
            from streamgauge.report import write_report
            from streamgauge.store import StoredRun

            with progress() as listener:
                outcome = work.conduct(page.told_to(listener))
            stored = StoredRun.open(outcome.path)
            path = write_report(stored)
        _show(stored, outcome, path, how.as_json)
        page.stay()
    return outcome.exit_code


def _show(stored: StoredRun, outcome: RunOutcome, path: Path, as_json: bool) -> None:
    from streamgauge.report import findings

    if as_json:
        from streamgauge.store import public_json

        shown = public_json({"run": outcome.run}, outcome.records)
        print(json.dumps({**shown, **findings.as_json(stored.run, outcome.records)}))
    else:
        from streamgauge.report.tables import console, print_summary

        further = findings.console_tables(stored.run, outcome.records, console().width)
        print_summary(outcome.records, further=further)
        print(path)


VERB = Verb(
    name="run",
    function=run,
    examples=(
        "streamgauge run wordcount",
        "streamgauge run wordcount grep --engine spark-microbatch --engine spark-realtime --for 30s",
        "streamgauge run wordcount --load preloaded --events 3M --repeat 5",
        "streamgauge run grep --param pattern=news --threshold 'p99<500ms' --json",
        "streamgauge run path/to/mine.py --kafka broker:9092 --kafka-config client.properties",
        "streamgauge run wordcount --set spark.sql.shuffle.partitions=4 --dry-run",
        "streamgauge run wordcount --partitions 4 --set parallelism.count=6",
        "streamgauge run wordcount --instances latest --multiplier 2 --place 'local[32]'",
        "streamgauge run threat-detection --events 1M --partitions 4 --place cluster:4",
        "streamgauge run streambench-performance --quick",
        "streamgauge run ospbench-latency --scale 0.01 --engine spark-realtime --dry-run",
        "streamgauge run my-suite.toml --kafka broker:9092",
        "streamgauge run chaos --seeds 20",
        "streamgauge run wordcount --for 60s --fault 'kill driver at half'",
        "streamgauge run wordcount --for 60s --fault 'suspend broker at 20s for 5s' --fault 'random fault every 10s'",
        "streamgauge run wordcount --place cluster:3 --for 60s --fault 'kill worker at 20s' --failure-timeout 10s",
        "streamgauge run wordcount --for 60s --watch",
        "streamgauge run --resume latest",
    ),
)
