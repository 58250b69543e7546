"""All legal variants of the service, by name."""

from __future__ import annotations

from reference.variants.service_answers import ANSWERS
from reference.variants.service_backend import BACKEND
from reference.variants.service_introduction import INTRODUCTION
from reference.variants.service_mcp import MCP
from reference.variants.service_merchant import MERCHANT
from reference.variants.service_trouble import TROUBLE
from reference.variants.variant import Variant

FAMILIES = (INTRODUCTION, BACKEND, ANSWERS, TROUBLE, MERCHANT, MCP)
VARIANTS: dict[str, Variant] = {variant.name: variant for family in FAMILIES for variant in family}
