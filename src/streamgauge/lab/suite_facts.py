"""Everything that can be said of a suite without running it, as plain values."""

from __future__ import annotations

from typing import Any

from streamgauge.lab.budget import expected_run_s
from streamgauge.lab.expansion import expand
from streamgauge.lab.suite import LAPTOP, PAPER, QUICK, Scale, Suite


def suite_facts(suite: Suite) -> dict[str, Any]:
    """The suite's title and papers' rows, and at each scale its trials, its gaps and the time that it should take."""
    return {
        "name": suite.name,
        "title": suite.title,
        "about": suite.about,
        "papers": list(suite.papers),
        "matrices": [matrix.name for matrix in suite.matrices],
        "figures": [figure.title for figure in suite.figures],
        "scales": {scale.name: _at(suite, scale) for scale in (LAPTOP, QUICK, PAPER)},
    }


def _at(suite: Suite, scale: Scale) -> dict[str, Any]:
    trials = expand(suite, scale)
    return {
        "trials": len(trials),
        "gaps": sum(each.gap is not None for each in trials),
        "expected_s": round(expected_run_s(trials)),
    }
