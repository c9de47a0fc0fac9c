"""What a file of this folder gives to be found as a verb."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Verb:
    """A verb's name, the function whose parameters are its arguments, and the examples below its help."""

    name: str
    function: Callable[..., Any]
    examples: tuple[str, ...]

    @property
    def epilog(self) -> str:
        """The examples as a help page shows them, one to a line."""
        # The mark keeps the lines as they are: an example that is wrapped cannot be copied.
        return "\n".join(["\b", "Examples:", *(f"  {line}" for line in self.examples)])
