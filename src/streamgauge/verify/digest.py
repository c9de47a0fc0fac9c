"""A short name of a whole answer: equal for equal answers, whatever the order, the repeats and the engine."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

import duckdb

from streamgauge.model.application import LatestPerKey, Matching
from streamgauge.store.tables import column_types, columns, one_row, quoted
from streamgauge.verify.latest_per_key import POSITION, value_columns


def digests(connection: duckdb.DuckDBPyConnection, matching: Matching, *, repeated: bool) -> tuple[str, str]:
    """Digests of the answer in `outputs_seen` and of the one in `expected_answer`.

    Per event the answer is (event, values), each as often as it is expected and, where it is not, once; by key, the
    last value of each key. A value that is the expected one within the matching's tolerance counts as the expected
    one, so that rounding makes no other answer. `repeated` says that an output may have come too often.
    """
    types = column_types(connection, "expected_answer")
    answer = "select * from expected_answer"
    if isinstance(matching, LatestPerKey):
        named = {name: types[name] for name in (*matching.key, *matching.values)}
        return _digest(connection, _last_values(connection, matching), named), _digest(connection, answer, named)
    named = {"partition": "INTEGER", "offset": "BIGINT", **{name: types[name] for name in matching.values}}
    listed = "".join(f", {quoted(name)}" for name in matching.values)
    seen = f'select origin_partition as "partition", origin_offset as "offset"{listed} from outputs_seen'
    copies = answer if repeated else None
    return _digest(connection, seen, named, copies), _digest(connection, answer, named)


def together(by_output: Mapping[str, str]) -> str:
    """One digest of several outputs' digests; of one output, its own."""
    if len(by_output) == 1:
        return next(iter(by_output.values()))
    return _hex(f"{stage}={digest}" for stage, digest in sorted(by_output.items())) if by_output else ""


def _last_values(connection: duckdb.DuckDBPyConnection, matching: LatestPerKey) -> str:
    """SQL: each key with its last value, or the expected one that this is the same as."""
    values = value_columns(connection, matching)
    last = "".join(f", arg_max_null({quoted(v.name)}, {POSITION}) as {quoted(v.name)}" for v in values)
    same_key = " and ".join(f"o.{quoted(name)} is not distinct from e.{quoted(name)}" for name in matching.key)
    chosen = "".join(
        f", case when e.__known and {v.same('o.' + quoted(v.name), 'e.' + quoted(v.name))}"
        f" then e.{quoted(v.name)} else o.{quoted(v.name)} end as {quoted(v.name)}"
        for v in values
    )
    return f"""
        select {columns(matching.key, "o")}{chosen}
        from (select {columns(matching.key)}{last} from outputs_seen o group by {columns(matching.key)}) o
        left join (select *, true as __known from expected_answer) e on {same_key}
    """


def _digest(
    connection: duckdb.DuckDBPyConnection, rows: str, types: Mapping[str, str], at_most: str | None = None
) -> str:
    """Of rows in any order, by the sum of the MD5 of each one's text: in flat memory, and alike in every DuckDB.

    Where `at_most` is given, a row counts as often as it is in those rows too, and at least once.
    """
    hashed = _hashed(rows, types)
    if at_most is not None:
        hashed = f"""
            select low, high, least(s.copies, greatest(coalesce(e.copies, 1), 1)) as copies
            from (select low, high, sum(copies) as copies from ({hashed}) group by low, high) s
            left join (select low, high, sum(copies) as copies from ({_hashed(at_most, types)}) group by low, high) e
              using (low, high)
        """
    found = one_row(connection, f"select sum(copies), sum(low * copies), sum(high * copies) from ({hashed})")
    return _hex([*(f"{name} {kind}" for name, kind in types.items()), *map(str, found)])


def _hashed(rows: str, types: Mapping[str, str]) -> str:
    packed = ", ".join(f"{quoted(name)} := {_plain(name, type_name)}" for name, type_name in types.items())
    return f"""
        select md5_number_lower(__text)::hugeint as low, md5_number_upper(__text)::hugeint as high, 1 as copies
        from (select to_json(struct_pack({packed}))::varchar as __text from ({rows}))
    """


def _plain(name: str, type_name: str) -> str:
    """SQL for a column in its type; adding 0 turns -0.0, which equals 0.0, into it."""
    zero = " + 0" if type_name in ("DOUBLE", "FLOAT") else ""
    return f"cast({quoted(name)} as {type_name}){zero}"


def _hex(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
