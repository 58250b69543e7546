"""All legal variants of the service, by name."""

from __future__ import annotations

from gateproof.reference.variants.service_answers import ANSWERS
from gateproof.reference.variants.service_backend import BACKEND
from gateproof.reference.variants.service_introduction import INTRODUCTION
from gateproof.reference.variants.service_mcp import MCP
from gateproof.reference.variants.service_merchant import MERCHANT
from gateproof.reference.variants.service_trouble import TROUBLE
from gateproof.reference.variants.variant import Variant

FAMILIES = (INTRODUCTION, BACKEND, ANSWERS, TROUBLE, MERCHANT, MCP)
VARIANTS: dict[str, Variant] = {variant.name: variant for family in FAMILIES for variant in family}
