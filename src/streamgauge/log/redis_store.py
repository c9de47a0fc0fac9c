"""Redis, or Valkey, as the place of results: every row in a stream that is read back, the latest of each key in a hash.

What makes an output unique is kept in a set beside the stream, so that a row that is written again is turned away.

A place is a name, as a topic's is. The stream has that name; what the server stamps its entries with stands for the
log's append time, so latencies are right where Redis and Kafka share a clock. The hash of a key is called `place:key`,
and a person reads the key's values and `time_updated` in it.
"""

from __future__ import annotations

import functools
import json
import time
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from streamgauge.log.identity import identity
from streamgauge.log.reading import BATCH_RECORDS, RECORDS_SCHEMA, origin_columns
from streamgauge.model.errors import LogError, UserError
from streamgauge.model.trial import without_password

SCHEMES = {"redis": "redis", "rediss": "rediss", "valkey": "redis", "valkeys": "rediss"}
"""Spelling → what the client calls it; the second of each pair is over TLS."""

_WAY_OUT = "Write it like redis://localhost:6379/0"
_CONNECT_S = 5.0
_ANSWER_S = 60.0
_ROWS_PER_ROUND_TRIP = 1_000
_KEYS_PER_SCAN = 1_000
_WRITTEN = "#written"
"""After the name of a place: the set of what was written there."""
_ADD_ONCE = """
if redis.call('SADD', KEYS[2], ARGV[1]) == 0 then return 0 end
local fields = tonumber(ARGV[2])
redis.call('XADD', KEYS[1], '*', unpack(ARGV, 3, 2 + fields))
if #ARGV > 2 + fields then redis.call('HSET', KEYS[3], unpack(ARGV, 3 + fields)) end
return 1
"""
"""Row by row in one step of the server: identity, number of the stream's fields, these, and those of the key's hash."""


