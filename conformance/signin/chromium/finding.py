"""Whether there is a Chromium here, and what speaks to it; without either, how to get them."""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

VARIABLE = "CHROMIUM"
# The shell without a face takes a fifth of the time of the whole browser.
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
    "there is no Chromium here: apt-get install chromium-headless-shell, which is the quicker, or chromium, "
    f"or name one in {VARIABLE}"
)


def chromium(variables: Mapping[str, str] = os.environ) -> Path | None:
    """The Chromium that the environment names, or the first on the path; nothing is ever downloaded.

    A name that leads nowhere is not made up for by looking elsewhere: somebody meant it.
    """
    named = variables.get(VARIABLE)
    for name in (named,) if named else _PROGRAMS:
        if found := shutil.which(name, path=variables.get("PATH")):
            return Path(found)
    return None


def missing(variables: Mapping[str, str] = os.environ) -> str:
    """What is not here and how to get it; empty where everything is."""
    if importlib.util.find_spec("playwright") is None:
        return _NO_PLAYWRIGHT
    if chromium(variables) is not None:
        return ""
    named = variables.get(VARIABLE)
    return f"{VARIABLE} names {named}, where no program is" if named else _NO_CHROMIUM
