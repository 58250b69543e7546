"""Where gateproof is, and how one of its modules is started as a process."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent
# Of a checkout this is the top; an installed gateproof has other people's packages there.
CHECKOUT = ROOT.parent
# Goes before the name of a module. With -P, no file in the caller's folder is taken for a module.
PYTHON_MODULE = (sys.executable, "-P", "-m")
