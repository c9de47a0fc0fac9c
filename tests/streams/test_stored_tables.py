"""Stored tables have the rows that they promise, and read the files that their docstrings name."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc
import pytest

from streamgauge.applications import all_applications
from streamgauge.model.errors import UserError
from streamgauge.model.table import StoredTable
from streamgauge.streams import vocabulary
from streamgauge.streams.schema import arrow_schema
from streamgauge.streams.tables import all_tables, get_table

DATA = Path(__file__).parent / "data"
TABLES = pytest.mark.parametrize("table", all_tables().values(), ids=lambda t: t.name)


@TABLES
def test_the_rows_are_of_the_schema_and_complete(table: StoredTable) -> None:
    rows = table.synthetic()
    assert rows.schema.equals(arrow_schema(table.fields))
    assert rows.num_rows > 0
    missing = {f.name: rows[f.name].null_count for f in table.fields if not f.optional}
    assert missing == dict.fromkeys(missing, 0)
    assert table.about and table.fields and all(f.about for f in table.fields)


@TABLES
def test_the_rows_are_the_same_every_time(table: StoredTable) -> None:
    assert table.synthetic().equals(table.synthetic())


@TABLES
def test_a_file_that_is_not_there_or_empty_is_named(table: StoredTable, tmp_path: Path) -> None:
    if table.recorded is None:
        pytest.skip(f"{table.name} takes no file")
    empty = tmp_path / "empty.csv"
    empty.write_text("\n")
    for file in (tmp_path / "none.csv", empty):
        with pytest.raises(UserError, match=file.name) as raised:
            table.recorded(file)
        assert "\n" not in str(raised.value)


def test_every_table_of_an_application_is_in_the_folder() -> None:
    used = {table.name: table for a in all_applications().values() for table in a.tables.values()}
    known = all_tables()
    assert used and all(known.get(name) is table for name, table in used.items())


def test_an_unknown_table_gets_the_nearest_name() -> None:
    with pytest.raises(UserError, match="Did you mean 'ad-campaigns'"):
        get_table("ad-campaign")


def _read(name: str, path: Path) -> list[dict[str, object]]:
    recorded = get_table(name).recorded
    assert recorded is not None
    rows: list[dict[str, object]] = recorded(path).to_pylist()
    return rows


def test_a_hundred_campaigns_have_ten_ads_each() -> None:
    rows = get_table("ad-campaigns").synthetic()
    counts = pc.value_counts(rows["campaign_id"]).field("counts")
    assert counts.to_pylist() == [10] * 100
    assert len(pc.unique(rows["ad_id"])) == 1000
    assert {len(text) for name in rows.schema.names for text in rows[name].to_pylist()} == {36}


def test_the_benchmarks_campaigns_are_read(tmp_path: Path) -> None:
    given = _read("ad-campaigns", DATA / "ad-to-campaign-ids-sample.txt")
    assert len(given) == 4 and len({row["campaign_id"] for row in given}) == 2
    named, plain = tmp_path / "named.json", tmp_path / "plain.csv"
    named.write_text("\n".join(f'{{"ad_id": "{r["ad_id"]}", "campaign_id": "{r["campaign_id"]}"}}\n' for r in given))
    plain.write_text("".join(f"{r['ad_id']},{r['campaign_id']}\n" for r in given))
    assert _read("ad-campaigns", named) == _read("ad-campaigns", plain) == given
    plain.write_text("ad_id,campaign_id\r\n" + plain.read_text().replace("\n", "\r\n"))
    assert _read("ad-campaigns", plain) == given


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ('{"a": "x"}\n{"a": "y"}\n', "ad_id 'a' stands in two rows"),
        ('{"a": "x"}\n{"a": "x", "b": "y"}\n', "line 2: not an ad with its campaign"),
        ('{"a": "x"}\n[1]\n', "line 2: not an ad with its campaign"),
        ("{\n", "line 1: not an ad with its campaign"),
        ("a,x\nb\n", "Expected 2 columns, got 1"),
        ("a,x\nb,\n", "row 2 has no campaign_id"),
        ("ad_id,campaign_id\n", "has no rows"),
    ],
)
def test_a_bad_file_of_campaigns_is_named(tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "bad.txt"
    file.write_text(content)
    with pytest.raises(UserError, match=told) as raised:
        _read("ad-campaigns", file)
    assert str(file) in raised.value.cause and "\n" not in str(raised.value)


def test_most_sites_are_listed_once() -> None:
    rows = get_table("sites").synthetic()
    listed = rows["site"].to_pylist()
    assert len(set(listed)) == len(listed) and set(listed) < set(vocabulary.sites())
    assert 0.85 < len(listed) / vocabulary.SITE_COUNT < 0.95
    assert rows["popularity"].to_pylist() == list(range(1, len(listed) + 1))
    kinds = dict(zip(listed, rows["category"].to_pylist(), strict=True))
    assert all(kinds[site] == "education" for site in listed if site.endswith(".edu"))
    assert len(set(kinds.values())) == 12


def test_a_file_of_sites_is_read_with_its_quotes() -> None:
    assert [tuple(row.values()) for row in _read("sites", DATA / "sites-sample.csv")] == [
        ("http://www.one.example", "news", 1),
        ("http://www.two.example", "arts, crafts", 2),
        ("http://www.three.example", 'the "best" games', 3),
    ]


def test_a_site_without_a_number_is_named(tmp_path: Path) -> None:
    file = tmp_path / "bad.csv"
    file.write_text("http://a,news,1\nhttp://b,news,many\n")
    with pytest.raises(UserError, match=r"bad\.csv.*many"):
        _read("sites", file)
