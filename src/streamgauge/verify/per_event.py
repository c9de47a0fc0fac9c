"""Comparison where every expected output belongs to one event and appears once."""

from __future__ import annotations

import duckdb

from streamgauge.model.application import PerEvent
from streamgauge.store.tables import columns
from streamgauge.verify.differences import EXAMPLES, Differences, first_row, in_words
from streamgauge.verify.phases import LOCATED

# Values are compared by a 64-bit hash, and only within one event: a collision needs two values of the same event.
# It keeps the aggregate's rows at a fixed width whatever the length of the values.


def compare(
    connection: duckdb.DuckDBPyConnection, matching: PerEvent, *, ordered: bool, located: bool = False
) -> Differences:
    """Differences of `outputs_seen` from `expected_answer`, both as multisets of (event, values).

    An event that misses an expected output and has a wrong one instead counts once, as wrong; it is lost only where
    more outputs are missing than wrong ones stand in their place.
    """
    _collect_differing(connection, matching)
    lost, wrong, unexpected, duplicated = first_row(
        connection,
        """
        select sum(greatest(missing - strange, 0)) filter (known), sum(strange) filter (known),
               sum(strange) filter (not known), sum(repeated)
        from differing_event
        """,
    )
    out_of_order = _count_out_of_order(connection, matching) if ordered else 0
    examples = _examples(connection, matching) if lost + wrong + unexpected + duplicated else {}
    if out_of_order:
        examples["out of order"] = [
            f"{out_of_order} outputs came after one of a later event of their {'key' if matching.key else 'partition'}"
        ]
    if located:
        _locate(connection, matching, ordered)
    connection.execute("drop table differing; drop table differing_event")
    return Differences(int(lost), int(wrong), int(unexpected), int(duplicated), out_of_order, examples)


def _hash_of(matching: PerEvent) -> str:
    return f"hash({', '.join(['0', *([columns(matching.values)] if matching.values else [])])})"


def _collect_differing(connection: duckdb.DuckDBPyConnection, matching: PerEvent) -> None:
    values = f", {columns(matching.values)}" if matching.values else ""
    connection.execute(
        f"""
        create or replace temp table differing as
        select __event_partition, __event_offset, __value_hash,
               sum(__expected_rows)::bigint as __expected_rows, sum(__seen_rows)::bigint as __seen_rows
        from (
            select __event_partition, __event_offset, {_hash_of(matching)} as __value_hash, __expected_rows, __seen_rows
            from (
                select "partition" as __event_partition, "offset" as __event_offset{values},
                       1 as __expected_rows, 0 as __seen_rows
                from expected_answer
                union all
                select origin_partition, origin_offset{values}, 0, 1 from outputs_seen
            )
        )
        group by __event_partition, __event_offset, __value_hash
        having sum(__expected_rows) <> sum(__seen_rows)
        """
    )
    connection.execute(
        """
        create or replace temp table differing_event as
        select __event_partition, __event_offset,
               sum(greatest(__expected_rows - __seen_rows, 0)) as missing,
               sum(case when __expected_rows = 0 then __seen_rows else 0 end) as strange,
               sum(greatest(__seen_rows - __expected_rows, 0)) filter (__expected_rows > 0) as repeated,
               exists (select 1 from expected_answer e
                       where e."partition" = __event_partition and e."offset" = __event_offset) as known
        from differing group by __event_partition, __event_offset
        """
    )


def _count_out_of_order(connection: duckdb.DuckDBPyConnection, matching: PerEvent) -> int:
    (count,) = first_row(connection, f"select count(*) from ({_out_of_order(matching)})")
    return int(count)


def _out_of_order(matching: PerEvent) -> str:
    """SQL: (append_ms) of first appearances of a right output behind one of a later event."""
    key = f", {columns(matching.key)}" if matching.key else ""
    return f"""
        with first_appearance as (
            select "partition" as output_partition, origin_partition, origin_offset, __value_hash{key},
                   min("offset") as output_offset, arg_min(append_ms, "offset") as append_ms
            from (select *, {_hash_of(matching)} as __value_hash from outputs_seen)
            where (origin_partition, origin_offset) in (select "partition", "offset" from expected_answer)
            group by output_partition, origin_partition, origin_offset, __value_hash{key}
        ),
        right_ones as (
            select * from first_appearance f
            where not exists (select 1 from differing d
                where d.__expected_rows = 0 and d.__event_partition = f.origin_partition
                  and d.__event_offset = f.origin_offset and d.__value_hash = f.__value_hash)
        )
        select append_ms from (
            select origin_offset, append_ms, max(origin_offset) over (
                partition by output_partition, origin_partition{key} order by output_offset
                rows between unbounded preceding and 1 preceding) as latest
            from right_ones)
        where origin_offset < latest
    """


