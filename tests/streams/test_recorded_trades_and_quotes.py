"""trades-and-quotes replays tick histories by the names of their columns."""

from __future__ import annotations

import csv
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from streamgauge.model.errors import UserError
from streamgauge.streams.trades_and_quotes import STREAM, _recorded

FILE = Path(__file__).parent / "data" / "trades-and-quotes-sample.csv"
HEADER = "#RIC,Date[G],Time[G],Type,Price,Volume,Bid Price,Bid Size,Ask Price,Ask Size"


def test_trades_and_quotes_are_replayed_and_nothing_else() -> None:
    with FILE.open() as file:
        lines = [line for line in csv.DictReader(file) if line["Type"] in ("Trade", "Quote")]
    assert len(lines) == 33
    for line, row in zip(lines, _recorded(FILE).block(0, 33).to_pylist(), strict=True):
        instant = datetime.strptime(line["Date[G]"], "%d-%b-%Y").replace(tzinfo=UTC)
        hours, minutes, seconds = line["Time[G]"].split(":")
        of_day_ms = (int(hours) * 60 + int(minutes)) * 60_000 + round(float(seconds) * 1000)
        assert row["time_ms"] == int(instant.timestamp()) * 1000 + of_day_ms
        assert (row["symbol"], row["kind"]) == (line["#RIC"], line["Type"].lower())
        for name, column in (
            ("price", "Price"),
            ("volume", "Volume"),
            ("ask_price", "Ask Price"),
            ("bid_size", "Bid Size"),
        ):
            assert row[name] == (float(line[column]) if line[column] else None)


def test_rounds_go_on_where_the_last_ended() -> None:
    rounds = _recorded(FILE).block(0, 99)["time_ms"].to_numpy().reshape(3, 33)
    assert np.all(rounds[1:].min(axis=1) > rounds[:-1].max(axis=1))
    assert len(np.unique(np.diff(rounds, axis=0))) == 1


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (f"{HEADER}\n", "has no events"),
        (HEADER.replace("Ask Size", "Size") + "\nA,01-MAY-2012,10:00:00,Trade,1.5,100,,,,\n", "Ask Size"),
        (f"{HEADER}\nA,2012-05-01,10:00:00,Trade,1.5,100,,,,\n", "2012-05-01"),
        (f"{HEADER}\nA,01-MAY-2012,10:00:00,Trade,much,100,,,,\n", "much"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, content: str, told: str) -> None:
    file = tmp_path / "ticks.csv"
    file.write_text(content)
    with pytest.raises(UserError, match=told) as raised:
        _recorded(file)
    assert str(file) in raised.value.cause and "\n" not in str(raised.value)


def test_generated_trades_and_quotes_are_plausible() -> None:
    block = STREAM.synthetic(5).block(0, 60_000)
    trade = np.array(block["kind"].to_pylist()) == "trade"
    assert 0.23 < trade.mean() < 0.27
    for name in ("price", "volume"):
        assert np.array_equal(block[name].is_valid().to_numpy(zero_copy_only=False), trade)
    for name in ("bid_price", "bid_size", "ask_price", "ask_size"):
        assert np.array_equal(block[name].is_valid().to_numpy(zero_copy_only=False), ~trade)
    symbols, counts = np.unique(np.array(block["symbol"].to_pylist()), return_counts=True)
    assert len(symbols) == 256 and counts.max() > 10 * counts.mean()
    cents = block["price"].to_numpy(zero_copy_only=False)[trade] * 100
    assert np.allclose(cents, np.round(cents)) and cents.min() > 900
    quotes = block.filter(~trade)
    assert np.all(quotes["ask_price"].to_numpy() > quotes["bid_price"].to_numpy())
    assert np.all(np.diff(block["time_ms"].to_numpy()) > 0)
