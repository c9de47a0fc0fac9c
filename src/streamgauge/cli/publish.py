"""`streamgauge publish`: only the load generator, against any Kafka."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamgauge.cli.options import AsJson, KafkaConfig, Seed
from streamgauge.cli.verb import Verb
from streamgauge.model.errors import EXIT_INVALID, EXIT_OK

if TYPE_CHECKING:
    from streamgauge.lab.publishing import PublishRequest
    from streamgauge.load.specification import PublisherResult


def publish(
    stream: Annotated[str, typer.Argument(metavar="STREAM", help="A stream; `list streams` shows them.")],
    kafka: Annotated[str, typer.Option(metavar="HOST:PORT", help="The Kafka to publish to.")],
    topic: Annotated[str, typer.Option(metavar="NAME", help="The topic; it is made where it does not exist.")],
    load: Annotated[
        str, typer.Option(metavar="LOAD", help="When events are due; `list loads` shows the spellings.")
    ] = ("constant:500/s"),
    events: Annotated[
        str | None, typer.Option(metavar="N", help="Events, like 7500, 50k or 3M. Either this or --for.")
    ] = None,
    for_: Annotated[str | None, typer.Option("--for", metavar="TIME", help="Time, like 30s or 2min.")] = None,
    seed: Seed = 1,
    partitions: Annotated[
        int | None, typer.Option(metavar="N", help="Partitions of a topic that is made (default 2).")
    ] = None,
    data: Annotated[
        str | None, typer.Option(metavar="FILE", help="Replay a recorded file of the stream instead of generating.")
    ] = None,
    kafka_config: KafkaConfig = None,
    as_json: AsJson = False,
) -> None:
    """Publish a stream's events under a load, and say at what rate and how late they left."""
    from streamgauge.cli.stdout import reserved_stdout
    from streamgauge.model.units import parse_count, parse_duration_s

    with reserved_stdout():
        from streamgauge.lab.publishing import PublishRequest

        request = PublishRequest(
            stream=stream,
            load=load,
            kafka=kafka,
            topic=topic,
            events=None if events is None else parse_count(events),
            for_s=None if for_ is None else parse_duration_s(for_),
            seed=seed,
            partitions=partitions,
            data=data,
            kafka_config=kafka_config,
        )
        result = _with_bar(request)
    if as_json:
        print(json.dumps(_as_json(request, result)))
    else:
        _print_result(result)
    raise typer.Exit(EXIT_OK if result.kept_up else EXIT_INVALID)


def _with_bar(request: PublishRequest) -> PublisherResult:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    from streamgauge.lab.publishing import publish as publish_events

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(escape(f"{request.stream} → {request.topic}"), total=None)
        return publish_events(
            request,
            lambda done, total: bar.update(task, completed=done, total=total),
            lambda text: console.print(escape(text), highlight=False),
        )


def _as_json(request: PublishRequest, result: PublisherResult) -> dict[str, Any]:
    return {
        "schema": 1,
        "stream": request.stream,
        "topic": request.topic,
        "load": request.load,
        "seed": request.seed,
        "events": result.events,
        "bytes": result.bytes,
        "events_per_s": result.achieved_rate_per_s,
        "kept_up": result.kept_up,
        "kept_up_reason": result.kept_up_reason,
        "lateness_ms": _lateness(result),
    }


def _lateness(result: PublisherResult) -> dict[str, float | None]:
    return {
        "mean": result.lateness_mean_ms,
        "p50": result.lateness_p50_ms,
        "p99": result.lateness_p99_ms,
        "max": result.lateness_max_ms,
    }


def _print_result(result: PublisherResult) -> None:
    from streamgauge.model.units import size
    from streamgauge.report.words import mark, milliseconds, per_second

    print(f"published {result.events:,} events ({size(result.bytes)}) at {per_second(result.achieved_rate_per_s)}")
    lateness = ", ".join(
        f"{name} {milliseconds(value)}" for name, value in _lateness(result).items() if value is not None
    )
    if lateness:
        print(f"lateness: {lateness}")
    print(f"{mark(result.kept_up)} {result.kept_up_reason or 'the publisher kept its schedule'}")


VERB = Verb(
    name="publish",
    function=publish,
    examples=(
        "streamgauge publish aol-search --kafka localhost:9092 --topic searches --for 30s",
        "streamgauge publish aol-search --kafka localhost:9092 --topic searches --load preloaded --events 3M",
        "streamgauge publish packet-flows --kafka localhost:9092 --topic flows --load ramp:500/s-20000/s --for 2min",
    ),
)
