"""`streamgauge search`: the highest rate that an application sustains on an engine."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.cli.options import (
    AsJson,
    Kafka,
    KafkaConfig,
    Parameters,
    Partitions,
    PlaceName,
    RunsFolder,
    Seed,
    Settings,
    StopAfter,
)
from streamgauge.cli.verb import Verb
from streamgauge.model.errors import UserError

if TYPE_CHECKING:
    from streamgauge.cli.progress import ProgressShown
    from streamgauge.lab.probing import SearchOutcome, SearchRequest
    from streamgauge.measure.sustainability import ProbeOutcome
    from streamgauge.model import Trial


def search(
    context: typer.Context,
    application: Annotated[
        str, typer.Argument(metavar="APPLICATION", help="A name, or the path of your own .py file.")
    ],
    engine: Annotated[str, typer.Option("--engine", "-e", metavar="NAME", help="Engine.")] = "spark-microbatch",
    slo: Annotated[
        str,
        typer.Option(
            metavar="RULES",
            help="What a sustained rate keeps, beside latency and input queue that do not rise: thresholds and commas.",
        ),
    ] = "p50<10s,drain<10s,cpu<80%",
    gate_cpu: Annotated[
        bool,
        typer.Option(
            "--gate-cpu", help="Let a threshold on cpu decide; otherwise it is only said, as the machine is shared."
        ),
    ] = False,
    start: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="RATE",
            help="First rate, over all inputs together; it is doubled (default: half of what a warm process drains).",
        ),
    ] = None,
    up_to: Annotated[
        str | None, typer.Option(metavar="RATE", help="Highest rate (default: as far as it holds).")
    ] = None,
    tolerance: Annotated[
        str, typer.Option(metavar="SHARE", help="How far apart the rate that holds and the one that breaks may be.")
    ] = "10%",
    repeat: Annotated[
        int, typer.Option(metavar="N", help="Both sides of the edge are decided by the majority of N probes.")
    ] = 3,
    probes: Annotated[int, typer.Option(metavar="N", help="Most probes in all.")] = 40,
    for_: Annotated[str, typer.Option("--for", metavar="TIME", help="Measured time of a probe.")] = "30s",
    warmup: Annotated[str, typer.Option(metavar="TIME", help="Time at the same rate before it.")] = "5s",
    seed: Seed = 1,
    param: Parameters = None,
    setting: Settings = None,
    partitions: Partitions = None,
    place: PlaceName = "local",
    stop_after: StopAfter = None,
    kafka: Kafka = None,
    kafka_config: KafkaConfig = None,
    out: RunsFolder = Path("runs"),
    timeout: Annotated[
        str, typer.Option(metavar="TIME", help="A probe that is not drained by then does not hold its rate.")
    ] = "1min",
    as_json: AsJson = False,
) -> None:
    """Find the highest rate that an engine sustains: doubling, bisection, and repeats at both sides of the edge."""
    from streamgauge.cli.stdout import reserved_stdout
    from streamgauge.cli.values import pairs, share
    from streamgauge.model.units import parse_duration_s, parse_rate_per_s

    with reserved_stdout():
        from streamgauge.lab.probing import SearchRequest
        from streamgauge.lab.search import SearchRange

        most = float("inf") if up_to is None else parse_rate_per_s(up_to)
        first = min(SearchRange.start_per_s, most) if start is None else parse_rate_per_s(start)
        where = SearchRange(
            start_per_s=first,
            least_per_s=min(1.0, first),
            most_per_s=most,
            tolerance=share("--tolerance", tolerance),
            repeats=repeat,
            most_probes=probes,
        )
        request = SearchRequest(
            application=application,
            engine=engine,
            slo=slo,
            gates_cpu=gate_cpu,
            where=where,
            finds_start=start is None,
            for_s=_probe_s(for_),
            warmup_s=parse_duration_s(warmup),
            seed=seed,
            partitions=partitions,
            place=place,
            parameters=pairs("--param", param or []),
            settings=pairs("--set", setting or []),
            stop_after=stop_after,
            kafka=kafka,
            kafka_config=kafka_config,
            out=out,
            timeout_s=parse_duration_s(timeout),
            command=shlex.join(["streamgauge", *(context.obj or [])]),
        )
        outcome, page = _conducted(request)
    raise typer.Exit(_told(request, outcome, page, as_json))


def _probe_s(text: str) -> float:
    from streamgauge.lab.probing import LEAST_PROBE_S
    from streamgauge.model.units import parse_duration_s

    seconds = parse_duration_s(text)
    if seconds <= 0:
        raise UserError("--for must be more than 0", "An empty probe has nothing to measure")
    if seconds < LEAST_PROBE_S:
        print(f"probes of less than {LEAST_PROBE_S:g} s hardly tell a slope from batches", file=sys.stderr)
    return seconds


def _conducted(request: SearchRequest) -> tuple[SearchOutcome, Path]:
    from streamgauge.cli.progress import progress
    from streamgauge.lab.probing import conduct_search
    from streamgauge.report import write_report
    from streamgauge.store import StoredRun

    with progress() as shown:
        outcome = conduct_search(request, _Shown(shown))
    return outcome, write_report(StoredRun.open(outcome.path))


def _told(request: SearchRequest, outcome: SearchOutcome, page: Path, as_json: bool) -> int:
    from streamgauge.report.probes import found_words, rates_table
    from streamgauge.report.tables import console

    found = {
        "application": request.application,
        "engine": request.engine,
        "slo": request.slo,
        **outcome.result.as_dict(),
    }
    if as_json:
        print(json.dumps({"schema": 1, "run": outcome.run, **found}))
        return outcome.exit_code
    out = console()
    out.print(rates_table(found["probes"], found["rate_per_s"]))
    out.print(found_words(found), style="bold", markup=False)
    print(page)
    return outcome.exit_code


class _Shown:
    """The progress of trials as `run` shows it, and a line of a table for each probe."""

    def __init__(self, shown: ProgressShown) -> None:
        self._shown = shown

    def planned(self, run: str, trials: list[Trial]) -> None:
        """Say that it has begun, and what the lines will hold."""
        from streamgauge.report.probes import heading

        self._shown.planned(run, trials)
        self._shown.note(heading())

    def phase(self, number: int, trial: Trial, phase: str, done: float, total: float) -> None:
        """Move the bar of the probe."""
        self._shown.phase(number, trial, phase, done, total)

    def finished(self, number: int, trial: Trial, record: dict[str, Any]) -> None:
        """Fill the bar of the probe."""
        self._shown.finished(number, trial, record)

    def note(self, text: str) -> None:
        """Print a line."""
        self._shown.note(text)

    def probed(self, number: int, outcome: ProbeOutcome) -> None:
        """Print the line of the probe."""
        from streamgauge.report.probes import probe_line

        self._shown.note(probe_line(number, outcome.as_dict()))


VERB = Verb(
    name="search",
    function=search,
    examples=(
        "streamgauge search wordcount --engine spark-realtime",
        "streamgauge search traffic-flow --stop-after tumbling --slo 'p50<10s,drain<10s,cpu<80%'",
        "streamgauge search ad-analytics -e spark-realtime --slo 'p99<100ms' --from 500/s --tolerance 5%",
    ),
)
