"""All defects of the service, by name."""

from __future__ import annotations

from gateproof.reference.defects.service_audiences import AUDIENCES
from gateproof.reference.defects.service_bearer import BEARER
from gateproof.reference.defects.service_bearer_names import BEARER_NAMES
from gateproof.reference.defects.service_busy import BUSY
from gateproof.reference.defects.service_calls import CALLS
from gateproof.reference.defects.service_certificates import CERTIFICATES
from gateproof.reference.defects.service_claims import CLAIMS
from gateproof.reference.defects.service_cookies import COOKIES
from gateproof.reference.defects.service_defect import ServiceDefect
from gateproof.reference.defects.service_introduction import INTRODUCTION
from gateproof.reference.defects.service_leaning import LEANING
from gateproof.reference.defects.service_mcp import MCP
from gateproof.reference.defects.service_mcp_asked import MCP_ASKED
from gateproof.reference.defects.service_mcp_heard import MCP_HEARD
from gateproof.reference.defects.service_merchant_calls import MERCHANT_CALLS
from gateproof.reference.defects.service_network import NETWORK
from gateproof.reference.defects.service_new_keys import NEW_KEYS
from gateproof.reference.defects.service_pages import PAGES
from gateproof.reference.defects.service_persisting import PERSISTING
from gateproof.reference.defects.service_pointers import POINTERS
from gateproof.reference.defects.service_remembering import REMEMBERING
from gateproof.reference.defects.service_robustness import ROBUSTNESS
from gateproof.reference.defects.service_secrets import SECRETS
from gateproof.reference.defects.service_serving import SERVING
from gateproof.reference.defects.service_signatures import SIGNATURES
from gateproof.reference.defects.service_token_lives import TOKEN_LIVES
from gateproof.reference.defects.service_transport import TRANSPORT
from gateproof.reference.defects.service_trouble import TROUBLE
from gateproof.reference.defects.service_users import USERS
from gateproof.reference.defects.service_ways import WAYS

FAMILIES = (
    *(INTRODUCTION, POINTERS, BEARER, SIGNATURES, CLAIMS, SERVING, CALLS, TROUBLE, USERS, SECRETS),
    *(TRANSPORT, CERTIFICATES, ROBUSTNESS, NETWORK, MCP, REMEMBERING, WAYS, MERCHANT_CALLS, TOKEN_LIVES),
    *(COOKIES, MCP_ASKED, PERSISTING, BUSY, MCP_HEARD, AUDIENCES, BEARER_NAMES, NEW_KEYS, LEANING, PAGES),
)
DEFECTS: dict[str, ServiceDefect] = {defect.name: defect for family in FAMILIES for defect in family}
