"""The verdict: outputs against the oracle's answer, under the guarantee that the engine declares."""

from __future__ import annotations

import duckdb

from streamgauge.model.application import Expected, LatestPerKey, Matching, PerEvent
from streamgauge.model.engine import Guarantee
from streamgauge.model.errors import UserError
from streamgauge.model.verdict import Verdict, duplicates_allowed
from streamgauge.store.tables import Table, attach, column_types, detach
from streamgauge.verify import latest_per_key, per_event
from streamgauge.verify.decode import ENVELOPE, matched_columns
from streamgauge.verify.differences import first_row, pick_examples
from streamgauge.verify.digest import digests
from streamgauge.verify.phases import Spans, counted, prepare


def judge(
    expected: Expected,
    outputs: Table,
    matching: Matching,
    guarantee: Guarantee,
    restarts: int = 0,
    *,
    connection: duckdb.DuckDBPyConnection,
    ordered: bool = False,
    undecodable: int = 0,
    spans: Spans | None = None,
    disturbed: bool = False,
) -> Verdict:
    """Compare decoded outputs with the expected answer; `ordered` asks for input order in a PerEvent answer.

    `connection` is the one that the relations of `expected` belong to; tables that this makes are dropped again. With
    `spans` the differences are also told apart by whether they lie before, during or after the faults. A job that was
    `disturbed` may have repeated a part of its work without a restart: an engine tries tasks again that were lost.
    """
    attach(connection, "outputs_seen", outputs)
    _materialise(connection, expected)
    _check_columns(connection, matching)
    (rows,) = first_row(connection, "select count(*) from expected_answer")
    if rows == 0:
        raise UserError(
            "the oracle expects no output at all, so there is nothing to verify",
            "Publish more events, or set a parameter (--param) that lets something through",
        )
    (seen,) = first_row(connection, "select count(*) from outputs_seen")
    if spans is not None:
        prepare(connection, matching, expected, spans)
    located = spans is not None
    if isinstance(matching, PerEvent):
        found = per_event.compare(connection, matching, ordered=ordered, located=located)
    else:
        found = latest_per_key.compare(connection, matching, restarted=restarts > 0 or disturbed, located=located)
    phases = {} if spans is None else counted(connection, spans)
    repeated = found.duplicated + found.wrong + found.unexpected > 0
    digest, expected_digest = digests(connection, matching, repeated=repeated)
    connection.execute("drop table expected_answer")
    detach(connection, "outputs_seen")
    detach(connection, "expected_rows")
    examples = dict(found.examples)
    if undecodable:
        examples["unexpected"] = [f"{undecodable} records could not be read", *examples.get("unexpected", [])]
    return Verdict(
        expected=rows,
        seen=seen + undecodable,
        lost=found.lost,
        wrong=found.wrong,
        unexpected=found.unexpected + undecodable,
        duplicated=found.duplicated,
        out_of_order=found.out_of_order,
        late=expected.late,
        restarts=restarts,
        duplicates_allowed=duplicates_allowed(guarantee, restarts + disturbed),
        examples=pick_examples(examples),
        digest=digest,
        expected_digest=expected_digest,
        phases=phases,
    )


def _materialise(connection: duckdb.DuckDBPyConnection, expected: Expected) -> None:
    """Run the oracle's query once: it is read several times."""
    attach(connection, "expected_rows", expected.rows)
    try:
        connection.execute("create or replace temp table expected_answer as select * from expected_rows")
    except duckdb.Error as error:
        first_line = str(error).splitlines()[0]
        raise UserError(f"the oracle's query failed: {first_line}", "Correct the oracle and run again") from error


def _check_columns(connection: duckdb.DuckDBPyConnection, matching: Matching) -> None:
    named = matched_columns(matching)
    if isinstance(matching, LatestPerKey) and not matching.key:
        raise UserError("a matching by latest value needs a key", "Name at least one key column in LatestPerKey")
    answer = column_types(connection, "expected_answer")
    for name in (*(("partition", "offset") if isinstance(matching, PerEvent) else ()), *named):
        if name not in answer:
            raise UserError(
                f"the oracle gives no column '{name}'", f"Its rows have {', '.join(answer)}: select it there"
            )
    seen = column_types(connection, "outputs_seen")
    for name in (*ENVELOPE, *named):
        if name not in seen:
            raise UserError(f"the outputs have no column '{name}'", f"They have {', '.join(seen)}")
