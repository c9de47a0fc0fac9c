"""Orders per shop: how many paid orders has each shop had so far, and for how much?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.origin import latest_origin
from streamgauge.model import (
    Application,
    Emits,
    Expected,
    Field,
    FieldType,
    Json,
    LatestPerKey,
    Output,
    Parameter,
    PerEvent,
    Source,
    Stream,
    stage,
)
from streamgauge.streams.randomness import field, lookup_table, random_bits, zipf_weights
from streamgauge.streams.recorded import recorded_source
from streamgauge.streams.schema import arrow_schema

FIELDS = (
    Field("order_id", FieldType.LONG),
    Field("shop", FieldType.STRING),
    Field("status", FieldType.STRING, "paid or cancelled"),
    Field("cents", FieldType.LONG, "what the order costs"),
    Field("ordered_at", FieldType.TIMESTAMP),
)

SHOPS = pa.array([f"shop-{number:02d}" for number in range(50)])
SHOP_OF = lookup_table(zipf_weights(50, 1.0), 12)
STATUSES = pa.array(["paid", "paid", "paid", "cancelled"])
FIRST_SECOND = 1_767_225_600  # 2026-01-01 00:00:00 UTC


@dataclass(frozen=True)
class GeneratedOrders:
    """Orders made up from a seed: each is a function of the seed and of its own index, and of nothing else."""

    seed: int

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Orders start … start+count−1."""
        index = np.arange(start, start + count)
        bits = random_bits(self.seed, 0, start, count)
        columns = [
            pa.array(1_000_000 + index),
            SHOPS.take(pa.array(SHOP_OF[field(bits, 0, 12)])),
            STATUSES.take(pa.array(field(bits, 12, 2))),
            pa.array(100 + field(bits, 14, 14)),
            pa.array(FIRST_SECOND + index // 100).cast(pa.timestamp("s")),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=arrow_schema(FIELDS))


def recorded_orders(path: Path) -> Source:
    """Orders from a file of JSON lines, for --data."""
    return recorded_source(path, FIELDS, Json())


ORDERS = Stream(
    name="orders",
    about="Orders of a group of shops",
    fields=FIELDS,
    wire=Json(),
    synthetic=GeneratedOrders,
    recorded=recorded_orders,
)


@stage(key=("shop",))
def paid(orders: DataFrame, *, smallest_cents: int) -> DataFrame:
    """The paid orders that are not too small."""
    wanted = (fn.col("status") == "paid") & (fn.col("cents") >= smallest_cents)
    return orders.filter(wanted).select("shop", "order_id", "cents", "origin")


@stage(uses=("aggregate",), emits=Emits.UPDATES)
def turnover(paid: DataFrame) -> DataFrame:
    """The running number and sum of the paid orders of each shop."""
    return paid.groupBy("shop").agg(
        fn.count("*").alias("orders"),
        fn.sum("cents").alias("total_cents"),
        latest_origin(),
    )


def paid_orders(events: Any, *, smallest_cents: int) -> Expected:
    """Which order each event gives, if any."""
    return Expected(
        events.sql(f"""
            select partition, "offset", shop, order_id, cents
            from orders
            where status = 'paid' and cents >= {smallest_cents}
        """)
    )


def turnover_per_shop(events: Any, *, smallest_cents: int) -> Expected:
    """Where the figures of each shop must end, and which events change them."""
    return Expected(
        rows=events.sql(f"""
            select shop, count(*) as orders, sum(cents) as total_cents
            from orders
            where status = 'paid' and cents >= {smallest_cents}
            group by shop
        """),
        touches=events.sql(f"""
            select partition, "offset", shop
            from orders
            where status = 'paid' and cents >= {smallest_cents}
        """),
    )


APPLICATION = Application(
    name="orders-per-shop",
    question="How many paid orders has each shop had so far, and for how much?",
    inputs={"orders": ORDERS},
    stages=(paid, turnover),
    outputs=(
        Output("paid", paid_orders, PerEvent(("shop", "order_id", "cents"))),
        Output("turnover", turnover_per_shop, LatestPerKey(("shop",), {"orders": "rises", "total_cents": "rises"})),
    ),
    parameters={"smallest_cents": Parameter(0, "orders below this many cents are left out")},
)
