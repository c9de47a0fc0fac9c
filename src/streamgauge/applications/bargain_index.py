"""Bargain index (BO11): which quotes ask less for a stock than was paid for it of late, and how good are they?

The volume-weighted average price of a symbol is Σ price · volume / Σ volume over its last `window` trades, or over all
while there are fewer. A quote that asks less is worth exp(VWAP − ask price) · ask size with prices in dollars, one that
does not is worth nothing and is dropped; above `threshold` the stock is ordered. Source: Formulas 3.2 and 3.3 of
Bordin's thesis (2017), after Gedik et al. (2008) and Ranganathan, Riabov and Udrea (2011). A quote before its symbol's
first trade has no VWAP. A trade without price or volume and a quote without an ask are passed over.

Prices are whole cents, so the difference is one division of whole numbers. Two libraries' exp() may differ in the last
bits of a double, hence the index is given in single precision. A difference above 50 dollars counts as 50.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.count_window import sums_over_last
from streamgauge.applications.origin import newest_origin
from streamgauge.applications.parameters import Positive, WholeNumber
from streamgauge.applications.stateful import ORIGIN_COLUMNS, in_batches
from streamgauge.model import Application, Expected, Output, PerEvent, stage
from streamgauge.streams.trades_and_quotes import QUOTE, STREAM, TRADE

if TYPE_CHECKING:
    import pandas as pd

MOST_DOLLARS = 50.0
"""Keeps the index of a misprinted price finite in single precision."""
EMITTED = ("symbol", "ask_price", "ask_size", "vwap", "bargain_index")


@stage(uses=("aggregate", "row-updates"))
def bargains(ticks: DataFrame, *, window: int) -> DataFrame:
    """The last trades of a symbol beside its newest quote as an aggregate, answered anew with each record."""
    offset = fn.col("origin.offset")
    trade = fn.when(fn.col("kind") == TRADE, fn.struct("cents", "shares"))
    quote = fn.when(fn.col("kind") == QUOTE, fn.struct("cents", "shares"))
    joined = (
        _ticks_in_cents(ticks)
        .groupBy("symbol")
        .agg(
            fn.max_by(trade, fn.when(fn.col("kind") == TRADE, offset), window).alias("trades"),
            fn.max_by(quote, offset).alias("ask"),
            newest_origin(),
        )
        .filter("ask is not null and size(trades) > 0")
    )
    zero = fn.lit(0).cast("bigint")
    paid = fn.aggregate("trades", zero, lambda sum_, trade: sum_ + trade["cents"] * trade["shares"])
    shares = fn.aggregate("trades", zero, lambda sum_, trade: sum_ + trade["shares"])
    summed = joined.select("symbol", "ask.*", paid.alias("paid"), shares.alias("traded"), "origin")
    dollars = _dollars(fn.col("paid") - fn.col("cents") * fn.col("traded"), fn.col("traded"))
    worth = fn.exp(fn.least(dollars, fn.lit(MOST_DOLLARS))) * fn.col("shares")
    return summed.filter("paid > cents * traded").select(
        "symbol",
        (fn.col("cents") / fn.lit(100.0)).alias("ask_price"),
        fn.col("shares").alias("ask_size"),
        _dollars(fn.col("paid"), fn.col("traded")).alias("vwap"),
        worth.cast("float").alias("bargain_index"),
        "origin",
    )


def _dollars(cents: Column, shares: Column) -> Column:
    return cents / (shares * fn.lit(100.0))


@bargains.variant("stateful", uses=("python-state",))
def bargains_in_batches(ticks: DataFrame, *, window: int) -> DataFrame:
    """The same with a state per bucket of symbols: the last trades of each."""

    def step(state: bytes | None, batch: pd.DataFrame) -> tuple[bytes, pd.DataFrame]:
        batch["paid"] = batch["cents"] * batch["shares"]
        is_trade = (batch["kind"] == TRADE).to_numpy()
        last = sums_over_last(window, state, batch, "symbol", ["paid", "shares"], is_trade)
        paid, traded = last.sums
        found = np.flatnonzero(~is_trade & (paid > batch["cents"].to_numpy() * traded))
        quotes, paid, per_dollar = batch.iloc[found], paid[found], traded[found] * 100.0
        cents, size = quotes["cents"].to_numpy(), quotes["shares"].to_numpy()
        dollars = np.minimum((paid - cents * traded[found]) / per_dollar, MOST_DOLLARS)
        made = quotes[["symbol", *ORIGIN_COLUMNS]].assign(
            ask_price=cents / 100.0,
            ask_size=size,
            vwap=paid / per_dollar,
            bargain_index=(np.exp(dollars) * size).astype(np.float32),
        )
        return last.state, made

    emitted = "symbol string, ask_price double, ask_size bigint, vwap double, bargain_index float"
    return in_batches(_ticks_in_cents(ticks), "symbol", step, emitted)


def _ticks_in_cents(ticks: DataFrame) -> DataFrame:
    """Trades and asks alike: kind, whole cents and number of shares; what lacks one of them is left out."""
    is_trade, is_quote = fn.col("kind") == TRADE, fn.col("kind") == QUOTE
    price = fn.when(is_trade, fn.col("price")).when(is_quote, fn.col("ask_price"))
    shares = fn.when(is_trade, fn.col("volume")).when(is_quote, fn.col("ask_size"))
    cents = fn.floor(price * 100 + 0.5)
    rows = ticks.select("symbol", "kind", cents.alias("cents"), shares.alias("shares"), "origin")
    return rows.filter("cents is not null and shares > 0")


@stage
def orders(bargains: DataFrame, *, threshold: float) -> DataFrame:
    """The bargains that are good enough to be bought."""
    return bargains.filter(fn.col("bargain_index").cast("double") > threshold)


BARGAINS = """
    with ticks_in_cents as (
        select partition, "offset", symbol, kind = 'trade' as is_trade,
               floor((case when is_trade then price else ask_price end) * 100 + 0.5)::bigint as cents,
               case when is_trade then volume else ask_size end as shares
        from ticks where kind in ('trade', 'quote') and cents is not null and shares > 0),
    numbered as (
        select *, count(*) filter (is_trade) over (partition by symbol order by "offset") as nth_trade
        from ticks_in_cents),
    averaged as (
        select symbol, nth_trade, sum(cents * shares) over latest as paid, sum(shares) over latest as traded
        from numbered where is_trade
        window latest as (partition by symbol order by nth_trade rows between {others} preceding and current row))
    select quote.partition, quote."offset", symbol, cents / 100.0::double as ask_price, shares as ask_size,
           paid::double / (traded * 100.0::double) as vwap,
           (exp(least((paid - cents * traded)::double / (traded * 100.0::double), {most_dollars}::double))
               * shares)::float as bargain_index
    from numbered quote join averaged using (symbol, nth_trade)
    where not quote.is_trade and paid > cents * traded
