"""Where an address is: a look-up in a table of address ranges that scans none, and the oracle's own way to it.

Ranges are put into buckets of 65,536 addresses (the first two numbers of an address), a large range into every bucket
that it reaches into. An address is compared with the ranges of its own bucket alone: an equi-join that Spark answers
from a hash table on every worker, with the bounds as its condition. In micro-batch Spark builds that hash table anew in
every batch: a table of some millions of ranges makes batches long.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as fn

BUCKET_BITS = 16
_ADDRESS, _BUCKET, _RANGE_BUCKET = "number of the address", "bucket of the address", "bucket of the range"
_OCTETS = "numbers in the address"
DOTTED = "^[0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,3}[.][0-9]{1,3}$"
"""What is an IPv4 address, if no number in it is above 255."""


def located(rows: DataFrame, address: str, places: DataFrame) -> DataFrame:
    """The rows with `country` and `city` in place of the dotted address; both are missing where no range has it."""
    bucket = fn.explode(fn.sequence(_bucket("first_address"), _bucket("last_address"))).alias(_RANGE_BUCKET)
    ranges = places.select(bucket, "first_address", "last_address", "country", "city")
    parted = rows.withColumn(_OCTETS, fn.split(address, "[.]"))
    numbered = parted.withColumn(_ADDRESS, _number(fn.col(address))).withColumn(_BUCKET, _bucket(_ADDRESS))
    in_range = (
        (fn.col(_BUCKET) == fn.col(_RANGE_BUCKET))
        & (fn.col("first_address") <= fn.col(_ADDRESS))
        & (fn.col(_ADDRESS) <= fn.col("last_address"))
    )
    kept = [name for name in rows.columns if name != address]
    return numbered.join(fn.broadcast(ranges), in_range, "left").select(*kept, "country", "city")


def _bucket(address: str) -> Column:
    return fn.shiftright(address, BUCKET_BITS)


def _number(address: Column) -> Column:
    """The address as a number, missing where it is none; its parts lie in a column, so that they are split once."""
    numbers = [fn.get(_OCTETS, fn.lit(place)).try_cast("bigint") for place in range(4)]
    number = numbers[0] * 2**24 + numbers[1] * 2**16 + numbers[2] * 2**8 + numbers[3]
    return fn.when(address.rlike(DOTTED) & (fn.greatest(*numbers) < 256), number)


def located_sql(table: str, address: str) -> str:
    """SQL for an oracle: `table` with country and city, each address beside the last range that begins before it."""
    number = f"list_transform(string_split({address}, '.'), lambda part: try_cast(part as bigint))"
    return f"""
        select visit.*, if(place.last_address >= visit.number, place.country, null) as country,
               if(place.last_address >= visit.number, place.city, null) as city
        from (
            select *, if(regexp_full_match({address}, '{DOTTED}') and list_max(part) < 256,
                         ((part[1] * 256 + part[2]) * 256 + part[3]) * 256 + part[4], null) as number
            from (select *, {number} as part from {table})
        ) visit
        asof left join places place on visit.number >= place.first_address
    """
