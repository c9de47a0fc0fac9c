"""A characterisation on the console and on the page: every figure with its unit, the published instances beside."""

from __future__ import annotations

import io
from pathlib import Path

from streamgauge.report import write_report
from streamgauge.report.characterisations import (
    answer,
    configuration_rows,
    instance_rows,
    operator_rows,
    print_characterisation,
)
from streamgauge.store import RunStore, StoredRun
from tests.report.test_page import own_markup
from tests.store.test_characterisations import BATCHES, document


def test_every_operator_is_a_row_with_units() -> None:
    headings, rows = operator_rows(document())
    assert dict(zip(headings, rows[1], strict=True)) == {
        "operator": "count",
        "type": "aggregation",
        "communication": "group by",
        "rows in": "10",
        "selectivity": "1",
        "record in": "50 B",
        "record out": "50 B",
        "time p50": "1.50 µs",
        "time p99": "12.5 µs",
        "state": "2.0 KiB",
        "score": "5.00 µs",
        "instances": "3",
    }
    assert rows[0][headings.index("state")] == "n/a"


def test_published_instances_stand_beside_ours_only_where_there_are_as_many() -> None:
    _, rows = instance_rows(document())
    assert rows == [
        ["lines", "7", "source", "1"],
        ["count", "3", "", ""],
        ["", "", "splitter", "5"],
        ["", "", "counter", "6"],
        ["sink", "1", "sink", "3"],
    ]


def test_both_sides_of_a_topic_stand_between_source_and_sink() -> None:
    source, count, sink = document()["operators"]
    head = {**sink, "name": "to-count", "reads": ["count"]}
    tail = {**source, "name": "from-count", "reads": ["to-count"]}
    _, rows = instance_rows(document(operators=[source, count, head, tail, sink]))
    assert [row[0] for row in rows if row[0]] == ["lines", "count", "to-count", "from-count", "sink"]


def test_a_family_is_a_column() -> None:
    assert configuration_rows(document()) == (
        ["operator", "computed ×2"],
        [["lines", "14"], ["count", "6"], ["sink", "2"]],
    )


def test_the_answer_is_one_sentence() -> None:
    assert answer(document()) == (
        "word-count: 'lines' costs most, 12.5 µs per event at p99 and 69% of the pipeline's score, "
        "so it gets 7 of 11 instances."
    )


def test_the_console_shows_tables_remarks_and_the_answer() -> None:
    out = io.StringIO()
    print_characterisation(document(), out)
    said = out.getvalue()
    for text in ("an empty batch takes 12 ms", "Table 3.4", "splitter", "computed ×2", "! count: within the noise"):
        assert text in said, text
    assert said.splitlines()[-1].startswith("word-count: ")


def test_the_console_says_nothing_of_a_table_that_does_not_have_the_application() -> None:
    out = io.StringIO()
    print_characterisation(document(published=None), out)
    assert "Table 3.4" not in out.getvalue()


def test_the_page_of_a_characterisation(tmp_path: Path) -> None:
    writer = RunStore(tmp_path).create(command="streamgauge characterize word-count", trials=0)
    writer.add_characterisation(document(application="<b>"), BATCHES)
    writer.finish("complete")
    text = own_markup(write_report(StoredRun.open(writer.folder)).read_text())
    assert "&lt;b&gt;: &#x27;lines&#x27; costs most" in text
    assert "<b>:" not in text
    assert "No trial has been stored yet" not in text
    for said in ("12.5 µs", "2.0 KiB", "splitter", "computed ×2", "count: within the noise", "Run it again"):
        assert said in text, said
