"""How often a run looks for garbage: seldom.

Records of what passed are kept by the thousand until a run ends, and the collector would walk over all of
them again and again. Little of what a run makes is ever garbage in circles.
"""

from __future__ import annotations

import gc

_NEW_OBJECTS = 50_000


def collect_seldom() -> None:
    """What is loaded stays, and the rest is looked at when there is a good deal more of it."""
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, 20, 50)
