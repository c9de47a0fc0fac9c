"""When Spark evaluates an expression: it writes one out anew wherever it is named once, also inside a loop."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as fn


def evaluated_once(column: Column) -> Column:
    """The column, kept where it is selected: Spark does not move what depends on the partition.

    Without it an array that a later select reads inside a lambda is made again for every element, and a filter carries
    all that it depends on down to the source.
    """
    return fn.when(fn.spark_partition_id() >= 0, column)
