"""Durability: slots of availability worked by hand, and memory that grows or does not."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamgauge.measure.durability import SLOT_S, availability, measure_durability
from streamgauge.measure.window import Window
from streamgauge.model.verdict import Verdict

MIB = 2**20


def seconds(*slots: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Seconds from slots of (events in each second, events answered in its last second)."""
    came = np.concatenate([[i] * SLOT_S for i, _ in slots])
    answered = np.concatenate([[0] * (SLOT_S - 1) + [a] for _, a in slots])
    return came, answered


@pytest.mark.parametrize(
    ("slots", "available"),
    [
        ([(10, 50), (10, 50), (10, 50)], [1, 1, 1]),
        ([(10, 50), (10, 0), (10, 0), (10, 150)], [1, 1, 0, 1]),
        ([(10, 40), (10, 0), (10, 110)], [1, 0, 1]),
        ([(10, 50), (0, 0), (0, 0), (10, 50)], [1, 1, 1, 1]),
        ([(10, 0), (10, 0), (10, 0), (0, 0)], [1, 0, 0, 0]),
        # 30 events had been waiting before the first second: an outage from the start is seen at once.
        ([(10, 0), (10, 130)], [0, 1]),
    ],
)
def test_a_slot_is_available_where_input_was_answered_or_none_waited(slots, available) -> None:
    came, answered = seconds(*slots)
    assert availability(came, answered, len(came)).astype(int).tolist() == available


def test_only_whole_slots_of_the_time_of_the_input_count() -> None:
    came, answered = seconds((10, 50), (10, 0), (0, 0), (0, 50))
    assert len(availability(came, answered, 2 * SLOT_S)) == 2
    assert len(availability(came, answered, 2 * SLOT_S - 1)) == 1
    assert len(availability(came, answered, SLOT_S - 1)) == 0


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=8))
def test_a_service_that_answers_in_every_slot_is_always_available(slots) -> None:
    came, answered = seconds(*slots)
    assert availability(came, answered, len(came)).all()


def durability(slots, rss, *, duplicated=0, seen=100):
    came, answered = seconds(*slots)
    table = pa.table({"in_events": came, "consumed_events": answered})
    at = 1000 * np.arange(len(came))
    resources = pa.table({"at_ms": at, "component": ["job"] * len(at), "rss_bytes": pa.array(rss(at), pa.int64())})
    window = Window(0, 1, 1, 1, 0, int(at[-1]))
    return measure_durability(table, resources, window, Verdict(10, seen, duplicated=duplicated), start_ms=0)


def test_a_soak_by_hand() -> None:
    slots = [(10, 50), (10, 50), (10, 0), (10, 0), (10, 150), (10, 50)]
    found = durability(slots, lambda at: 1000 * MIB + at / 1000 * MIB, duplicated=3)
    assert (found.slots, found.available, found.longest_outage_s) == (6, 5, SLOT_S)
    assert found.index == pytest.approx(5 / 6)
    assert (found.reprocessed, found.reprocessed_share) == (3, 0.03)
    assert found.memory_bytes_per_h == pytest.approx(3600 * MIB)
    # 29 MiB of 1,015 are beyond chance, but not a tenth.
    assert found.memory_grows is False


def test_memory_that_grows_by_a_tenth_is_said_to_grow() -> None:
    assert durability([(10, 50)] * 6, lambda at: 100 * MIB + at / 1000 * MIB).memory_grows is True
    noise = np.random.default_rng(1).integers(-30, 30, 30) * MIB
    assert durability([(10, 50)] * 6, lambda at: 100 * MIB + noise).memory_grows is False


def test_events_that_all_lay_in_the_log_have_no_durability() -> None:
    table = pa.table({"in_events": [0, 0], "consumed_events": [5, 5]})
    resources = pa.table({"at_ms": pa.array([], pa.int64()), "component": pa.array([], pa.string())})
    resources = resources.append_column("rss_bytes", pa.array([], pa.int64()))
    found = measure_durability(table, resources, Window(0, 1, 1, 1, 0, 10), Verdict(1, 1), start_ms=99_000)
    assert (found.index, found.memory_bytes, found.memory_grows) == (None, None, None)
    assert found.as_dict()["index"] is None
