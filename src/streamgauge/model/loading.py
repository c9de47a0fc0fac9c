"""Loads a user's own file of the shape of an application."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from pathlib import Path
from types import ModuleType

from streamgauge.model.application import Application
from streamgauge.model.errors import StreamgaugeError, UserError


def load_module(path: Path) -> ModuleType:
    """Import a Python file by path; a mistake in it becomes one line with the file's own line number."""
    if not path.is_file():
        raise UserError(f"there is no file {path}", "Give the path of a Python file that defines APPLICATION")
    name = f"streamgauge_own_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path.resolve())
    if spec is None or spec.loader is None:
        raise UserError(f"{path} is not a Python file", "Give a file that ends in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except StreamgaugeError:
        raise
    except SyntaxError as error:
        line = f", line {error.lineno}" if error.lineno else ""
        raise UserError(f"{path}{line}: {error.msg}", "Correct it and run again") from None
    except (Exception, SystemExit) as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if Path(f.filename) == path.resolve()]
        line = f", line {frames[-1].lineno}" if frames else ""
        said = str(error).strip().partition("\n")[0]
        raise UserError(f"{path}{line}: {type(error).__name__}: {said}", "Correct it and run again") from None
    return module


def load_application(path: Path) -> Application:
    """The APPLICATION of a user's file."""
    found = getattr(load_module(path), "APPLICATION", None)
    if not isinstance(found, Application):
        raise UserError(
            f"{path} defines no APPLICATION", "Add APPLICATION = Application(…): docs/your-own-pipeline.md shows how"
        )
    return found
