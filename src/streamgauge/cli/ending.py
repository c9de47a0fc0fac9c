"""How a command ends: exit codes, one line for a mistake, and the same orderly end for Ctrl-C and `kill`."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import typer

from streamgauge.model.errors import EXIT_INTERRUPTED, EXIT_USER, StreamgaugeError

EXIT_UNEXPECTED = 70
"""A mistake of this program itself."""

_BROKEN_PIPE = 1
# Typer's usage errors have no public base of their own; BadParameter is the public one of them.
_USAGE_ERRORS = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


class Stopped(KeyboardInterrupt):
    """Raised in the main thread by SIGTERM or SIGHUP: whoever handles Ctrl-C handles this."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.exit_code = 128 + number


def ended_orderly(work: Callable[[], int]) -> int:
    """Do the work and give the exit code; whatever goes wrong becomes one line on stderr."""
    stopped: list[int] = []
    try:
        with _signals_stop(stopped):
            code = work()
            sys.stdout.flush()
    except StreamgaugeError as error:
        return _say_error(str(error), error.exit_code)
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader has gone (`… | head`): nobody is left to tell, and the interpreter must not try at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _BROKEN_PIPE
    except Exception as error:
        if isinstance(error, _USAGE_ERRORS):
            return _say_error(_usage(error), EXIT_USER)
        return _unexpected(error)
    if code == EXIT_INTERRUPTED:
        print("stopped: what was finished is kept, what was started has been ended", file=sys.stderr)
        return 128 + stopped[0] if stopped else EXIT_INTERRUPTED
    return code


@contextlib.contextmanager
def _signals_stop(stopped: list[int]) -> Iterator[None]:
    """SIGTERM and SIGHUP raise in the main thread, once: a second one must not cut the cleaning short."""

    def stop(number: int, frame: FrameType | None) -> None:
        if not stopped:
            stopped.append(number)
            raise Stopped(number)

    before = {}
    for number in (signal.SIGTERM, signal.SIGHUP):
        # What is ignored stays ignored, so that `nohup` keeps its meaning.
        if signal.getsignal(number) is not signal.SIG_IGN:
            with contextlib.suppress(ValueError):  # not the main thread
                before[number] = signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say_error(words: str, code: int) -> int:
    print(f"error: {' '.join(words.split())}", file=sys.stderr)
    return code


def _usage(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    where = context.command_path if context is not None else "streamgauge"
    message = error.format_message().rstrip(".")  # type: ignore[attr-defined]
    end = "" if message.endswith("?") else "."
    return f"{message[:1].lower()}{message[1:]}{end} See `{where} --help`"


def _unexpected(error: Exception) -> int:
    words = f"unexpected {type(error).__name__}: {error}"
    try:
        path = _write_traceback(error)
    except OSError:
        traceback.print_exception(error)
        return _say_error(words, EXIT_UNEXPECTED)
    return _say_error(f"{words}. This is a mistake of streamgauge; its trace is in {path}", EXIT_UNEXPECTED)


def _write_traceback(error: Exception) -> Path:
    from streamgauge.provision.work import cache_folder

    folder = cache_folder() / "failures"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}.txt"
    path.write_text("".join(traceback.format_exception(error)))
    return path
