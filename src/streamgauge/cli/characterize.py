"""`streamgauge characterize`: what each operator of an application is and costs, and the instances that follow."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamgauge.cli.options import (
    AsJson,
    Kafka,
    KafkaConfig,
    Parameters,
    Partitions,
    RecordedFiles,
    RunsFolder,
    Seed,
    Settings,
)
from streamgauge.cli.verb import Verb

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from streamgauge.lab.characterize import Characterised, CharacterizeRequest


def characterize(
    context: typer.Context,
    application: Annotated[
        str, typer.Argument(metavar="APPLICATION", help="A name, or the path of your own .py file.")
    ],
    events: Annotated[str, typer.Option(metavar="N", help="Events on every input, like 50k or 1M.")] = "100k",
    batches: Annotated[
        int, typer.Option(metavar="N", help="Batches that they are read in: times are quantiles over batches.")
    ] = 20,
    seed: Seed = 1,
    param: Parameters = None,
    setting: Settings = None,
    partitions: Partitions = None,
    data: RecordedFiles = None,
    kafka: Kafka = None,
    kafka_config: KafkaConfig = None,
    out: RunsFolder = Path("runs"),
    timeout: Annotated[str, typer.Option(metavar="TIME", help="Longest time that it may take.")] = "20min",
    as_json: AsJson = False,
) -> None:
    """Measure an application's operators: type, communication, selectivity, record size, time, state, instances."""
    from streamgauge.cli.stdout import reserved_stdout
    from streamgauge.cli.values import pairs, recorded_files
    from streamgauge.model.units import parse_count, parse_duration_s

    with reserved_stdout():
        from streamgauge.lab.characterize import CharacterizeRequest

        request = CharacterizeRequest(
            application=application,
            events=parse_count(events),
            batches=batches,
            seed=seed,
            partitions=partitions,
            parameters=pairs("--param", param or []),
            settings=pairs("--set", setting or []),
            data=recorded_files(data or []),
            kafka=kafka,
            kafka_config=kafka_config,
            out=out,
            timeout_s=parse_duration_s(timeout),
            command=shlex.join(["streamgauge", *(context.obj or [])]),
        )
        done, page = _conduct(request)
    if as_json:
        print(json.dumps({"run": done.run, **done.document}))
    else:
        from streamgauge.report.characterisations import print_characterisation

        print_characterisation(done.document)
        print(page)


def _conduct(request: CharacterizeRequest) -> tuple[Characterised, Path]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    from streamgauge.lab.characterize import characterize as measure
    from streamgauge.report import write_report
    from streamgauge.store import StoredRun

    columns = (TextColumn("{task.description}"), BarColumn(bar_width=24), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not sys.stderr.isatty(), redirect_stdout=False) as bar:
        done = measure(request, _Shown(bar, console))
    return done, write_report(StoredRun.open(done.path))


class _Shown:
    """A bar where stderr is a terminal, a line per step elsewhere."""

    def __init__(self, bar: Progress, console: Console) -> None:
        self._bar, self._console = bar, console
        self._task = bar.add_task("preparing", total=None)
        self._last = ""

    def step(self, what: str, done: float, total: float) -> None:
        """Move the bar."""
        from rich.markup import escape

        self._bar.update(self._task, description=escape(what), completed=done, total=total or None)
        if what != self._last and not sys.stderr.isatty():
            self.note(what)
        self._last = what

    def note(self, text: str) -> None:
        """Print a line."""
        from rich.markup import escape

        self._console.print(escape(text), highlight=False)


VERB = Verb(
    name="characterize",
    function=characterize,
    examples=(
        "streamgauge characterize wordcount",
        "streamgauge characterize wordcount --events 1M --batches 50 --json",
        "streamgauge characterize path/to/mine.py --partitions 4",
    ),
)
