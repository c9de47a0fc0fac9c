"""web-log (BO2): the log of a web server, a line of about 85 bytes in the Common Log Format for each request.

`--data FILE` replays a log in that format, gzip too. The World Cup 98 logs are read as the archive's own tool
`recreate` writes them: the host is a number there, which becomes an address (see `common_log`). A line in another
format is published without its fields, as a malformed event; times are written in UTC.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamgauge.model.stream import Source, Stream
from streamgauge.model.wire import Field, FieldType, Template
from streamgauge.streams.common_log import LINE, common_log_times, read_common_log
from streamgauge.streams.randomness import field, lookup_table, mix, random_bits
from streamgauge.streams.recorded import RecordedEvents, looped
from streamgauge.streams.schema import arrow_schema, column
from streamgauge.streams.visitors import (
    CLIENT_WIDTH,
    PAGE_COUNT,
    PAGE_WIDTH,
    client_addresses,
    clients,
    page_paths,
    pages,
    visit_seconds,
)

FIELDS = (
    Field("host", FieldType.STRING, "address of the client"),
    Field("ident", FieldType.STRING, "what the client's machine says of the user", optional=True),
    Field("user", FieldType.STRING, "name under which the user signed in", optional=True),
    Field("time", FieldType.STRING, "when the request came, like 30/Apr/1998:21:30:17 +0000"),
    Field("request", FieldType.STRING, "method, path and protocol"),
    Field("status", FieldType.LONG, "status code of the answer"),
    Field("bytes", FieldType.LONG, "bytes of the answer, if it had any", optional=True),
)

_STATUS_CHANCES = {200: 0.815, 304: 0.155, 206: 0.012, 302: 0.006, 404: 0.008, 403: 0.001, 400: 0.001, 500: 0.002}
_WITHOUT_BYTES = (304,)
_STATUS_WIDTH = 12
_USERS = ("anna", "bo", "chen", "dora")
_MEAN_BYTES_BITS = 17


@dataclass(frozen=True)
class _Tables:
    """What events are looked up in."""

    statuses: npt.NDArray[np.int64]
    requests: pa.StringArray
    page_bytes: npt.NDArray[np.int64]
    users: pa.StringArray
    """The names, and a missing one after the last."""


@cache
def _tables() -> _Tables:
    codes = np.array(list(_STATUS_CHANCES), np.int64)
    spread = mix(np.arange(1, PAGE_COUNT + 1, dtype=np.uint64))
    # Two fields multiplied: most pages are small, a few are large.
    page_bytes = 64 + (field(spread, 0, _MEAN_BYTES_BITS) * field(spread, 20, 10) >> 10)
    return _Tables(
        statuses=codes[lookup_table(list(_STATUS_CHANCES.values()), _STATUS_WIDTH)],
        requests=pa.array([f"GET {path} HTTP/1.0" for path in page_paths()], pa.string()),
        page_bytes=page_bytes,
        users=pa.array([*_USERS, None], pa.string()),
    )


@dataclass(frozen=True)
class SyntheticRequests:
    """Generated requests: each is a function of seed and index alone."""

    seed: int

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        tables = _tables()
        bits = random_bits(self.seed, 0, start, count)
        page = pages()[field(bits, CLIENT_WIDTH, PAGE_WIDTH)]
        status = tables.statuses[field(bits, 32, _STATUS_WIDTH)]
        user = np.minimum(field(bits, 44, 10), len(_USERS))
        return pa.RecordBatch.from_arrays(
            [
                client_addresses().take(column(clients()[field(bits, 0, CLIENT_WIDTH)])),
                pa.nulls(count, pa.string()),
                tables.users.take(column(user)),
                common_log_times(visit_seconds(start, count, field(bits, 54, 8))),
                tables.requests.take(column(page)),
                column(status),
                column(tables.page_bytes[page], valid=~np.isin(status, _WITHOUT_BYTES)),
            ],
            schema=arrow_schema(FIELDS),
        )


@dataclass(frozen=True)
class RecordedRequests:
    """The requests of a log file, again and again, with a continuous timeline."""

    events: RecordedEvents

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        block = self.events.block(start, count)
        place = block.schema.get_field_index("time")
        instants = block.column(place).cast(pa.int64())
        known = instants.is_valid().to_numpy(zero_copy_only=False)
        texts = common_log_times(instants.fill_null(0).to_numpy())
        times = texts if known.all() else texts.take(pa.array(np.arange(count), mask=~known))
        columns = [times if position == place else values for position, values in enumerate(block.columns)]
        return pa.RecordBatch.from_arrays(columns, schema=arrow_schema(FIELDS))


def _recorded(path: Path) -> Source:
    return RecordedRequests(looped(read_common_log(path)))


STREAM = Stream(
    name="web-log",
    about="The log of a web server in the Common Log Format: who asked for what, when, and what was answered",
    fields=FIELDS,
    wire=Template(LINE),
    synthetic=SyntheticRequests,
    recorded=_recorded,
    papers=("BO2", "BO19"),
)
