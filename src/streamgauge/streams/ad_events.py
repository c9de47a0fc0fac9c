"""ad-events (MA1): what users did with ads, the JSON events of the Yahoo Streaming Benchmark of about 250 bytes.

As in the benchmark's generator, every member is drawn evenly from its values: a thousand ads, a hundred users, a
hundred pages, five kinds of ads, three kinds of events, one address; times are up to 50 ms early or late, and one event
in about 100,000 is up to a minute late. Event time goes on by one millisecond per event, whatever the load.

`--data FILE` replays a file of such events, a JSON object per line, as the generator writes `kafka-json.txt`; the time
may be a text, as there, or a number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamgauge.model.errors import UserError
from streamgauge.model.stream import Source, Stream
from streamgauge.model.wire import Field, FieldType, Json
from streamgauge.streams.identifiers import identifiers
from streamgauge.streams.randomness import field, random_bits
from streamgauge.streams.recorded import first_line, looped, read_events
from streamgauge.streams.schema import arrow_schema, column
from streamgauge.streams.tables.ad_campaigns import ads

FIELDS = (
    Field("user_id", FieldType.STRING, "who saw the ad"),
    Field("page_id", FieldType.STRING, "the page that it stood on"),
    Field("ad_id", FieldType.STRING, "the ad"),
    Field("ad_type", FieldType.STRING, "banner, modal, sponsored-search, mail or mobile"),
    Field("event_type", FieldType.STRING, "view, click or purchase"),
    Field("event_time", FieldType.LONG, "when it happened, in milliseconds since 1970"),
    Field("ip_address", FieldType.STRING, "where the user was"),
)
AD_TYPES = ("banner", "modal", "sponsored-search", "mail", "mobile")
EVENT_TYPES = ("view", "click", "purchase")
TIME = "event_time"

_FIRST_MS = 1_445_385_600_000
"""2015-10-21 00:00:00 UTC."""
_USER_COUNT = _PAGE_COUNT = 100
_ADDRESS = "1.2.3.4"
_SKEW_MS = 50
_MOST_LATE_MS = 60_000
_LATE_WIDTH = 17
"""One event in 2**17 is late: the power of two next to the benchmark's one in 100,000."""


@cache
def _texts() -> dict[str, pa.StringArray]:
    values = {
        "user_id": identifiers(lane=2, count=_USER_COUNT),
        "page_id": identifiers(lane=3, count=_PAGE_COUNT),
        "ad_id": ads(),
        "ad_type": AD_TYPES,
        "event_type": EVENT_TYPES,
    }
    return {name: pa.array(each, pa.string()) for name, each in values.items()}


@dataclass(frozen=True)
class SyntheticAdEvents:
    """Generated ad events: each is a function of seed and index alone."""

    seed: int

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        bits, time_bits = (random_bits(self.seed, lane, start, count) for lane in (0, 1))
        columns: dict[str, pa.Array] = {}
        shift = 0
        for name, values in _texts().items():
            width = 12 if name != "ad_id" else 16
            columns[name] = values.take(column(field(bits, shift, width) * len(values) >> width))
            shift += width
        columns[TIME] = column(_times_ms(start, count, time_bits))
        columns["ip_address"] = pa.repeat(pa.scalar(_ADDRESS), count)
        return pa.RecordBatch.from_arrays([columns[f.name] for f in FIELDS], schema=arrow_schema(FIELDS))


def _times_ms(start: int, count: int, bits: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    skew = _SKEW_MS - (field(bits, 0, 11) * (2 * _SKEW_MS) >> 11)
    late = np.where(field(bits, 11, _LATE_WIDTH) == 0, field(bits, 28, 16) * _MOST_LATE_MS >> 16, 0)
    return _FIRST_MS + np.arange(start, start + count, dtype=np.int64) + skew - late


def _recorded(path: Path) -> Source:
    kind = FieldType.STRING if _time_is_text(path) else FieldType.LONG
    events = read_events(path, [replace(f, type=kind) if f.name == TIME else f for f in FIELDS], Json())
    position = events.schema.get_field_index(TIME)
    try:
        times = events[TIME].cast(pa.int64())
    except pa.ArrowInvalid as error:
        raise UserError(f"{path}: {str(error).splitlines()[0]}", f"{TIME} is milliseconds since 1970") from None
    return looped(events.set_column(position, TIME, times), ms_fields=(TIME,))


def _time_is_text(path: Path) -> bool:
    try:
        return re.search(rf'"{TIME}"\s*:\s*"', first_line(path)) is not None
    except (OSError, EOFError):
        return False  # Reading the events will say what is wrong.


STREAM = Stream(
    name="ad-events",
    about="What users did with ads: views, clicks and purchases",
    fields=FIELDS,
    wire=Json(),
    synthetic=SyntheticAdEvents,
    recorded=_recorded,
    papers=("MA1", "BO19"),
)
