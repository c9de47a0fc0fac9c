"""Threat detection (LO1): which network connections are a threat, and of which class?

Lopez, Lobato and Duarte (2016) compared stream processors by their own threat detection, a neural network over
features of network traffic (Lobato, Lopez and Duarte 2016); its weights and data were not published. Here a network
with one hidden layer is trained before anything runs, on generated connections in the style of KDD'99:
`streams/tables/threat_model.py` is the command that does it, and says how a score is made of whole numbers. The answer
has a row for every connection whose class is not `normal`: the class, and by how much its output is above that of
`normal`.

Precision and recall count connections taken for any threat against those whose label is any attack.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

from streamgauge.applications.evaluation import evaluated_once
from streamgauge.applications.labels import precision_and_recall
from streamgauge.model import Application, Expected, Output, PerEvent, stage
from streamgauge.streams.network_flows import NORMAL, STREAM
from streamgauge.streams.tables.threat_model import (
    CLASSES,
    FEATURES,
    FIELDS_READ,
    LEVEL_STEP,
    ONE,
    POWERS_OF_FOUR,
    Feature,
    features_of,
    kept_network,
)

if TYPE_CHECKING:
    import pyarrow as pa

_ORIGIN = "origin struct<append_ms: bigint, partition: int, offset: bigint, ordinal: int>"


@stage(uses=("python-udf",))
def detect(connections: DataFrame) -> DataFrame:
    """The threats, a matrix product for each Arrow batch."""

    def classify(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import numpy as np
        import pyarrow as pa

        network, classes = kept_network(), pa.array(CLASSES)
        for batch in batches:
            outputs = network.outputs(features_of(batch))
            found = outputs.argmax(axis=1)
            threats = np.flatnonzero(found)
            margin = outputs[threats, found[threats]] - outputs[threats, 0]
            columns = [
                classes.take(pa.array(found[threats])),
                pa.array(margin),
                batch["origin"].take(pa.array(threats)),
            ]
            yield pa.RecordBatch.from_arrays(columns, names=["class", "margin", "origin"])

    return connections.select(*FIELDS_READ, "origin").mapInArrow(classify, f"class string, margin bigint, {_ORIGIN}")


@detect.variant("expressions")
def detect_by_expressions(connections: DataFrame) -> DataFrame:
    """The threats, the network written out as sums; doubles, in which these whole numbers are exact.

    Sums of longs would be longer in Java, since each step of them is checked for an overflow.
    """
    network = kept_network()
    inputs = connections.select(*[_input(f).alias(f"x{i}") for i, f in enumerate(FEATURES)], "origin")
    units = [
        fn.greatest(fn.lit(0.0), _weighted(weights, bias, "x")).alias(f"h{i}")
        for i, (weights, bias) in enumerate(zip(network.hidden, network.hidden_bias, strict=True))
    ]
    outputs = [
        _weighted(weights, bias, "h").alias(name)
        for name, weights, bias in zip(CLASSES, network.output, network.output_bias, strict=True)
    ]
    threats = CLASSES[1:]
    largest = reduce(
        lambda chosen, name: chosen.when(fn.col(name) == fn.greatest(*threats), name),
        threats[1:],
        fn.when(fn.col(threats[0]) == fn.greatest(*threats), threats[0]),
    )
    margin = (fn.greatest(*threats) - fn.col(NORMAL)).cast("bigint")
    answers = inputs.select(*units, "origin").select(*outputs, "origin")
    # Or else the filter goes below all of this, with the whole network written out in it once more.
    return answers.select(largest.alias("class"), evaluated_once(margin).alias("margin"), "origin").filter("margin > 0")


def _input(feature: Feature) -> Column:
    """The feature as a double that Spark knows is never null: connections that lack a field are malformed."""
    value = fn.col(feature.field)
    match feature.kind:
        case "level":
            steps = fn.when(value < POWERS_OF_FOUR[0], 0.0)
            for passed, power in enumerate(POWERS_OF_FOUR[1:], start=1):
                steps = steps.when(value < power, float(passed * LEVEL_STEP))
            return steps.otherwise(float(len(POWERS_OF_FOUR) * LEVEL_STEP))
        case "capped":
            return fn.least(value, fn.lit(feature.cap)).cast("double")
        case "percent":
            return fn.coalesce(fn.floor(value * 100 + 0.5).cast("double"), fn.lit(0.0))
        case "is":
            return fn.when(value == feature.text, float(ONE)).otherwise(0.0)


def _weighted(weights: Any, bias: Any, name: str) -> Column:
    terms = (fn.col(f"{name}{i}") * float(weight) for i, weight in enumerate(weights) if weight)
    return reduce(lambda total, term: total + term, terms, fn.lit(float(bias)))


def threats_of_the_network(events: Any) -> Expected:
    """The threats by DuckDB's inner products of lists, and what they are worth against the labels."""
    network = kept_network()
    listed = ", ".join(f"{_sql_of(feature)}::double" for feature in FEATURES)
    weights = {name: getattr(network, name).astype(float).tolist() for name in vars(network)}
    hidden = " , ".join(
        f"greatest(0, list_dot_product({row}::double[], x) + {bias})"
        for row, bias in zip(weights["hidden"], weights["hidden_bias"], strict=True)
    )
    outputs = ", ".join(
        f"list_dot_product({row}::double[], h) + {bias}"
        for row, bias in zip(weights["output"], weights["output_bias"], strict=True)
    )
    scored = f"""
        select partition, "offset", label, o, list_position(o, list_max(o)) as place
        from (select partition, "offset", label, [{outputs}] as o
              from (select partition, "offset", label, [{hidden}] as h
                    from (select partition, "offset", label, [{listed}] as x from connections)))
    """
    labelled = f"select place > 1 as named, label <> '{NORMAL}' as meant from ({scored})"
    return Expected(
        rows=events.sql(f"""
            select partition, "offset", {list(CLASSES)}[place] as class, (o[place] - o[1])::bigint as margin
            from ({scored}) where place > 1
        """),
        quality=precision_and_recall(events, labelled),
    )


def _sql_of(feature: Feature) -> str:
    field = f'"{feature.field}"'
    match feature.kind:
        case "level":
            return f"len(list_filter({list(POWERS_OF_FOUR)}, power -> power <= {field})) * {LEVEL_STEP}"
        case "capped":
            return f"least({field}, {feature.cap})"
        case "percent":
            return f"floor({field} * 100 + 0.5)"
        case "is":
            return f"case when {field} = '{feature.text}' then {ONE} else 0 end"


APPLICATION = Application(
    name="threat-detection",
    question="Which network connections are a threat, and of which class?",
    inputs={"connections": STREAM},
    stages=(detect,),
    outputs=(Output("detect", threats_of_the_network, PerEvent(("class", "margin"))),),
    required={"connections": FIELDS_READ},
    papers=("LO1",),
    deviations=(
        "The paper's network and its data were not published: ours is trained on connections in the style of KDD'99.",
        "Weights and features are rounded to whole numbers, so that every engine gives the same score.",
    ),
)
