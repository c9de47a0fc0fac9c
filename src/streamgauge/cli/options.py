"""Options that several verbs share: one spelling, one help text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Seed = Annotated[int, typer.Option(metavar="N", help="Seed of the events: the same seed, the same bytes.")]
Parameters = Annotated[
    list[str] | None, typer.Option("--param", "-p", metavar="KEY=VALUE", help="A parameter of the application.")
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", "-s", metavar="KEY=VALUE", help="A setting of the engine or of Spark.")
]
Partitions = Annotated[int | None, typer.Option(metavar="N", help="Partitions of every topic (default 2).")]
PlaceName = Annotated[
    str,
    typer.Option(
        metavar="PLACE",
        help="Where the job is executed: local, local[N] with N task slots, cluster:N, an own cluster of N workers, or"
        " a cluster that is there: spark://HOST:PORT, yarn, k8s://URL, flink://HOST:PORT (docs/places.md).",
    ),
]
StopAfter = Annotated[str | None, typer.Option(metavar="STAGE", help="Cut the pipeline after this stage.")]
RecordedFiles = Annotated[
    list[str] | None,
    typer.Option(
        metavar="[NAME=]FILE", help="A recorded file for an input or a stored table instead of generated rows."
    ),
]
Faults = Annotated[
    list[str] | None,
    typer.Option(
        "--fault",
        metavar="FAULT",
        help="What goes wrong, like 'kill driver at 30s'; `list faults` shows more. Repeatable.",
    ),
]
NoRestart = Annotated[bool, typer.Option("--no-restart", help="Leave a job down that a fault has ended.")]
FailureTimeout = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="A node that is away for longer has failed for good (default 60s)."),
]
Kafka = Annotated[str | None, typer.Option(metavar="HOST:PORT", help="Use this Kafka instead of an embedded broker.")]
KafkaConfig = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Security settings, partitions, replication: key=value lines.")
]
RunsFolder = Annotated[Path, typer.Option(metavar="DIR", help="Folder of the stored runs.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print nothing but JSON on stdout.")]
