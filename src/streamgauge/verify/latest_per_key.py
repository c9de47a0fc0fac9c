"""Comparison where each key has a sequence of values that ends in the expected one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import duckdb

from streamgauge.model.application import LatestPerKey
from streamgauge.model.errors import UserError
from streamgauge.store.tables import column_types, columns, quoted
from streamgauge.verify.differences import EXAMPLES, Differences, first_row, in_words
from streamgauge.verify.phases import LOCATED

_INEXACT = ("DOUBLE", "FLOAT", "DECIMAL")
# Columns that begin with two underscores are ours; the others are the application's.
# A key lives in one output partition, so its outputs are in order by (partition, offset); 2^44 offsets fit beside it.
POSITION = '(o."partition"::bigint << 44) + o."offset"'
_RIGHT = "__key is not null and not __wrong"


@dataclass(frozen=True)
class ValueColumn:
    """One value column in SQL: how it moves, and what 'same' and 'before' mean for it."""

    name: str
    change: str
    tolerance: float | None
    """None where the type is exact: whole numbers, texts, instants."""

    def same(self, one: str, other: str) -> str:
        """SQL: the two are equal, within the tolerance, NULL equal to NULL."""
        equal = f"({one} is not distinct from {other})"
        if self.tolerance is None:
            return equal
        near = (
            f"abs({one} - {other}) <= {self.tolerance!r}::double * greatest(abs({one}), abs({other}))"
            f" and isfinite({one}::double) and isfinite({other}::double)"
        )
        return f"({equal} or coalesce({near}, false))"

    def before(self, one: str, other: str) -> str:
        """SQL: in the direction of change, `one` comes strictly before `other`; NULL comes before every value."""
        sign = "<" if self.change == "rises" else ">"
        passed = f"(({one} is null and {other} is not null) or coalesce({one} {sign} {other}, false))"
        return f"({passed} and not {self.same(one, other)})"

    def furthest_so_far(self) -> str:
        """SQL: the furthest value among the key's earlier outputs."""
        return f"{'max' if self.change == 'rises' else 'min'}({quoted(self.name)}) over earlier"


def value_columns(connection: duckdb.DuckDBPyConnection, matching: LatestPerKey) -> list[ValueColumn]:
    """The matching's value columns in the types of `expected_answer`."""
    types = column_types(connection, "expected_answer")
    return [
        ValueColumn(name, change, matching.relative_tolerance if types[name].startswith(_INEXACT) else None)
        for name, change in matching.values.items()
    ]


def compare(
    connection: duckdb.DuckDBPyConnection, matching: LatestPerKey, *, restarted: bool, located: bool = False
) -> Differences:
    """Differences of `outputs_seen` from `expected_answer`; each output counts under one word.

    Between the values on the way only those can be told wrong that lie beyond the final one in a column that rises or
    falls; a column of `any` is checked where the key's outputs end.
    """
    values = value_columns(connection, matching)
    _refuse_repeated_keys(connection, matching)
    _collect_seen(connection, matching, values)
    unexpected, wrong = first_row(
        connection, "select count(*) filter (__key is null), count(*) filter (__wrong) from key_output"
    )
    (lost,) = first_row(connection, f"select count(*) from ({_lost_keys(matching)})")
    duplicated, out_of_order, examples = _order(connection, matching, values, restarted, located)
    if located:
        _locate(connection, matching)
    if unexpected + wrong + lost + duplicated:
        examples = _examples(connection, matching, examples)
    connection.execute("drop table key_output; drop table expected_key")
    return Differences(lost, wrong, unexpected, duplicated, out_of_order, examples)


def _refuse_repeated_keys(connection: duckdb.DuckDBPyConnection, matching: LatestPerKey) -> None:
    key = columns(matching.key)
    repeated = connection.execute(
        f"select {key} from expected_answer group by {key} having count(*) > 1 limit 1"
    ).fetchall()
    if repeated:
        raise UserError(
            f"the oracle gives two final values for {in_words(matching.key, repeated[0])}",
            "Its rows must hold one row per key",
        )


