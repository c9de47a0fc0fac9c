"""Runs on disk: versioned, append-only, JSON and Parquet."""

from streamgauge.store.notes import Notes, notes_of, read_notes, write_notes
from streamgauge.store.records import Record, public_json, trial_record
from streamgauge.store.run_store import HeldRunError, ListedRun, RunStore, RunWriter, UnknownRunError
from streamgauge.store.stored_run import StoredRun

__all__ = [
    "HeldRunError",
    "ListedRun",
    "Notes",
    "Record",
    "RunStore",
    "RunWriter",
    "StoredRun",
    "UnknownRunError",
    "notes_of",
    "public_json",
    "read_notes",
    "trial_record",
    "write_notes",
]