def _locate(connection: duckdb.DuckDBPyConnection, matching: PerEvent, ordered: bool) -> None:
    """Say when each difference was written; of what was lost, when its event came in."""
    same = (
        "o.origin_partition is not distinct from d.__event_partition"
        " and o.origin_offset is not distinct from d.__event_offset"
    )
    connection.execute(
        f"""
        insert into {LOCATED}
        with seen as (
            select o.append_ms, d.__expected_rows, v.known, row_number() over (
                partition by d.__event_partition, d.__event_offset, d.__value_hash
                order by o.append_ms, o."partition", o."offset") as copy
            from (select *, {_hash_of(matching)} as __value_hash from outputs_seen) o
            join differing d on {same} and o.__value_hash = d.__value_hash
            join differing_event v on v.__event_partition is not distinct from d.__event_partition
                                  and v.__event_offset is not distinct from d.__event_offset
        )
        select case when known then 'wrong' else 'unexpected' end, append_ms, 1 from seen where __expected_rows = 0
        union all
        select 'duplicated', append_ms, 1 from seen where __expected_rows > 0 and copy > __expected_rows
        union all
        select 'lost', e.append_ms, v.missing - v.strange from differing_event v
        left join located_input e on e."partition" = v.__event_partition and e."offset" = v.__event_offset
        where v.known and v.missing > v.strange
        """
    )
    if ordered:
        connection.execute(
            f"insert into {LOCATED} select 'out_of_order', append_ms, 1 from ({_out_of_order(matching)})"
        )


def _examples(connection: duckdb.DuckDBPyConnection, matching: PerEvent) -> dict[str, list[str]]:
    names = matching.values
    listed = f", {columns(names, 'row')}" if names else ""
    answer = f"select *, {_hash_of(matching)} as __value_hash from expected_answer"
    seen = f"select *, {_hash_of(matching)} as __value_hash from outputs_seen"
    of_answer = 'row."partition" is not distinct from d.__event_partition and row."offset" = d.__event_offset'
    of_seen = (
        "row.origin_partition is not distinct from d.__event_partition"
        " and row.origin_offset is not distinct from d.__event_offset"
    )
    kinds = {
        "lost": (answer, of_answer, "d.__expected_rows > d.__seen_rows and v.missing > v.strange", "never appeared"),
        "wrong": (seen, of_seen, "d.__expected_rows = 0 and v.known", "is not what the event gives"),
        "unexpected": (seen, of_seen, "d.__expected_rows = 0 and not v.known", "was not asked for"),
        "duplicated": (
            seen,
            of_seen,
            "d.__expected_rows > 0 and d.__seen_rows > d.__expected_rows",
            "was already there",
        ),
    }
    found: dict[str, list[str]] = {}
    for kind, (rows, same_event, condition, said) in kinds.items():
        picked = connection.execute(
            f"""
            with picked as (
                select d.* from differing d join differing_event v
                  on v.__event_partition is not distinct from d.__event_partition
                 and v.__event_offset is not distinct from d.__event_offset
                where {condition}
                order by d.__event_partition, d.__event_offset, d.__value_hash limit {EXAMPLES})
            select distinct d.__event_partition, d.__event_offset{listed}
            from picked d join ({rows}) row on {same_event} and row.__value_hash = d.__value_hash
            order by 1, 2 limit {EXAMPLES}
            """
        ).fetchall()
        found[kind] = [f"{in_words(names, row[2:])} of {_event(row[0], row[1])} {said}" for row in picked]
    return {kind: texts for kind, texts in found.items() if texts}


def _event(partition: int | None, offset: int | None) -> str:
    if partition is None or offset is None:
        return "no event (it names no origin)"
    return f"the event at partition {partition}, offset {offset}"
