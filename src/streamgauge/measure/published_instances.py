"""Instances per operator as published: Bordin's thesis, Table 3.4, by the id of the application's row in our list.

The table has ten of the fourteen applications; the other four have none to compare with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

SOURCE = "Bordin, A benchmark suite for distributed stream processing systems (2017), Table 3.4"


@dataclass(frozen=True)
class PublishedInstances:
    """The instances of one application's operators, under the names that the thesis gives them."""

    application: str
    instances: Mapping[str, int]


TABLE_3_4: Mapping[str, PublishedInstances] = {
    "BO1": PublishedInstances("word-count", {"source": 1, "splitter": 5, "counter": 6, "sink": 3}),
    "BO2": PublishedInstances(
        "log-processing",
        {"source": 4, "status-counter": 1, "volume-counter": 2, "geo-locator": 4, "geo-summarizer": 2, "sink": 4},
    ),
    "BO3": PublishedInstances("traffic-monitoring", {"source": 1, "map-matcher": 2, "speed-calculator": 2, "sink": 1}),
    "BO4": PublishedInstances(
        "machine-outlier", {"source": 6, "scorer": 1, "anomaly-scorer": 1, "alert-trigger": 4, "sink": 1}
    ),
    "BO5": PublishedInstances(
        "sentiment-analysis",
        {
            "source": 1,
            "tweet-filter": 1,
            "text-filter": 1,
            "stemmer": 1,
            "positive-scorer": 1,
            "negative-scorer": 1,
            "joiner": 1,
            "scorer": 1,
            "sink": 1,
        },
    ),
    "BO6": PublishedInstances(
        "spam-filter", {"source": 1, "tokenizer": 10, "word-probability": 1, "bayes-rule": 1, "sink": 1}
    ),
    "BO7": PublishedInstances(
        "trending-topics",
        {"source": 9, "topic-extractor": 2, "counter": 1, "intermediate-ranker": 1, "total-ranker": 1, "sink": 1},
    ),
    "BO8": PublishedInstances(
        "click-analytics",
        {"source": 2, "repeat-visits": 2, "total-visits": 2, "geo-locator": 5, "geo-summarizer": 1, "sink-visits": 1},
    ),
    "BO9": PublishedInstances("fraud-detection", {"source": 8, "predictor": 3, "sink": 2}),
    "BO10": PublishedInstances("spike-detection", {"source": 7, "moving-average": 3, "spike-detector": 2, "sink": 1}),
}


def published_instances(papers: Iterable[str]) -> PublishedInstances | None:
    """What the thesis gives for an application with these ids, or None."""
    return next((TABLE_3_4[paper] for paper in papers if paper in TABLE_3_4), None)
