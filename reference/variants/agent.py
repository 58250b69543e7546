"""All legal variants of the agent, by name."""

from __future__ import annotations

from gateproof.reference.variants.agent_asking import ASKING
from gateproof.reference.variants.agent_clock import CLOCK
from gateproof.reference.variants.agent_keeping import KEEPING
from gateproof.reference.variants.agent_running import RUNNING
from gateproof.reference.variants.agent_scopes import SCOPES
from gateproof.reference.variants.agent_trouble import TROUBLE
from gateproof.reference.variants.variant import Variant

FAMILIES = (ASKING, RUNNING, KEEPING, SCOPES, CLOCK, TROUBLE)
VARIANTS: dict[str, Variant] = {variant.name: variant for family in FAMILIES for variant in family}
