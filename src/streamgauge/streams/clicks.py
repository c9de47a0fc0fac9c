"""clicks (BO8): a clickstream of a web site as JSON objects of about 140 bytes.

A client has a key of its own unless it refuses to keep one. `--data FILE` replays JSON lines with these members, or a
log in the Common Log Format (the World Cup 98 logs too, see `web_log`): there the host is the address, the path of the
request the page, and the user's name, if any, the key.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.model.stream import Source, Stream
from streamgauge.model.wire import Field, FieldType, Json
from streamgauge.streams.common_log import read_common_log
from streamgauge.streams.randomness import field, mix, random_bits
from streamgauge.streams.recorded import first_line, looped, recorded_source
from streamgauge.streams.schema import arrow_schema, column
from streamgauge.streams.visitors import (
    CLIENT_COUNT,
    CLIENT_WIDTH,
    PAGE_WIDTH,
    client_addresses,
    clients,
    page_paths,
    pages,
    visit_seconds,
)
from streamgauge.streams.vocabulary import sites

FIELDS = (
    Field("ip", FieldType.STRING, "address of the client"),
    Field("url", FieldType.STRING, "address of the page"),
    Field("client_key", FieldType.STRING, "what the client is known by, if it keeps a key", optional=True),
    Field("time", FieldType.TIMESTAMP, "when the page was asked for"),
)
WIRE = Json()
_SHARE_WITHOUT_KEY = 0.1


@cache
def _client_keys() -> pa.StringArray:
    spread = mix(np.arange(1, CLIENT_COUNT + 1, dtype=np.uint64))
    refuses = field(spread, 0, 10) < _SHARE_WITHOUT_KEY * (1 << 10)
    keys = [None if without else f"{key:016x}" for key, without in zip(spread.tolist(), refuses, strict=True)]
    return pa.array(keys, pa.string())


@cache
def _urls() -> pa.StringArray:
    return pa.array([sites()[0] + path for path in page_paths()], pa.string())


@dataclass(frozen=True)
class SyntheticClicks:
    """Generated clicks: each is a function of seed and index alone."""

    seed: int

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        bits = random_bits(self.seed, 0, start, count)
        client = column(clients()[field(bits, 0, CLIENT_WIDTH)])
        return pa.RecordBatch.from_arrays(
            [
                client_addresses().take(client),
                _urls().take(column(pages()[field(bits, CLIENT_WIDTH, PAGE_WIDTH)])),
                _client_keys().take(client),
                column(visit_seconds(start, count, field(bits, 54, 8))).cast(pa.timestamp("s")),
            ],
            schema=arrow_schema(FIELDS),
        )


def _recorded(path: Path) -> Source:
    if path.is_file() and not _is_json(path):
        log = read_common_log(path)
        page = pc.struct_field(pc.extract_regex(log["request"], r"^\S+ (?P<page>\S+)"), "page")
        return looped(pa.table([log["host"], page, log["user"], log["time"]], schema=arrow_schema(FIELDS)))
    return recorded_source(path, FIELDS, WIRE)


def _is_json(path: Path) -> bool:
    try:
        return first_line(path).lstrip()[:1] in ("{", "")
    except (OSError, EOFError):
        return True


STREAM = Stream(
    name="clicks",
    about="A clickstream: which client asked for which page of a web site, and when",
    fields=FIELDS,
    wire=WIRE,
    synthetic=SyntheticClicks,
    recorded=_recorded,
    papers=("BO8", "BO19"),
)
