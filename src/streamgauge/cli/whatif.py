"""`streamgauge whatif`: what both paradigms would do at rates, or under a load, that were not run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from streamgauge.cli.options import AsJson, RunsFolder
from streamgauge.cli.verb import Verb
from streamgauge.model.errors import UserError

_RATES = "Write it like 100..100000, 1k..100k or 500,2k,40k"


def whatif(
    application: Annotated[str, typer.Argument(metavar="APPLICATION", help="The application that was calibrated.")],
    rates: Annotated[
        str, typer.Option(metavar="RATES", help="A range, spread evenly on a logarithmic axis, or rates with commas.")
    ] = "100..100000",
    steps: Annotated[int, typer.Option(metavar="N", help="Rates of a range.")] = 13,
    for_: Annotated[str, typer.Option("--for", metavar="TIME", help="How long a rate, or the load, lasts.")] = "30s",
    load: Annotated[
        str | None,
        typer.Option(metavar="LOAD", help="Also simulate this load, and the scheduler's decisions under it."),
    ] = None,
    calibration: Annotated[
        str | None,
        typer.Option(metavar="RUN|FILE", help="The calibration (default: the newest one of the application)."),
    ] = None,
    delta: Annotated[float, typer.Option(metavar="SHARE", help="δ of the hysteresis around L_switch.")] = 0.2,
    dwell: Annotated[str, typer.Option(metavar="TIME", help="Least time between two switches of a segment.")] = "2s",
    objective: Annotated[
        str | None, typer.Option(metavar="RULE", help="A latency to be kept, like 'p99<200ms': it biases the choice.")
    ] = None,
    out: RunsFolder = Path("runs"),
    to: Annotated[Path | None, typer.Option(metavar="FILE", help="Also write a page with the chart.")] = None,
    as_json: AsJson = False,
) -> None:
    """Predict latency of both paradigms and the switch point over the rate, from one calibration; nothing is run."""
    from streamgauge.load import parse_load
    from streamgauge.model.units import parse_duration_s
    from streamgauge.paradigms.calibration import read_calibration
    from streamgauge.paradigms.settings import Objective, SchedulerSettings
    from streamgauge.paradigms.whatif import crossing_per_s, held_against_points, predictions, simulate_load
    from streamgauge.report.page import write_page
    from streamgauge.report.whatif import Answer, answer_page, print_answer
    from streamgauge.store import RunStore

    for_s = parse_duration_s(for_)
    if for_s <= 0:
        raise UserError("--for must be more than 0", "Write it like 30s")
    settings = SchedulerSettings(
        delta=delta,
        dwell_s=parse_duration_s(dwell),
        objective=None if objective is None else Objective.parse(objective),
    )
    chosen = rates_of(rates, steps)
    found, where = read_calibration(_name(application), RunStore(out), calibration)
    answer = Answer(
        calibration=found,
        where=where,
        predictions=tuple(predictions(found, chosen, delta, for_s)),
        crossing_per_s=crossing_per_s(found, chosen[0], chosen[-1], for_s),
        held=tuple(held_against_points(found)),
        for_s=for_s,
        load=None if load is None else simulate_load(found, parse_load(load), for_s, settings),
    )
    page = None if to is None else write_page(answer_page(answer), to)
    if as_json:
        print(json.dumps(answer.as_dict(), allow_nan=False))
        return
    print_answer(answer)
    if page is not None:
        print(page)


def _name(application: str) -> str:
    """The name of the application; that of a file is only known to the file."""
    if not application.endswith(".py"):
        return application
    from streamgauge.applications import get_application

    return get_application(application).name


def rates_of(text: str, steps: int) -> list[float]:
    """'100..100000' as so many rates on a logarithmic axis, or '500,2k' as they stand, in order."""
    from streamgauge.paradigms.whatif import geometric

    low, dots, high = text.partition("..")
    given = [low, high] if dots else text.split(",")
    found = sorted({_rate(text, each) for each in given})
    if not dots:
        return found
    if len(found) < 2 or _rate(text, low) > _rate(text, high):
        raise UserError(f"--rates '{text}' is no range", _RATES)
    if steps < 2:
        raise UserError(f"--steps must be at least 2, not {steps}", "A range has two ends")
    return geometric(found[0], found[-1], steps)


def _rate(whole: str, text: str) -> float:
    from streamgauge.model.units import parse_rate_per_s

    each = text.strip()
    try:
        rate = parse_rate_per_s(each if "/" in each else f"{each}/s")
    except UserError:
        raise UserError(f"--rates '{whole}' names no rate", _RATES) from None
    if rate <= 0:
        raise UserError(f"--rates '{whole}' holds a rate of 0", _RATES)
    return rate


VERB = Verb(
    name="whatif",
    function=whatif,
    examples=(
        "streamgauge whatif wordcount --rates 100..100000",
        "streamgauge whatif wordcount --load bursts:400/s:38000:10s --for 60s",
        "streamgauge whatif ad-analytics --calibration calibration.json --rates 500,20k,40k --to whatif.html",
    ),
)
