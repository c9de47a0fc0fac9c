"""The events as an oracle sees them."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from streamgauge.model import Expected, Guarantee, LatestPerKey, UserError
from streamgauge.verify.events import Events
from streamgauge.verify.verdict import judge


@pytest.fixture
def events(tmp_path):
    folder = tmp_path / "searches"
    folder.mkdir()
    for part, words in enumerate([["a", "b"], ["a"]]):
        table = pa.table({"index": list(range(len(words))), "partition": [part] * len(words), "query": words})
        pq.write_table(table, folder / f"{part}.parquet")
    with Events({"searches": sorted(folder.iterdir())}, tmp_path / "spill") as opened:
        yield opened


def test_an_input_is_a_table_of_its_name(events) -> None:
    assert events.sql("select query from searches where partition = ?", [1]).fetchall() == [("a",)]
    assert events.sql("select count(*) from searches where query = $word", {"word": "a"}).fetchall() == [(2,)]
    assert events.count("searches") == 3


def test_an_oracles_relation_is_judged_on_the_connection_of_its_events(events) -> None:
    answer = Expected(events.sql("select query as word, count(*) as seen from searches group by query"))
    envelope = ("partition", "offset", "append_ms", "origin_append_ms", "origin_partition", "origin_offset")
    seen = pa.table(
        {
            **{name: [0, 1] for name in envelope},
            "origin_ordinal": [0, 0],
            "word": ["a", "b"],
            "seen": [2, 1],
        }
    )
    matching = LatestPerKey(("word",), {"seen": "rises"})
    assert judge(answer, seen, matching, Guarantee(), connection=events.connection).correct


def test_a_mistake_in_the_query_is_one_line_and_names_the_inputs(events) -> None:
    with pytest.raises(UserError, match="It can read the inputs searches") as caught:
        events.sql("select nothing from nowhere")
    assert "\n" not in str(caught.value)


def test_a_query_that_fails_while_it_runs_is_one_line(events) -> None:
    answer = Expected(events.sql("select query as word, cast(query as bigint) as seen from searches"))
    with pytest.raises(UserError, match="the oracle's query failed") as caught:
        judge(
            answer,
            pa.table({"word": ["a"]}),
            LatestPerKey(("word",), {"seen": "rises"}),
            Guarantee(),
            connection=events.connection,
        )
    assert "\n" not in str(caught.value)


def test_what_is_too_large_for_the_memory_is_said_in_a_line(tmp_path) -> None:
    with (
        pytest.raises(UserError, match=r"too large for its figures to be taken: Out of Memory.*Publish fewer events"),
        Events({"numbers": pa.table({"index": list(range(10))})}, tmp_path / "spill") as opened,
    ):
        opened.connection.execute("set memory_limit = '4MB'")
        opened.connection.execute("select list(random()) from range(5_000_000)").fetchall()
