"""Who visits which pages of a generated web site: what web-log and clicks draw their events from."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamgauge.streams.randomness import field, lookup_table, random_bits, zipf_weights
from streamgauge.streams.tables.ip_places import address_text, generated_ranges
from streamgauge.streams.vocabulary import words

CLIENT_COUNT = 1 << 15
PAGE_COUNT = 1 << 11
CLIENT_WIDTH, PAGE_WIDTH = 17, 14
"""Bits of randomness that choose a client and a page."""

EVENTS_PER_S = 50
_FIRST_SECOND = 893_964_617
"""1998-04-30 19:30:17 UTC, the evening on which the World Cup 98 logs begin."""
_LANE_CLIENTS = 22
_SHARE_OF_PRIVATE = 0.05
_PRIVATE_NETWORK = 10 << 24


@cache
def client_addresses() -> pa.StringArray:
    """The address of each client: 95 in 100 lie in the ranges of ip-places, the others in 10.0.0.0/8."""
    bits = random_bits(0, _LANE_CLIENTS, 0, CLIENT_COUNT)
    ranges = generated_ranges()
    first, last = ranges["first_address"].to_numpy(), ranges["last_address"].to_numpy()
    size = last - first + 1
    # By the square root of a range's size: else nearly all would come from the few largest ranges.
    chosen = lookup_table(np.sqrt(size), 20)[field(bits, 0, 20)]
    address = first[chosen] + field(bits, 20, 24) % size[chosen]
    private = field(bits, 44, 12) < _SHARE_OF_PRIVATE * (1 << 12)
    address = np.where(private, _PRIVATE_NETWORK + field(bits, 20, 24), address)
    return pa.array([address_text(number) for number in address.tolist()], pa.string())


@cache
def clients() -> npt.NDArray[np.int32]:
    """A table of clients, the busy ones more often."""
    return lookup_table(zipf_weights(CLIENT_COUNT, 0.85), CLIENT_WIDTH)


@cache
def pages() -> npt.NDArray[np.int32]:
    """A table of pages, the popular ones more often."""
    return lookup_table(zipf_weights(PAGE_COUNT, 1.1), PAGE_WIDTH)


@cache
def page_paths() -> tuple[str, ...]:
    """The path of each page, the most popular first, no two alike: pictures, pages and programs."""
    vocabulary = words()
    kinds = ("/images/{}.gif", "/english/{}.html", "/images/{}.jpg", "/french/{}.html", "/{}/index.html", "/cgi/{}.pl")
    return ("/", *(kinds[rank % len(kinds)].format(vocabulary[-rank]) for rank in range(1, PAGE_COUNT)))


def visit_seconds(start: int, count: int, jitter: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Seconds since 1970 that grow with the index for ever; `jitter` of 8 bits puts some visits 1 to 3 s behind."""
    behind = (jitter < 48).astype(np.int64) + (jitter < 16) + (jitter < 4)
    return _FIRST_SECOND + np.arange(start, start + count, dtype=np.int64) // EVENTS_PER_S - behind
