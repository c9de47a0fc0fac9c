"""Random bits at any indices are those of the row of indices."""

from __future__ import annotations

import numpy as np

from streamgauge.streams.randomness import random_bits, random_bits_at


def test_bits_at_indices_in_any_order_are_the_same_bits():
    row = random_bits(3, 2, 100, 50)
    order = np.random.default_rng(1).permutation(50)
    assert np.array_equal(random_bits_at(3, 2, 100 + order), row[order])


def test_an_index_below_zero_has_bits_of_its_own():
    low, high = random_bits_at(3, 2, np.array([-1, 0]))
    assert low != high and high == random_bits(3, 2, 0, 1)[0]


def test_seeds_and_lanes_differ():
    indices = np.arange(10)
    found = [random_bits_at(seed, lane, indices).tolist() for seed in (0, 1) for lane in (0, 1)]
    assert all(one != other for place, one in enumerate(found) for other in found[place + 1 :])
