"""Starting a run from the page: the form, what planning says of it while one types, and start and stop."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from streamgauge.dashboard.changes import sent
from streamgauge.dashboard.commands import Commands, described
from streamgauge.dashboard.pages import reader
from streamgauge.dashboard.rendering import shown
from streamgauge.dashboard.wish import Checked, Wish, checked, elsewhere
from streamgauge.model.units import duration

PROBLEMS = 422


def form(request: Request) -> Response:
    """The form, with everything that can be chosen."""
    from streamgauge.applications import all_applications
    from streamgauge.engines import all_engines
    from streamgauge.faults import fault_verbs
    from streamgauge.lab.request import DEFAULT_ENGINES
    from streamgauge.load import load_kinds
    from streamgauge.model.fault import TARGETS

    engines = all_engines()
    gaps = {
        name: [n for n, engine in engines.items() if engine.gap(application) is not None]
        for name, application in all_applications().items()
    }
    return shown(
        request,
        "start.html",
        title="Start a run",
        applications=all_applications().values(),
        gaps=gaps,
        engines=engines.values(),
        default_engines=DEFAULT_ENGINES,
        loads=load_kinds().values(),
        verbs=fault_verbs().values(),
        targets=TARGETS,
    )


async def check(request: Request) -> Response:
    """What planning says of the form as it stands, and the command that it equals."""
    wish = Wish.of(await sent(request))
    found = await run_in_threadpool(checked, wish, _out(request))
    return JSONResponse(_told(wish, found, _out(request)))


async def start(request: Request) -> Response:
    """Start the command of the form; nothing is started where anything is wrong with it."""
    wish = Wish.of(await sent(request))
    found = await run_in_threadpool(checked, wish, _out(request))
    if found.problems:
        told = {"error": "; ".join(each.text for each in found.problems), **_told(wish, found, _out(request))}
        return JSONResponse(told, PROBLEMS)
    arguments = [*wish.arguments(), *elsewhere(_out(request))]
    started = await run_in_threadpool(_commands(request).start, arguments)
    return JSONResponse(described(started))


async def stop(request: Request) -> Response:
    """Stop a command that was started here."""
    given = await sent(request)
    stopped = await run_in_threadpool(_commands(request).stop, str(given.get("id", "")))
    return JSONResponse(described(stopped))


def control(request: Request) -> Response:
    """What was started from this page, whether more can be, and what is under way."""
    commands = _commands(request)
    told = [described(each) for each in commands.list()]
    return JSONResponse(
        {"refused": request.app.state.control.refused, "under_way": commands.under_way(), "started": told},
        headers={"cache-control": "no-store"},
    )


def _told(wish: Wish, found: Checked, out: Path) -> dict[str, Any]:
    trials = f"{found.trials} trial{'' if found.trials == 1 else 's'}"
    return {
        "command": wish.command(out),
        "problems": [asdict(each) for each in found.problems],
        "gaps": list(found.gaps),
        "figure": found.figure,
        "remark": found.remark,
        "expected": f"{trials}, in about {duration(found.expected_s)}" if found.trials else "",
    }


def _commands(request: Request) -> Commands:
    found: Commands = request.app.state.commands
    return found


def _out(request: Request) -> Path:
    return reader(request).store.root
