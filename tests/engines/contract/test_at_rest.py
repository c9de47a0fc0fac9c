"""Every application's stages give the oracle's answer for several seeds, and lose nothing but what is malformed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamgauge.applications import all_applications
from tests.engines.contract.at_rest import AtRest

EVENTS = 6_000
SEEDS = (1, 2)
MORE = (3, 4, 5)
"""In `make test-long`."""
SPOILED = 0.01

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]


@pytest.mark.parametrize("seed", [*SEEDS, *(pytest.param(seed, marks=pytest.mark.long) for seed in MORE)])
@pytest.mark.parametrize("name", sorted(all_applications()))
def test_stages_and_oracle_agree_and_malformed_events_are_left_out(
    spark: Any, tmp_path: Path, name: str, seed: int
) -> None:
    trial = AtRest(spark, all_applications()[name], seed, EVENTS, tmp_path, malformed=SPOILED)
    for output in trial.application.leaf_outputs():
        verdict = trial.verdict(output)
        assert verdict.correct and verdict.expected > 0, (output.stage, verdict)
    for name_of_input, expected in trial.rejected.items():
        injected = {tuple(row.values()) for row in expected.to_pylist()}
        assert injected
        # A wrong answer would tell of a malformed event that is let through; who is left out is asked once.
        if seed == SEEDS[0]:
            assert trial.dead_letters(name_of_input) == injected, name_of_input
