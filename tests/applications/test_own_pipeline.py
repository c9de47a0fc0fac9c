"""The tutorial's pipeline: its stages, its oracles, its stream, and that the tutorial quotes it word for word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from streamgauge.applications import get_application
from streamgauge.engines.spark.codec import check_origin
from streamgauge.model import Application, Stage, UserError
from streamgauge.streams.wire import encode

HERE = Path(__file__).parent
FILE = HERE / "own_pipeline.py"
TUTORIAL = HERE.parent.parent / "docs" / "your-own-pipeline.md"

ORDERS = [
    # partition, offset, append_ms, order_id, shop, status, cents
    (0, 0, 1000, 1, "north", "paid", 500),
    (0, 1, 1003, 2, "north", "cancelled", 900),
    (0, 2, 1004, 3, "south", "paid", 99),
    (1, 0, 1001, 4, "north", "paid", 700),
    (1, 1, 1002, 5, None, "paid", 100),
]


@pytest.fixture(scope="module")
def application() -> Application:
    return get_application(str(FILE))


@pytest.fixture
def frame(spark, origin_type):
    rows = [(number, shop, status, cents, (ms, p, o, 0)) for p, o, ms, number, shop, status, cents in ORDERS]
    return spark.createDataFrame(rows, f"order_id bigint, shop string, status string, cents bigint, {origin_type}")


@pytest.fixture
def events(literal_events):
    rows = [(p, o, ms, "", number, shop, status, cents) for p, o, ms, number, shop, status, cents in ORDERS]
    literal_events.add("orders", "order_id bigint, shop varchar, status varchar, cents bigint", rows)
    return literal_events


@pytest.mark.spark
def test_the_stages(application, frame, rows_of):
    paid = application.stage("paid")(frame, smallest_cents=100)
    assert rows_of(paid, "order_id", "shop", "cents", "origin") == [
        (1, "north", 500, (1000, 0, 0, 0)),
        (4, "north", 700, (1001, 1, 0, 0)),
        (5, None, 100, (1002, 1, 1, 0)),
    ]
    assert rows_of(application.stage("turnover")(paid), "shop", "orders", "total_cents", "origin") == [
        ("north", 2, 1200, (1001, 1, 0, 0)),
        (None, 1, 100, (1002, 1, 1, 0)),
    ]


def test_the_oracles(application, events, rows_of):
    paid, turnover = (output.oracle(events, smallest_cents=100) for output in application.outputs)
    assert rows_of(paid.rows, "partition", '"offset"', "shop", "order_id", "cents") == [
        (0, 0, "north", 1, 500),
        (1, 0, "north", 4, 700),
        (1, 1, None, 5, 100),
    ]
    assert rows_of(turnover.rows, "shop", "orders", "total_cents") == [("north", 2, 1200), (None, 1, 100)]
    assert rows_of(turnover.touches, "partition", '"offset"', "shop") == [
        (0, 0, "north"),
        (1, 0, "north"),
        (1, 1, None),
    ]


def test_the_generated_orders_are_the_same_in_any_block_size(application):
    source = application.inputs["orders"].synthetic(7)
    whole = source.block(0, 100)
    assert whole.slice(30, 50).equals(source.block(30, 50))
    assert not whole.equals(application.inputs["orders"].synthetic(8).block(0, 100))


def test_generated_orders_can_be_recorded_and_replayed(application, tmp_path):
    stream = application.inputs["orders"]
    generated = stream.synthetic(7).block(0, 20)
    file = tmp_path / "orders.json"
    file.write_bytes(b"\n".join(encode(stream, generated).to_pylist()))
    assert stream.recorded(file).block(0, 20).equals(generated)


def _python_blocks() -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", TUTORIAL.read_text(), flags=re.DOTALL | re.MULTILINE)


def test_every_python_block_of_the_tutorial_stands_in_the_file():
    blocks = _python_blocks()
    assert len(blocks) >= 5
    for block in blocks:
        assert block in FILE.read_text()


def test_the_blocks_together_are_the_whole_file():
    assert "".join(_python_blocks()).split() == FILE.read_text().split()


def _mistakes(application: Application) -> Iterator[Callable[[], object]]:
    """Each mistake of the tutorial's list, made for real."""
    paid, turnover = application.stages
    per_event, latest = application.outputs

    def misspelt(payed):
        return payed

    def undeclared(orders, *, currency):
        return orders

    yield lambda: replace(application, stages=(paid, Stage("turnover", misspelt)))
    yield lambda: replace(application, outputs=(per_event,))
    yield lambda: replace(application, stages=(Stage("paid", undeclared), turnover))
    yield lambda: replace(application, outputs=(replace(latest, stage="turnovr"),))
    yield lambda: application.bind({"smallest": "5"})
    yield lambda: application.bind({"smallest_cents": "five"})
    yield lambda: replace(application, outputs=(latest,)).stopped_after("paid")
    yield lambda: check_origin(SimpleNamespace(columns=["shop", "orders"]), "turnover")  # type: ignore[arg-type]


@pytest.mark.parametrize("number", range(8))
def test_the_tutorial_quotes_the_error_of_a_common_mistake(application, number):
    told = " ".join(TUTORIAL.read_text().split())
    with pytest.raises(UserError) as refused:
        list(_mistakes(application))[number]()
    assert f"`{refused.value}`" in told
