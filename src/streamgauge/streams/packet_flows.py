"""packet-flows (SB2): statistics of an internet trace by packet size, seventeen numeric fields of about 200 bytes.

`--data FILE` replays such statistics from a file: tabs between the fields, in the order of `FIELDS`, with or without a
header line of their names. One line tells of one packet size in one trace: how many packets, bytes and flows of that
size went over IPv4 and IPv6 and over each transport protocol, and which share of the whole trace they were.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from streamgauge.model.stream import Source, Stream
from streamgauge.model.wire import Delimited, Field, FieldType
from streamgauge.streams.randomness import Bits, field, lookup_table, random_bits
from streamgauge.streams.recorded import recorded_source
from streamgauge.streams.schema import arrow_schema, column

FIELDS = (
    Field("first_packet_s", FieldType.DOUBLE, "when the first such packet was seen, in seconds since 1970"),
    Field("last_packet_s", FieldType.DOUBLE, "when the last such packet was seen, in seconds since 1970"),
    Field("packet_size", FieldType.LONG, "bytes of each packet counted here"),
    Field("ipv4_packets", FieldType.LONG, "packets of this size over IPv4"),
    Field("ipv6_packets", FieldType.LONG, "packets of this size over IPv6"),
    Field("tcp_packets", FieldType.LONG, "of both, over TCP"),
    Field("udp_packets", FieldType.LONG, "of both, over UDP"),
    Field("other_packets", FieldType.LONG, "of both, over ICMP or another protocol"),
    Field("ipv4_bytes", FieldType.LONG, "bytes over IPv4"),
    Field("ipv6_bytes", FieldType.LONG, "bytes over IPv6"),
    Field("tcp_bytes", FieldType.LONG, "bytes over TCP"),
    Field("udp_bytes", FieldType.LONG, "bytes over UDP"),
    Field("tcp_flows", FieldType.LONG, "flows over TCP that have such a packet"),
    Field("udp_flows", FieldType.LONG, "flows over UDP that have such a packet"),
    Field("packet_share_percent", FieldType.DOUBLE, "packets of this size among all of the trace"),
    Field("byte_share_percent", FieldType.DOUBLE, "bytes of this size among all of the trace"),
    Field("ipv6_share_percent", FieldType.DOUBLE, "packets over IPv6 among those of this size"),
)
WIRE = Delimited("\t")

_FIRST_TRACE_S = 1_379_595_600
"""2013-09-19 13:00:00 UTC."""
_TRACE_GAP_S = 2_592_000
_TRACE_US = 3_600_000_000
_LARGEST_PACKET = 1500
_SMALLEST_PACKET = 20
_USUAL_PACKETS = 900_000_000
_TRACE_PACKETS = 450_000_000_000
_TRACE_BYTES = 300_000_000_000_000
_DECIMALS = 9
_POPULAR_SIZES = {40: 9.0, 52: 7.0, 64: 2.0, 1420: 3.0, 1492: 2.0, 1500: 11.0}
"""Packets of these sizes are far more frequent than their neighbours: acknowledgements and full frames."""


@cache
def _popularity() -> npt.NDArray[np.float64]:
    """How many times more packets than usual there are of each size."""
    sizes = np.arange(_LARGEST_PACKET + 1, dtype=np.float64)
    popularity = 0.2 + np.exp(-sizes / 180) + 0.4 * np.exp((sizes - _LARGEST_PACKET) / 90)
    for size, factor in _POPULAR_SIZES.items():
        popularity[size] *= factor
    return popularity


@cache
def _percent_of_udp() -> npt.NDArray[np.int32]:
    """A table of UDP's share in percent: mostly small."""
    return lookup_table(np.exp(-np.arange(96) / 18), 12)


def _fraction(bits: Bits, shift: int) -> npt.NDArray[np.float64]:
    return field(bits, shift, 20) / float(1 << 20)


def _part(whole: npt.NDArray[np.int64], share: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    return (whole * share).astype(np.int64)


def _percent(part: npt.NDArray[np.int64], whole: npt.NDArray[np.int64] | int) -> npt.NDArray[np.float64]:
    """A share in percent with nine decimals, so that its text reads back as the same number."""
    return np.round(100.0 * part / np.maximum(whole, 1), _DECIMALS)


@dataclass(frozen=True)
class SyntheticFlows:
    """Generated statistics: each line is a function of seed and index alone."""

    seed: int

    def block(self, start: int, count: int) -> pa.RecordBatch:
        """Events start … start+count−1."""
        index = np.arange(start, start + count, dtype=np.int64)
        sizes_per_trace = _LARGEST_PACKET - _SMALLEST_PACKET + 1
        trace, place = np.divmod(index, sizes_per_trace)
        size = _SMALLEST_PACKET + place
        counts, shares = (random_bits(self.seed, lane, start, count) for lane in (0, 1))
        packets = (_popularity()[size] * _USUAL_PACKETS * (0.25 + 1.5 * _fraction(counts, 0))).astype(np.int64)
        ipv6 = _part(packets, 0.09 * _fraction(counts, 20))
        udp = _part(packets, _percent_of_udp()[field(shares, 0, 12)] / 100.0)
        other = _part(packets - udp, 0.02 * _fraction(shares, 12))
        tcp = packets - udp - other
        first_us = (_FIRST_TRACE_S + trace * _TRACE_GAP_S) * 1_000_000 + field(shares, 32, 10)
        last_us = first_us + _TRACE_US - field(shares, 42, 20)
        per_flow = 2 + 30 * _fraction(counts, 40)
        columns = (
            first_us / 1e6,
            last_us / 1e6,
            size,
            packets - ipv6,
            ipv6,
            tcp,
            udp,
            other,
            (packets - ipv6) * size,
            ipv6 * size,
            tcp * size,
            udp * size,
            _part(tcp, 1 / per_flow),
            _part(udp, 0.8 / per_flow),
            _percent(packets, _TRACE_PACKETS),
            _percent(packets * size, _TRACE_BYTES),
            _percent(ipv6, packets),
        )
        return pa.RecordBatch.from_arrays([column(c) for c in columns], schema=arrow_schema(FIELDS))


def _recorded(path: Path) -> Source:
    return recorded_source(path, FIELDS, WIRE)


STREAM = Stream(
    name="packet-flows",
    about="Statistics of internet traces by packet size: packets, bytes and flows of each protocol",
    fields=FIELDS,
    wire=WIRE,
    synthetic=SyntheticFlows,
    recorded=_recorded,
    papers=("SB2", "BO19"),
)
