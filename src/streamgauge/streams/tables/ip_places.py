"""ip-places (BO2, BO8): which country and city an IPv4 address belongs to, as ranges of addresses.

The generated ranges are blocks of /13 to /24 with real names of countries and invented names of cities; one block in
ten has a country alone. `--data places=FILE` reads one of two forms of a GeoIP table, told apart by the header:

- `network,geoname_id,registered_country_geoname_id,…`: the blocks of a GeoLite2 City table. The names come from
  `…-Locations-en.csv` (or another locale) in the same folder, as both lie in the published archive. A block without a
  location of its own takes the country where it is registered; one without either has no place and is left out.
- `start_ip,end_ip,country,…,city`: first and last address of each range as dotted or whole numbers, and the names;
  columns in between, like `region`, are passed over.

Ranges may not overlap: an address has one place. IPv6 networks are left out.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

from streamgauge.model.errors import UserError
from streamgauge.model.table import StoredTable
from streamgauge.model.wire import Field, FieldType
from streamgauge.streams.randomness import field, lookup_table, random_bits, zipf_weights
from streamgauge.streams.schema import arrow_schema
from streamgauge.streams.vocabulary import words

FIELDS = (
    Field("first_address", FieldType.LONG, "first address of the range as a number"),
    Field("last_address", FieldType.LONG, "last address of the range as a number"),
    Field("country", FieldType.STRING, "name of the country"),
    Field("city", FieldType.STRING, "name of the city, where it is known", optional=True),
)

RANGE_COUNT = 4096
_COUNTRY_NAMES = (
    "United States,China,Japan,Germany,United Kingdom,France,Brazil,India,Canada,South Korea,Italy,Russia,Spain,"
    "Australia,Netherlands,Mexico,Indonesia,Turkey,Poland,Sweden,Argentina,Switzerland,South Africa,Belgium,Norway,"
    "Austria,Denmark,Finland,Portugal,Greece,Ireland,Czechia,Romania,Hungary,Ukraine,Israel,Egypt,Morocco,Nigeria,"
    "Kenya,Thailand,Vietnam,Malaysia,Singapore,Philippines,New Zealand,Chile,Colombia,Peru,Croatia,Cameroon,Jamaica,"
    "Tunisia,Paraguay"
)
_COUNTRIES = _COUNTRY_NAMES.split(",")
_CITIES_OF_THE_LARGEST = 64
_FEWEST_CITIES = 4
_LANE_BLOCKS, _LANE_PLACES = 20, 21
_SIZE_BITS = (8, 10, 12, 14, 16, 17, 18, 19)
"""Blocks have 2 to the power of these addresses."""
_SIZE_CHANCES = (0.22, 0.14, 0.16, 0.16, 0.16, 0.08, 0.06, 0.02)
_FIRST, _END = 1 << 24, 224 << 24
"""From 1.0.0.0 up to, but without, 224.0.0.0; 10.0.0.0/8 is nobody's."""
_PRIVATE = (10 << 24, 11 << 24)
_SPREAD = 15_485_863
"""A prime that does not divide the number of addresses."""


