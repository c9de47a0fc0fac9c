"""The browser that pages are looked at with: Debian's Chromium, or whatever has its name here."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    # Chromium renders a toolbar in advance for every page, which nobody sees here.
    "--disable-features=PreloadTopChromeWebUI",
]
_WANTED = os.environ.get("STREAMGAUGE_SCREENSHOTS")
PICTURES = Path(_WANTED) if _WANTED else Path(__file__).parents[1] / "screenshots"
"""Where pictures of the pages are kept to be looked at."""
LOOKS = [(1280, "light"), (390, "dark"), *([(1280, "dark"), (390, "light")] if _WANTED else [])]
"""Width and colour scheme: each of both is seen once, and all four by who names a folder for the pictures."""
TOUCHING = """() => [...document.querySelectorAll("[data-figure]")].flatMap((holder) => {
  const boxes = [...holder.querySelectorAll(".xtick text")]
    .filter((each) => each.textContent.trim() && each.getBoundingClientRect().width)
    .filter((each) => !/rotate\\((?!0[,)])/.test(each.getAttribute("transform") || ""))
    .map((each) => [each.getBoundingClientRect(), each.textContent])
    .sort((a, b) => a[0].left - b[0].left);
  return boxes.slice(1).filter(([box], i) => boxes[i][0].right > box.left + 1 && boxes[i][0].bottom > box.top + 1
    && box.bottom > boxes[i][0].top + 1).map(([_, text]) => `${holder.dataset.figure}: ${text}`);
})"""
"""In a page: labels of horizontal axes, those that are not turned, that lie over the one before them."""
IN_A_BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: install the package chromium"),
]
"""Marks of a module whose tests drive it."""


def keep(page: Any, name: str) -> None:
    """Keep a picture of the whole page."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png", full_page=True)
