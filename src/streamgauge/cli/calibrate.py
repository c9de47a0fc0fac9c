"""`streamgauge calibrate`: both paradigms of an application, measured once for predictions and for a scheduler."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Annotated

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
)
from streamgauge.cli.verb import Verb


def calibrate(
    context: typer.Context,
    application: Annotated[
        str, typer.Argument(metavar="APPLICATION", help="A name, or the path of your own .py file.")
    ],
    rate: Annotated[str, typer.Option(metavar="RATE", help="The low rate, at which nothing waits.")] = "500/s",
    for_: Annotated[str, typer.Option("--for", metavar="TIME", help="Measured time at each rate.")] = "15s",
    events: Annotated[str, typer.Option(metavar="N", help="Events of a drain on every input.")] = "300k",
    seed: Seed = 1,
    param: Parameters = None,
    setting: Settings = None,
    partitions: Partitions = None,
    place: PlaceName = "local",
    kafka: Kafka = None,
    kafka_config: KafkaConfig = None,
    out: RunsFolder = Path("runs"),
    timeout: Annotated[str, typer.Option(metavar="TIME", help="Longest time that one trial may take.")] = "10min",
    as_json: AsJson = False,
) -> None:
    """Measure an application in both paradigms: what `whatif` predicts from, and spark-adaptive may start with."""
    from streamgauge.cli.progress import progress
    from streamgauge.cli.stdout import reserved_stdout
    from streamgauge.cli.values import pairs
    from streamgauge.model.units import parse_count, parse_duration_s, parse_rate_per_s

    with reserved_stdout():
        from streamgauge.lab.calibrate import CalibrateRequest
        from streamgauge.lab.calibrate import calibrate as measure
        from streamgauge.report import write_report
        from streamgauge.store import StoredRun

        request = CalibrateRequest(
            application=application,
            rate_per_s=parse_rate_per_s(rate),
            for_s=parse_duration_s(for_),
            events=parse_count(events),
            seed=seed,
            partitions=partitions,
            place=place,
            parameters=pairs("--param", param or []),
            settings=pairs("--set", setting or []),
            kafka=kafka,
            kafka_config=kafka_config,
            out=out,
            timeout_s=parse_duration_s(timeout),
            command=shlex.join(["streamgauge", *(context.obj or [])]),
        )
        with progress() as shown:
            done = measure(request, shown)
        page = write_report(StoredRun.open(done.path))
    if as_json:
        print(json.dumps({"run": done.run, **done.calibration.as_dict()}, allow_nan=False))
        return
    from streamgauge.report.whatif import print_calibration

    print_calibration(done.calibration, f"run {done.run}")
    print(page)


VERB = Verb(
    name="calibrate",
    function=calibrate,
    examples=(
        "streamgauge calibrate wordcount",
        "streamgauge calibrate ad-analytics --events 500k --partitions 2 --json",
        "streamgauge whatif wordcount --rates 100..100000",
        "streamgauge run wordcount -e spark-adaptive --set calibration=RUN --load steps:500/s:20s:60k/s:10s:500/s",
    ),
)