def _collect_seen(connection: duckdb.DuckDBPyConnection, matching: LatestPerKey, values: list[ValueColumn]) -> None:
    connection.execute(
        "create or replace temp table expected_key as select row_number() over () as __key, * from expected_answer"
    )
    names = [value.name for value in values]
    beyond = " or ".join(
        value.before(f"e.{quoted(value.name)}", f"o.{quoted(value.name)}") for value in values if value.change != "any"
    )
    final = " and ".join(value.same(f"o.{quoted(value.name)}", f"e.{quoted(value.name)}") for value in values)
    same_key = " and ".join(f"o.{quoted(name)} is not distinct from e.{quoted(name)}" for name in matching.key)
    connection.execute(
        f"""
        create or replace temp table key_output as
        select e.__key, {POSITION} as __position, {columns(matching.key, "o")}{_also(names, "o")},
               o.append_ms as __append_ms, hash({columns(names, "o") or "0"}) as __values,
               o.origin_partition, o.origin_offset, o.origin_ordinal,
               e.__key is not null and ({beyond or "false"}) as __wrong,
               e.__key is not null and ({final or "true"}) as __final
        from outputs_seen o left join expected_key e on {same_key}
        """
    )


def _lost_keys(matching: LatestPerKey) -> str:
    """SQL: expected keys that never appeared, or that ended before their final value and not in a wrong one."""
    names = matching.values
    last = "".join(f", arg_max_null({quoted(name)}, __position) as {quoted('last ' + name)}" for name in names)
    return f"""
        select e.*, ending.* exclude (__key) from expected_key e
        left join (
            select __key, arg_max(__final, __position) as __final, arg_max(__wrong, __position) as __wrong{last}
            from key_output where __key is not null group by __key
        ) ending on ending.__key = e.__key
        where ending.__final is null or not (ending.__final or ending.__wrong)
    """


def _order(
    connection: duckdb.DuckDBPyConnection,
    matching: LatestPerKey,
    values: list[ValueColumn],
    restarted: bool,
    located: bool,
) -> tuple[int, int, dict[str, list[str]]]:
    """Counts of repeated and of out-of-order outputs among the right ones, with examples."""
    (repeats,) = first_row(
        connection,
        f"""
        select sum(copies - 1) from (
            select count(*) as copies from key_output where {_RIGHT}
            group by __key, __values, origin_partition, origin_offset, origin_ordinal having count(*) > 1)
        """,
    )
    directed = [value for value in values if value.change != "any"]
    if not directed:
        return int(repeats), 0, {}
    _collect_regressed(connection, directed)
    again = _earlier("origin_partition", "origin_offset", "origin_ordinal")
    connection.execute(
        f"""
        create or replace temp table regressed_kind as
        select *, {_seen_before(directed, restarted)} as __repeated, {again} as __counted from regressed r
        """
    )
    out_of_order, more_repeats = first_row(
        connection,
        "select count(*) filter (not __repeated), count(*) filter (__repeated and not __counted) from regressed_kind",
    )
    examples = {
        "duplicated": _regressed_in_words(connection, matching, "__repeated and not __counted", "came again after"),
        "out of order": _regressed_in_words(connection, matching, "not __repeated", "first came after"),
    }
    if located:
        connection.execute(
            f"""
            insert into {LOCATED} select case when __repeated then 'duplicated' else 'out_of_order' end, __append_ms, 1
            from regressed_kind where not (__repeated and __counted)
            """
        )
    connection.execute("drop table regressed; drop table regressed_key_output; drop table regressed_kind")
    return int(repeats) + more_repeats, out_of_order, examples


def _locate(connection: duckdb.DuckDBPyConnection, matching: LatestPerKey) -> None:
    """Say when each difference was written; of a key that was lost, when the last event that touches it came in."""
    same_key = " and ".join(f"t.{quoted(name)} is not distinct from l.{quoted(name)}" for name in matching.key)
    connection.execute(
        f"""
        insert into {LOCATED}
        select 'unexpected', __append_ms, 1 from key_output where __key is null
        union all select 'wrong', __append_ms, 1 from key_output where __wrong
        union all
        select 'duplicated', __append_ms, 1 from (
            select __append_ms, row_number() over (
                partition by __key, __values, origin_partition, origin_offset, origin_ordinal
                order by __position) as copy
            from key_output where {_RIGHT})
        where copy > 1
        union all
        select 'lost', max(e.append_ms), 1 from ({_lost_keys(matching)}) l
        left join located_touch t on {same_key}
        left join located_input e on e."partition" = t."partition" and e."offset" = t."offset"
        group by l.__key
        """
    )


def _regressed_in_words(
    connection: duckdb.DuckDBPyConnection, matching: LatestPerKey, condition: str, said: str
) -> list[str]:
    names, cut = list(matching.values), len(matching.key)
    rows = connection.execute(
        f"select {columns(matching.key)}{_also(names)} from regressed_kind where {condition} limit {EXAMPLES}"
    ).fetchall()
    return [
        f"{in_words(names, row[cut:])} of {in_words(matching.key, row[:cut])} {said} a later update" for row in rows
    ]


