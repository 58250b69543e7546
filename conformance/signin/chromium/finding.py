"""Finds Chromium and Playwright, or tells how to install them."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "CHROMIUM"
# The headless shell needs a fifth of the time of the full browser.
_PROGRAMS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
)
_NO_PLAYWRIGHT = (
    "Playwright is not installed here: pip install 'gateproof[chromium]', or in a checkout `make chromium`"
)
_NO_CHROMIUM = (
    "there is no Chromium here: apt-get install chromium-headless-shell (faster), or chromium, "
    f"or name one in {VARIABLE}"
)


def chromium(variables: Mapping[str, str] = os.environ) -> Path | None:
    """The Chromium named in the environment, or the first one on PATH; it is never downloaded.

    If the named program does not exist, no other one is used.
    """
    named = variables.get(VARIABLE)
    for name in (named,) if named else _PROGRAMS:
        if found := shutil.which(name, path=variables.get("PATH")):
            return Path(found)
    return None


def missing(variables: Mapping[str, str] = os.environ) -> str:
    """What is missing and how to install it; empty if nothing is."""
    if importlib.util.find_spec("playwright") is None:
        return _NO_PLAYWRIGHT
    if chromium(variables) is not None:
        return ""
    named = variables.get(VARIABLE)
    return f"{VARIABLE} names {named}, which is not a program" if named else _NO_CHROMIUM
