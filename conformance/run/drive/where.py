"""Says where an exception was raised, without its text: that may contain secrets."""

from __future__ import annotations

import os
import re
import traceback
from pathlib import Path

from gateproof.package import ROOT

_IN_A_NAME = re.compile(r"(?<=[a-z])(?=[A-Z])")


def where(error: BaseException) -> str:
    """An exception's type and traceback positions, without its text, which may contain secrets."""
    frames = [
        f"{Path(frame.filename).relative_to(ROOT)}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if Path(frame.filename).is_relative_to(ROOT)
    ]
    # A long name in one piece looks like a credential and would be redacted.
    name = _IN_A_NAME.sub(" ", type(error).__name__)
    if isinstance(error, OSError) and error.errno:
        # The system's own words, without the path.
        name += f" ({os.strerror(error.errno)})"
    return f"{name} at {' > '.join(frames[-4:]) or 'an unknown place'}"
