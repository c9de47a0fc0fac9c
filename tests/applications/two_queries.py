"""Word count as two queries: a topic lies between split and count."""

from __future__ import annotations

from dataclasses import replace

from streamgauge.applications import wordcount

APPLICATION = replace(wordcount.APPLICATION, name="two-queries", cuts=("split",))
