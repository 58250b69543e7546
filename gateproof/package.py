"""The location of the package, and the command that runs one of its modules."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent
# The top folder of a checkout; in an installation this is the folder of all packages.
CHECKOUT = ROOT.parent
# The command before a module's name. -P: no imports from the current folder.
PYTHON_MODULE = (sys.executable, "-P", "-m")