@dataclass(frozen=True, eq=False)
class RedisStore:
    """A Redis server by its URL; nothing is opened before the first question."""

    url: str

    def __post_init__(self) -> None:
        _check_url(self.url)

    @property
    def outputs(self) -> Literal["exactly-once", "at-least-once"]:
        """An output that is written again is turned away."""
        return "exactly-once"

    @property
    def shown(self) -> str:
        """The URL without its user and password."""
        return without_password(self.url)

    def check(self) -> None:
        """Return when the server takes a stream's entry, or raise a LogError within five seconds or so."""
        probe = f"streamgauge:probe:{uuid.uuid4().hex}"
        with self._client.pipeline(transaction=False) as commands:
            commands.execute_command("XADD", probe, "*", "probe", "")
            commands.execute_command("UNLINK", probe)
            self._answers(commands.execute)

    def make(self, place: str) -> None:
        """Make sure that nothing is there: a place comes into being when it is first written."""
        self.delete([place])

    def count(self, place: str) -> int:
        """How many rows have been written there."""
        return int(self._answers(lambda: self._client.xlen(place)))

    def write(self, place: str, rows: pa.RecordBatch, hashed: bool = False, text_column: str | None = None) -> int:
        """Append rows (key, value, origin; all texts, key and origin may be null) and give their number.

        With `hashed` the hash of each row's key gets the row's values: the members of the JSON object that the value
        is, or the value itself as `text_column`. What is there already, as after a failure, stays as it is.
        """
        keys, values, origins = (rows.column(name).to_pylist() for name in ("key", "value", "origin"))
        for start in range(0, len(values), _ROWS_PER_ROUND_TRIP):
            part = slice(start, start + _ROWS_PER_ROUND_TRIP)
            updated = str(time.time_ns() // 1_000_000)
            with self._client.pipeline(transaction=False) as commands:
                for key, value, origin in zip(keys[part], values[part], origins[part], strict=True):
                    fields = ["value", value, "origin", origin or "", *(() if key is None else ("key", key))]
                    arguments = [identity(key, value, origin), len(fields), *fields]
                    if hashed and key is not None:
                        arguments += [*_hash_fields(value, text_column), "time_updated", updated]
                    names = [place, place + _WRITTEN, place if key is None else hash_name(place, key)]
                    self._add_once(keys=names, args=arguments, client=commands)
                self._answers(commands.execute)
        return len(values)

    def read_records(self, place: str) -> Iterator[pa.RecordBatch]:
        """Every row that is there now, as `log.reading.read_records` gives a topic's: partition 0, in order."""
        remaining = self.count(place)
        first_offset, after = 0, "-"
        while remaining > 0:
            entries = self._answers(functools.partial(self._entries, place, after, min(remaining, BATCH_RECORDS)))
            if not entries:
                raise LogError(f"{remaining} rows of '{place}' vanished from {self.shown}", "Let nobody else trim it")
            yield self._batch(place, entries, first_offset)
            after = f"({entries[-1][0].decode()}"
            first_offset += len(entries)
            remaining -= len(entries)

    def delete(self, places: Iterable[str]) -> None:
        """Delete the streams and hashes of these places; one that does not exist is no error."""
        for place in places:
            self._answers(functools.partial(self._delete, place))

    def _entries(self, place: str, start: str, count: int) -> list[tuple[bytes, dict[bytes, bytes]]]:
        found: list[tuple[bytes, dict[bytes, bytes]]] = self._client.xrange(place, min=start, count=count)
        return found

    def _batch(self, place: str, entries: list[tuple[bytes, dict[bytes, bytes]]], first_offset: int) -> pa.RecordBatch:
        fields = [fields for _, fields in entries]
        try:
            origins = origin_columns([each.get(b"origin", b"") for each in fields])
        except pa.ArrowInvalid as error:
            raise LogError(f"'{place}' at {self.shown} cannot be read back ({error})") from None
        columns: list[pa.Array] = [
            pa.array(np.zeros(len(entries), np.int32)),
            pa.array(np.arange(first_offset, first_offset + len(entries), dtype=np.int64)),
            pa.array([int(number.partition(b"-")[0]) for number, _ in entries], pa.int64()),
            pa.array([each.get(b"key") for each in fields], pa.binary()),
            pa.array([each.get(b"value") for each in fields], pa.binary()),
            *origins,
        ]
        return pa.RecordBatch.from_arrays(columns, schema=RECORDS_SCHEMA)

    def _delete(self, place: str) -> None:
        self._client.unlink(place, place + _WRITTEN)
        pattern = "".join(f"\\{c}" if c in "*?[]\\^-" else c for c in place) + ":*"
        names: list[bytes] = []
        for name in self._client.scan_iter(match=pattern, count=_KEYS_PER_SCAN):
            names.append(name)
            if len(names) == _KEYS_PER_SCAN:
                self._client.unlink(*names)
                names.clear()
        if names:
            self._client.unlink(*names)

    @functools.cached_property
    def _add_once(self) -> Any:
        return self._client.register_script(_ADD_ONCE)

    @functools.cached_property
    def _client(self) -> Any:
        scheme, _, rest = self.url.partition("://")
        # No retries of the client's own: a repeated pipeline would append its rows twice, and nobody would be told.
        return redis.Redis.from_url(
            f"{SCHEMES[scheme]}://{rest}",
            socket_connect_timeout=_CONNECT_S,
            socket_timeout=_ANSWER_S,
            retry=Retry(NoBackoff(), 0),
        )

    def _answers(self, ask: Any) -> Any:
        """What the server answers, with its refusals and its silence as LogErrors of one line."""
        try:
            return ask()
        except (redis.AuthenticationError, redis.exceptions.AuthorizationError) as error:
            raise LogError(
                f"Redis at {self.shown} does not know the user ({error})", "Check user and password"
            ) from None
        except (redis.ConnectionError, redis.TimeoutError, OSError) as error:
            raise LogError(
                f"no Redis answers at {self.shown} ({_first_line(error)})",
                "Check the address and that the server runs",
            ) from None
        except redis.RedisError as error:
            raise LogError(
                f"Redis at {self.shown} refuses ({_first_line(error)})",
                "It must be 5.0 or later, writable, and have memory for all results",
            ) from None


def hash_name(place: str, key: str) -> str:
    """The name of a key's hash; a key of several columns is a JSON object, and its values stand between colons.

    A colon in any but the last is written as %3A, so that no two keys share a name.
    """
    if not key.startswith("{"):
        return f"{place}:{key}"
    try:
        *head, last = map(_text, json.loads(key).values())
    except ValueError:
        return f"{place}:{key}"
    return ":".join([place, *(part.replace("%", "%25").replace(":", "%3A") for part in head), last])


def _hash_fields(value: str, text_column: str | None) -> list[str]:
    if text_column is not None:
        return [text_column, value]
    return [text for name, member in json.loads(value).items() for text in (name, _text(member))]


def _text(value: Any) -> str:
    """A member as a person reads it: texts as they are, nothing for null, anything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in SCHEMES and bool(parts.hostname) and (parts.port is None or parts.port > 0)
        database = parts.path.strip("/")
    except ValueError:
        raise UserError("the URL of the sink has a port that is no number", _WAY_OUT) from None
    if not usable:
        raise UserError(f"'{parts.scheme or url}' is no store that results can be written to", _WAY_OUT)
    if database and not database.isdigit():
        raise UserError(f"'{database}' is no database of Redis, which numbers them from 0", _WAY_OUT)


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
