"""The browser that pages are looked at with: Debian's Chromium, or whatever has its name here."""

from __future__ import annotations

import shutil

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"),
    # Chromium renders a toolbar in advance for every page, which nobody sees here.
    "--disable-features=PreloadTopChromeWebUI",
]
LOOKS = [(1280, "light"), (390, "dark")]
"""Width and colour scheme: each of both is seen once."""
TOUCHING = """() => [...document.querySelectorAll("[data-figure]")].flatMap((holder) => {
  const boxes = [...holder.querySelectorAll(".xtick text")]
    .filter((each) => each.textContent.trim() && each.getBoundingClientRect().width)
    .map((each) => [each.getBoundingClientRect(), each.textContent])
    .sort((a, b) => a[0].left - b[0].left);
  return boxes.slice(1).filter(([box], i) => boxes[i][0].right > box.left + 1 && boxes[i][0].bottom > box.top + 1
    && box.bottom > boxes[i][0].top + 1).map(([_, text]) => `${holder.dataset.figure}: ${text}`);
})"""
"""In a page: labels of horizontal axes that lie over the one before them."""
IN_A_BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine: install the package chromium"),
]
"""Marks of a module whose tests drive it."""
