"""All legal variants of the gateway, by name; each module gateway_*.py here holds some as VARIANTS."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

from gateproof.reference.variants.variant import Variant

_MODULES = sorted(
    module.name
    for module in pkgutil.iter_modules([str(Path(__file__).parent)])
    if module.name.startswith("gateway_")
)
VARIANTS: dict[str, Variant] = {
    variant.name: variant
    for name in _MODULES
    for variant in importlib.import_module(f"gateproof.reference.variants.{name}").VARIANTS
}