@cache
def generated_ranges() -> pa.Table:
    """Ranges in ascending order that do not touch 10.0.0.0/8."""
    bits = random_bits(0, _LANE_BLOCKS, 0, RANGE_COUNT)
    sizes = 1 << np.array(_SIZE_BITS, np.int64)[lookup_table(_SIZE_CHANCES, 12)[field(bits, 0, 12)]]
    step = (_END - _FIRST) // RANGE_COUNT
    first = _FIRST + step * np.arange(RANGE_COUNT, dtype=np.int64)
    # Aligned upwards inside its own step where the block fits there; a larger one is cut down to what fits.
    while np.any(too_long := -(-first // sizes) * sizes + sizes > first + step):
        sizes = np.where(too_long, sizes // 2, sizes)
    first = -(-first // sizes) * sizes
    last = first + sizes - 1
    country, city = _places(len(first))
    public = (last < _PRIVATE[0]) | (first >= _PRIVATE[1])
    table = pa.table([pa.array(first), pa.array(last), country, city], schema=arrow_schema(FIELDS))
    return table.filter(pa.array(public))


def client_addresses_of(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """An address in the generated ranges for each anonymous client: always the same, and below 2^27 no two alike."""
    first, last = (generated_ranges()[name].to_numpy() for name in ("first_address", "last_address"))
    ends = np.cumsum(last - first + 1)
    places = numbers * _SPREAD % ends[-1]
    found = np.searchsorted(ends, places, side="right")
    addresses: npt.NDArray[np.int64] = last[found] - (ends[found] - 1 - places)
    return addresses


def address_text(address: int) -> str:
    """The dotted form of an address."""
    return f"{address >> 24}.{address >> 16 & 255}.{address >> 8 & 255}.{address & 255}"


def _places(count: int) -> tuple[pa.StringArray, pa.StringArray]:
    """A country and mostly a city for each range; four ranges in a row are of one country."""
    bits = random_bits(0, _LANE_PLACES, 0, count)
    countries = lookup_table(zipf_weights(len(_COUNTRIES), 0.8), 16)[np.repeat(field(bits, 0, 16)[::4], 4)[:count]]
    cities_of = np.maximum(_FEWEST_CITIES, _CITIES_OF_THE_LARGEST // (1 + np.arange(len(_COUNTRIES))))
    first_city = np.concatenate([[0], np.cumsum(cities_of)])
    names = pa.array([word.capitalize() for word in words()[-int(first_city[-1]) :]], pa.string())
    city = first_city[countries] + field(bits, 16, 16) % cities_of[countries]
    known = field(bits, 32, 10) >= 102
    return pa.array(_COUNTRIES).take(pa.array(countries)), names.take(pa.array(city, mask=~known))


def _recorded(path: Path) -> pa.Table:
    if not path.is_file():
        raise UserError(f"there is no file {path}", "Give the CSV file of a table of address ranges")
    table = _csv(path)
    if "network" in table.column_names:
        ranges = _of_networks(table, path)
    elif {"start_ip", "end_ip", "country", "city"} <= set(table.column_names):
        first, last = (_numbers(table[name], path) for name in ("start_ip", "end_ip"))
        ranges = pa.table([first, last, table["country"], table["city"]], schema=arrow_schema(FIELDS))
    else:
        raise UserError(
            f"{path} has the columns {', '.join(table.column_names)}",
            "Needed are network and geoname_id (GeoLite2 blocks), or start_ip, end_ip, country and city",
        )
    known = pc.and_(pc.is_valid(ranges["country"]), pc.is_valid(ranges["first_address"]))
    return _checked(ranges.filter(known).sort_by("first_address"), path)


def _csv(path: Path) -> pa.Table:
    """Every column as text, an empty one as missing."""
    try:
        with pyarrow.csv.open_csv(path) as opened:
            names = opened.schema.names
        types = dict.fromkeys(names, pa.string())
        convert = pyarrow.csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True)
        return pyarrow.csv.read_csv(path, convert_options=convert)
    except (pa.ArrowInvalid, OSError) as error:
        told = str(error).splitlines()[0].rstrip(".")
        raise UserError(f"{path} cannot be read: {told}", "Give a CSV file with a header line") from None


def _of_networks(blocks: pa.Table, path: Path) -> pa.Table:
    """The blocks of a GeoLite2 table as ranges with the names of its locations."""
    parts = pc.split_pattern(pc.replace_substring(blocks["network"], "/", "."), ".").combine_chunks()
    ipv4 = pc.equal(pc.list_value_length(parts), 5)
    blocks, parts = blocks.filter(ipv4), parts.filter(ipv4)
    digits = _whole(pc.list_flatten(parts), path).reshape(-1, 5)
    if len(digits) and (digits[:, :4].max() > 255 or digits[:, 4].max() > 32):
        raise UserError(f"{path} has a network that is none", "A network looks like 203.0.113.0/24")
    first = digits[:, :4] @ np.array([1 << 24, 1 << 16, 1 << 8, 1])
    size = np.int64(1) << (32 - digits[:, 4])
    first = first // size * size
    locations = _locations(path)
    wanted = pc.coalesce(blocks["geoname_id"], blocks["registered_country_geoname_id"])
    place = pc.index_in(wanted, locations["geoname_id"].combine_chunks(), skip_nulls=True).combine_chunks()
    country, city = (locations[name].combine_chunks().take(place) for name in ("country_name", "city_name"))
    return pa.table([pa.array(first), pa.array(first + size - 1), country, city], schema=arrow_schema(FIELDS))


def _locations(blocks_path: Path) -> pa.Table:
    found = sorted(blocks_path.parent.glob("*Locations-*.csv"))
    if not found:
        raise UserError(
            f"there is no locations file beside {blocks_path}", "Put GeoLite2-City-Locations-en.csv into its folder"
        )
    english = [path for path in found if path.stem.endswith("-en")]
    table = _csv((english or found)[0])
    for name in ("geoname_id", "country_name"):
        if name not in table.column_names:
            raise UserError(f"{(english or found)[0]} has no column '{name}'", "Give a locations file of GeoLite2")
    if "city_name" not in table.column_names:
        table = table.append_column("city_name", pa.nulls(len(table), pa.string()))
    return table


def _numbers(texts: pa.ChunkedArray, path: Path) -> pa.Array:
    """Addresses as numbers, from dotted or whole ones; an IPv6 address is missing."""
    texts = texts.combine_chunks()
    parts = pc.split_pattern(texts, ".")
    dotted = pc.equal(pc.list_value_length(parts), 4)
    numbers = np.zeros(len(texts), np.int64)
    digits = _whole(pc.list_flatten(parts.filter(dotted)), path).reshape(-1, 4)
    numbers[dotted.to_numpy(zero_copy_only=False)] = digits @ np.array([1 << 24, 1 << 16, 1 << 8, 1])
    whole = pc.invert(pc.or_(dotted, pc.match_substring(texts, ":")))
    numbers[whole.to_numpy(zero_copy_only=False)] = _whole(texts.filter(whole), path)
    if (digits.size and digits.max() > 255) or (len(numbers) and numbers.max() >= 1 << 32):
        raise UserError(f"{path} has an address that is none", "An address looks like 203.0.113.7 or 3405803783")
    return pa.array(numbers, mask=pc.match_substring(texts, ":").to_numpy(zero_copy_only=False))


def _whole(texts: pa.Array, path: Path) -> npt.NDArray[np.int64]:
    try:
        numbers: npt.NDArray[np.int64] = pc.cast(texts, pa.int64()).to_numpy(zero_copy_only=False).astype(np.int64)
    except pa.ArrowInvalid as error:
        raise UserError(f"{path}: {error}", "An address looks like 203.0.113.7 or 3405803783") from None
    return numbers


def _checked(ranges: pa.Table, path: Path) -> pa.Table:
    first, last = ranges["first_address"].to_numpy(), ranges["last_address"].to_numpy()
    if not len(first):
        raise UserError(f"{path} has no range with a country", "Give a table of IPv4 ranges")
    bad = np.flatnonzero((last < first) | (np.append(first[1:], np.iinfo(np.int64).max) <= last))
    if len(bad):
        raise UserError(
            f"{path}: the range from {address_text(int(first[bad[0]]))} on overlaps the next or ends before it begins"
        )
    return ranges


TABLE = StoredTable(
    name="ip-places",
    about="Ranges of IPv4 addresses with the country and city that they belong to",
    fields=FIELDS,
    synthetic=generated_ranges,
    recorded=_recorded,
)
