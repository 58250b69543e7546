"""All defects of the agent, by name."""

from __future__ import annotations

from gateproof.reference.defects.agent_authorization import AUTHORIZATION
from gateproof.reference.defects.agent_clock import CLOCK
from gateproof.reference.defects.agent_defect import AgentDefect
from gateproof.reference.defects.agent_digests import DIGESTS
from gateproof.reference.defects.agent_documents import DOCUMENTS
from gateproof.reference.defects.agent_exchange import EXCHANGE
from gateproof.reference.defects.agent_failures import FAILURES
from gateproof.reference.defects.agent_forgetting import FORGETTING
from gateproof.reference.defects.agent_installs import INSTALLS
from gateproof.reference.defects.agent_keeping import KEEPING
from gateproof.reference.defects.agent_later import LATER
from gateproof.reference.defects.agent_leftovers import LEFTOVERS
from gateproof.reference.defects.agent_refreshing import REFRESHING
from gateproof.reference.defects.agent_registration import REGISTRATION
from gateproof.reference.defects.agent_restarts import RESTARTS
from gateproof.reference.defects.agent_second_time import SECOND_TIME
from gateproof.reference.defects.agent_secrets import SECRETS
from gateproof.reference.defects.agent_states import STATES
from gateproof.reference.defects.agent_strangers import STRANGERS
from gateproof.reference.defects.agent_trouble import TROUBLE
from gateproof.reference.defects.agent_way import WAY

FAMILIES = (
    WAY,
    REGISTRATION,
    AUTHORIZATION,
    EXCHANGE,
    DOCUMENTS,
    FAILURES,
    SECRETS,
    LEFTOVERS,
    KEEPING,
    FORGETTING,
    TROUBLE,
    LATER,
    RESTARTS,
    SECOND_TIME,
    REFRESHING,
    STATES,
    STRANGERS,
    CLOCK,
    INSTALLS,
    DIGESTS,
)
DEFECTS: dict[str, AgentDefect] = {defect.name: defect for family in FAMILIES for defect in family}
