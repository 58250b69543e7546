"""All defects of the service, by name."""

from __future__ import annotations

from reference.defects.service_audiences import AUDIENCES
from reference.defects.service_bearer import BEARER
from reference.defects.service_bearer_names import BEARER_NAMES
from reference.defects.service_busy import BUSY
from reference.defects.service_calls import CALLS
from reference.defects.service_certificates import CERTIFICATES
from reference.defects.service_claims import CLAIMS
from reference.defects.service_cookies import COOKIES
from reference.defects.service_defect import ServiceDefect
from reference.defects.service_introduction import INTRODUCTION
from reference.defects.service_leaning import LEANING
from reference.defects.service_mcp import MCP
from reference.defects.service_mcp_asked import MCP_ASKED
from reference.defects.service_mcp_heard import MCP_HEARD
from reference.defects.service_merchant_calls import MERCHANT_CALLS
from reference.defects.service_network import NETWORK
from reference.defects.service_new_keys import NEW_KEYS
from reference.defects.service_pages import PAGES
from reference.defects.service_persisting import PERSISTING
from reference.defects.service_pointers import POINTERS
from reference.defects.service_remembering import REMEMBERING
from reference.defects.service_robustness import ROBUSTNESS
from reference.defects.service_secrets import SECRETS
from reference.defects.service_serving import SERVING
from reference.defects.service_signatures import SIGNATURES
from reference.defects.service_token_lives import TOKEN_LIVES
from reference.defects.service_transport import TRANSPORT
from reference.defects.service_trouble import TROUBLE
from reference.defects.service_users import USERS
from reference.defects.service_ways import WAYS

FAMILIES = (
    *(INTRODUCTION, POINTERS, BEARER, SIGNATURES, CLAIMS, SERVING, CALLS, TROUBLE, USERS, SECRETS),
    *(TRANSPORT, CERTIFICATES, ROBUSTNESS, NETWORK, MCP, REMEMBERING, WAYS, MERCHANT_CALLS, TOKEN_LIVES),
    *(COOKIES, MCP_ASKED, PERSISTING, BUSY, MCP_HEARD, AUDIENCES, BEARER_NAMES, NEW_KEYS, LEANING, PAGES),
)
DEFECTS: dict[str, ServiceDefect] = {defect.name: defect for family in FAMILIES for defect in family}
