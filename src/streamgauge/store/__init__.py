"""Runs on disk: versioned, append-only, JSON and Parquet."""

from streamgauge.store.records import Record, public_json, trial_record
from streamgauge.store.run_store import ListedRun, RunStore, RunWriter, StoredRun

__all__ = ["ListedRun", "Record", "RunStore", "RunWriter", "StoredRun", "public_json", "trial_record"]
