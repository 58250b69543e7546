"""All legal variants of the service, by name; each module of this package has some in VARIANTS."""

from __future__ import annotations

from gateproof.reference.deviations.deviation import collected
from gateproof.reference.variants.variant import Variant

VARIANTS: dict[str, Variant] = collected(__name__, __path__, "VARIANTS", Variant)
