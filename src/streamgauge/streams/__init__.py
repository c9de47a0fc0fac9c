"""Streams: one file each, with a vectorised generator, the wire format, and a reader of the real data set."""

from __future__ import annotations

import sys
from functools import cache

from streamgauge.model.errors import unknown
from streamgauge.model.registry import discover
from streamgauge.model.stream import Stream


@cache
def all_streams() -> dict[str, Stream]:
    """Every stream of this room by its name."""
    return discover(sys.modules[__name__], "STREAM")


def get_stream(name: str) -> Stream:
    """The stream of that name, or a UserError that names the nearest one."""
    streams = all_streams()
    if name not in streams:
        raise unknown("stream", name, list(streams))
    return streams[name]