"""


def quotes_below_the_average(events: Any, *, window: int) -> Expected:
    """Each quote joined with the trade before it, which carries the sums over a frame of trades."""
    return Expected(events.sql(BARGAINS.format(others=window - 1, most_dollars=MOST_DOLLARS)))


def worth_an_order(events: Any, *, window: int, threshold: float) -> Expected:
    """Of these, the ones whose index is above the threshold."""
    bargains = BARGAINS.format(others=window - 1, most_dollars=MOST_DOLLARS)
    return Expected(events.sql(f"select * from ({bargains}) where bargain_index::double > {threshold!r}::double"))


APPLICATION = Application(
    name="bargain-index",
    question="Which quotes ask less for a stock than was paid for it of late, and how good are they?",
    inputs={"ticks": STREAM},
    required={"ticks": ("symbol", "kind")},
    stages=(bargains, orders),
    outputs=(
        Output("bargains", quotes_below_the_average, PerEvent(EMITTED, key=("symbol",))),
        Output("orders", worth_an_order, PerEvent(EMITTED, key=("symbol",))),
    ),
    parameters={
        "window": WholeNumber(15, "how many of a symbol's last trades are averaged", most=10_000),
        "threshold": Positive(300.0, "bargain index above which the stock is ordered"),
    },
    order="within a symbol by offset",
    papers=("BO11",),
    deviations=(
        "Trades and quotes travel in one stream, keyed by symbol, so that the log orders them against each other.",
        "The index is given in single precision, and a price is at most 50 dollars below the average.",
    ),
)
