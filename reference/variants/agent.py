"""All legal variants of the agent, by name."""

from __future__ import annotations

from reference.variants.agent_asking import ASKING
from reference.variants.agent_clock import CLOCK
from reference.variants.agent_keeping import KEEPING
from reference.variants.agent_running import RUNNING
from reference.variants.agent_scopes import SCOPES
from reference.variants.agent_trouble import TROUBLE
from reference.variants.variant import Variant

FAMILIES = (ASKING, RUNNING, KEEPING, SCOPES, CLOCK, TROUBLE)
VARIANTS: dict[str, Variant] = {variant.name: variant for family in FAMILIES for variant in family}
