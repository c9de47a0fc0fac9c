"""The Common Log Format of web servers: the time in it, and a reader of log files.

`host ident user [day/month/year:hour:minute:second zone] "request" status bytes`, a hyphen for what is not known. What
stands behind the bytes (referrer and browser of the combined format) is passed over.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from streamgauge.model.errors import UserError
from streamgauge.model.wire import Field, FieldType
from streamgauge.streams.recorded import file_content
from streamgauge.streams.schema import arrow_schema, column
from streamgauge.streams.tables.ip_places import address_text, client_addresses_of

LINE = '{host} {ident} {user} [{time}] "{request}" {status} {bytes}'

RECORDED_FIELDS = (
    Field("host", FieldType.STRING),
    Field("ident", FieldType.STRING),
    Field("user", FieldType.STRING),
    Field("time", FieldType.TIMESTAMP),
    Field("request", FieldType.STRING),
    Field("status", FieldType.LONG),
    Field("bytes", FieldType.LONG),
)
"""What `read_common_log` gives: the time as an instant, so that a replay can shift it."""

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_PATTERN = (
    r"^(?P<host>\S+) (?P<ident>\S+) (?P<user>[^\[]+?) "
    r"\[(?P<day>\d{2})/(?P<month>[A-Z][a-z]{2})/(?P<year>\d{4}):(?P<hour>\d{2}):(?P<minute>\d{2}):(?P<second>\d{2})"
    r" (?P<sign>[+-])(?P<zone_hour>\d{2})(?P<zone_minute>\d{2})\] "
    r'"(?P<request>.*?)" (?P<status>\d{3}) (?P<bytes>\d+|-)(?: .*)?$'
)
_MOST_STRANGE_LINES = 0.1


def common_log_times(seconds: npt.NDArray[np.int64]) -> pa.StringArray:
    """Each instant, in seconds since 1970, as `30/Apr/1998:21:30:17 +0000`."""
    minutes, seconds_of_minute = np.divmod(seconds, 60)
    distinct, places = np.unique(minutes, return_inverse=True)
    minute_texts = pa.array([_minute_text(int(minute)) for minute in distinct], pa.string())
    second_texts = pa.array([f"{second:02d} +0000" for second in range(60)], pa.string())
    return pc.binary_join_element_wise(
        minute_texts.take(column(places)), second_texts.take(column(seconds_of_minute)), ""
    )


def _minute_text(minute: int) -> str:
    days, minute_of_day = divmod(minute, 1440)
    year, month, day = str(np.datetime64(days, "D")).split("-")
    return f"{day}/{_MONTHS[int(month) - 1]}/{year}:{minute_of_day // 60:02d}:{minute_of_day % 60:02d}:"


def read_common_log(path: Path) -> pa.Table:
    """The lines of a log as RECORDED_FIELDS; a line in another format is an event that lacks all of them.

    Hosts that are bare numbers, as the World Cup 98 logs have them in place of addresses, become addresses in the
    generated ranges of ip-places: each number always the same one, and no two alike.
    """
    lines = _lines(path)
    found = pc.extract_regex(lines, _PATTERN)
    if found.null_count > _MOST_STRANGE_LINES * len(lines):
        first = int(pc.index(pc.is_null(found), True).as_py()) + 1
        raise UserError(
            f"{path}, line {first} is not in the Common Log Format, like {found.null_count} of its {len(lines)} lines",
            f"Each line looks like {LINE}",
        )
    texts = {name: pc.struct_field(found, name) for name in (f.name for f in found.type)}
    columns = [
        _addresses(_known(texts["host"])),
        _known(texts["ident"]),
        _known(texts["user"]),
        _instants(texts),
        # What would end the field too early is written as in a URL.
        pc.replace_substring(_known(texts["request"]), '" ', "%22 "),
        texts["status"].cast(pa.int64()),
        _known(texts["bytes"]).cast(pa.int64()),
    ]
    return pa.table(columns, schema=arrow_schema(RECORDED_FIELDS))


def _lines(path: Path) -> pa.StringArray:
    content = file_content(path)
    # Requests hold bytes of any kind: what is not UTF-8 in a line is replaced, and so are control characters.
    lines = [line for line in content.decode("utf-8", "replace").split("\n") if line.strip()]
    if not lines:
        raise UserError(f"{path} is empty", "Give a log of a web server")
    return pc.replace_substring_regex(pc.utf8_rtrim(pa.array(lines, pa.string()), "\r"), r"[\x00-\x1f]", "?")


def _known(texts: pa.StringArray) -> pa.StringArray:
    return pc.if_else(pc.equal(texts, "-"), pa.scalar(None, pa.string()), texts)


def _instants(texts: dict[str, pa.StringArray]) -> pa.Array:
    month = pc.index_in(texts["month"], pa.array(_MONTHS))
    valid = month.is_valid().to_numpy(zero_copy_only=False)
    part = {
        name: pc.fill_null(texts[name].cast(pa.int64()), 0).to_numpy()
        for name in ("day", "year", "hour", "minute", "second", "zone_hour", "zone_minute")
    }
    months = (part["year"] - 1970) * 12 + pc.fill_null(month, 0).to_numpy()
    days = months.astype("datetime64[M]").astype("datetime64[D]").astype(np.int64) + part["day"] - 1
    ahead = np.where(pc.equal(texts["sign"], "-").fill_null(False).to_numpy(zero_copy_only=False), -60, 60)
    zone_s = (part["zone_hour"] * 60 + part["zone_minute"]) * ahead
    seconds = days * 86_400 + part["hour"] * 3600 + part["minute"] * 60 + part["second"] - zone_s
    return pa.array(seconds, mask=~valid).cast(pa.timestamp("s"))


def _addresses(hosts: pa.StringArray) -> pa.StringArray:
    """Hosts with bare numbers turned into addresses."""
    encoded = hosts.dictionary_encode()
    names = encoded.dictionary
    bare = pc.match_substring_regex(names, "^[0-9]{1,9}$")
    addresses = client_addresses_of(names.filter(bare).cast(pa.int64()).to_numpy())
    texts = pa.array([address_text(address) for address in addresses.tolist()], pa.string())
    return pc.replace_with_mask(names, bare, texts).take(encoded.indices)