def _collect_regressed(connection: duckdb.DuckDBPyConnection, directed: list[ValueColumn]) -> None:
    """Right outputs that lie behind an earlier one of their key, and all right outputs of such keys."""
    furthest = ", ".join(f"{value.furthest_so_far()} as {quoted('furthest ' + value.name)}" for value in directed)
    behind = {value.name: value.before(quoted(value.name), quoted("furthest " + value.name)) for value in directed}
    marks = ", ".join(f"{sql} as {quoted('behind ' + name)}" for name, sql in behind.items())
    connection.execute(
        f"""
        create or replace temp table regressed as
        select *, {marks} from (
            select *, {furthest} from key_output where {_RIGHT}
            window earlier as (partition by __key order by __position rows between unbounded preceding and 1 preceding))
        where {" or ".join(behind.values())}
        """
    )
    connection.execute(
        f"""
        create or replace temp table regressed_key_output as
        select * from key_output where {_RIGHT} and __key in (select __key from regressed)
        """
    )


def _seen_before(directed: list[ValueColumn], restarted: bool) -> str:
    """SQL: the regressed output `r` repeats what its key had emitted.

    After a restart the inputs of a key may interleave differently, so that only a column by itself (a count) comes
    again: then one column that went back to a value it had had is enough.
    """
    if not restarted:
        return _earlier()
    each = [f"(r.{quoted('behind ' + value.name)} and {_earlier(value=value.name)})" for value in directed]
    return f"({' or '.join([_earlier(), *each])})"


def _earlier(*origin: str, value: str | None = None) -> str:
    """SQL: the same values of the key (or one of them), and the same origin if named, are first seen before `r`."""
    same = ["__values"] if value is None else [value]
    matched = " and ".join(f"s.{quoted(name)} is not distinct from r.{quoted(name)}" for name in (*same, *origin))
    return f"""(r.__position > coalesce((
        select min(s.__position) from regressed_key_output s where s.__key = r.__key and {matched}), r.__position))"""


def _examples(
    connection: duckdb.DuckDBPyConnection, matching: LatestPerKey, of_order: Mapping[str, list[str]]
) -> dict[str, list[str]]:
    key, names = matching.key, list(matching.values)
    cut = len(key)
    found: dict[str, list[str]] = {}
    last = [f"last {name}" for name in names]
    rows = connection.execute(
        f"select {columns(key)}{_also(names)}{_also(last)}, __final is null"
        f" from ({_lost_keys(matching)}) limit {EXAMPLES}"
    ).fetchall()
    found["lost"] = [
        f"{in_words(key, row[:cut])} should end at {in_words(names, row[cut : cut + len(names)])}, "
        + ("never appeared" if row[-1] else f"last was {in_words(names, row[cut + len(names) : -1])}")
        for row in rows
    ]
    rows = connection.execute(
        f"""select {columns(key, "o")}{_also(names, "o")}{_also(names, "e")}
        from (select * from key_output where __wrong limit {EXAMPLES}) o join expected_key e using (__key)"""
    ).fetchall()
    found["wrong"] = [
        f"{in_words(names, row[cut : cut + len(names)])} of {in_words(key, row[:cut])}, "
        f"whose final value is {in_words(names, row[cut + len(names) :])}"
        for row in rows
    ]
    rows = connection.execute(
        f"select {columns(key)}{_also(names)} from key_output where __key is null limit {EXAMPLES}"
    ).fetchall()
    found["unexpected"] = [f"{in_words(key, row[:cut])} with {in_words(names, row[cut:])}" for row in rows]
    grouped = f"{columns(key)}{_also(names)}"
    rows = connection.execute(
        f"""select {grouped}, count(*) from key_output where {_RIGHT}
        group by {grouped}, origin_partition, origin_offset, origin_ordinal having count(*) > 1 limit {EXAMPLES}"""
    ).fetchall()
    found["duplicated"] = [
        f"{in_words(names, row[cut:-1])} of {in_words(key, row[:cut])} came {row[-1]} times" for row in rows
    ]
    found["duplicated"] += of_order.get("duplicated", [])
    found["out of order"] = of_order.get("out of order", [])
    return {kind: texts for kind, texts in found.items() if texts}


def _also(names: list[str] | Mapping[str, str], table: str = "") -> str:
    return f", {columns(names, table)}" if names else ""
