"""Imports a script that is in no package."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def imported(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
