"""What changes something stored; the guard has checked token and origin before."""

from __future__ import annotations

import json
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from streamgauge.dashboard.pages import reader
from streamgauge.model.errors import UserError
from streamgauge.store import notes_of, write_notes


async def write_note(request: Request) -> Response:
    """Replace a run's tags and note."""
    given = await sent(request)
    notes = notes_of(given.get("tags", []), given.get("note", ""))
    store, name = reader(request).store, request.path_params["run"]
    async with request.app.state.writing:
        await run_in_threadpool(lambda: write_notes(store.folder(name), notes))
    return JSONResponse({"tags": notes.tags, "note": notes.note})


async def delete(request: Request) -> Response:
    """Remove a run, whose name must be said again in `confirm`."""
    given = await sent(request)
    store, name = reader(request).store, request.path_params["run"]
    if given.get("confirm") != name:
        raise UserError("the removal is not confirmed", "Say the run's name again in `confirm`")
    async with request.app.state.writing:
        await run_in_threadpool(store.delete, name)
    return JSONResponse({"deleted": name})


async def sent(request: Request) -> dict[str, Any]:
    """The JSON object that a request brings."""
    try:
        found = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise UserError("the request brings no JSON") from None
    if not isinstance(found, dict):
        raise UserError("the request brings no JSON object")
    return found
