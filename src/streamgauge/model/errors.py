"""What can go wrong, each with the exit code a script can rely on and the way out for a person."""

from __future__ import annotations

EXIT_OK = 0
EXIT_USER = 2
EXIT_WRONG_ANSWER = 3
EXIT_INVALID = 4
EXIT_ENGINE = 5
EXIT_THRESHOLD = 99
EXIT_INTERRUPTED = 130

MOST_NAMES_SHOWN = 20


class StreamgaugeError(Exception):
    """A failure with a one-line cause, the way out, and an exit code."""

    exit_code = EXIT_USER

    def __init__(self, cause: str, way_out: str = "") -> None:
        super().__init__(cause)
        self.cause = cause
        self.way_out = way_out

    def __str__(self) -> str:
        return f"{self.cause}. {self.way_out}" if self.way_out else self.cause


class UserError(StreamgaugeError):
    """The user's mistake, or something that the user's machine lacks."""


class LogError(StreamgaugeError):
    """The log (Kafka) could not be started, reached or kept alive."""

    exit_code = EXIT_ENGINE


class EngineError(StreamgaugeError):
    """An engine failed to start, died, or did not finish in time."""

    exit_code = EXIT_ENGINE


class StoreError(StreamgaugeError):
    """A stored run is missing, truncated, or of a version that this program does not read."""


def unknown(kind: str, name: str, known: list[str]) -> UserError:
    """The error for a name that does not exist, with the nearest right one."""
    import difflib

    near = difflib.get_close_matches(name, known, n=1)
    if near and len(known) > MOST_NAMES_SHOWN:
        return UserError(f"unknown {kind} '{name}'", f"Did you mean '{near[0]}'?")
    guess = f"Did you mean '{near[0]}'? " if near else ""
    return UserError(f"unknown {kind} '{name}'", f"{guess}Known: {', '.join(sorted(known)) or 'none'}")
