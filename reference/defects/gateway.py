"""All defects of the gateway, by name."""

from __future__ import annotations

from gateproof.reference.defects.defect import Defect
from gateproof.reference.defects.gateway_after_a_rotation import AFTER_A_ROTATION
from gateproof.reference.defects.gateway_agents_as_proxies import AGENTS_AS_PROXIES
from gateproof.reference.defects.gateway_answers import ANSWERS
from gateproof.reference.defects.gateway_authorization import AUTHORIZATION
from gateproof.reference.defects.gateway_beliefs import BELIEFS
from gateproof.reference.defects.gateway_bindings import BINDINGS
from gateproof.reference.defects.gateway_claims import CLAIMS
from gateproof.reference.defects.gateway_claims_kept import KEPT
from gateproof.reference.defects.gateway_clients import AGENTS
from gateproof.reference.defects.gateway_codes import EXCHANGES
from gateproof.reference.defects.gateway_credentials_elsewhere import CREDENTIALS_ELSEWHERE
from gateproof.reference.defects.gateway_elsewhere import ELSEWHERE
from gateproof.reference.defects.gateway_empty import EMPTY
from gateproof.reference.defects.gateway_faults import FAULTS
from gateproof.reference.defects.gateway_faults_vault import VAULT_FAULTS
from gateproof.reference.defects.gateway_hiding import HIDING
from gateproof.reference.defects.gateway_histories import HISTORIES
from gateproof.reference.defects.gateway_in_between import IN_BETWEEN
from gateproof.reference.defects.gateway_later_credentials import LATER_CREDENTIALS
from gateproof.reference.defects.gateway_later_keys import LATER_KEYS
from gateproof.reference.defects.gateway_limits import LIMITS
from gateproof.reference.defects.gateway_logs import LOGS
from gateproof.reference.defects.gateway_lookalikes import LOOKALIKES
from gateproof.reference.defects.gateway_metadata import DISCOVERY, KEYS
from gateproof.reference.defects.gateway_nested_fields import NESTED_FIELDS
from gateproof.reference.defects.gateway_network import NETWORK
from gateproof.reference.defects.gateway_one_at_a_time import ONE_AT_A_TIME
from gateproof.reference.defects.gateway_ownership import OWNERSHIP
from gateproof.reference.defects.gateway_proxy import PROXY
from gateproof.reference.defects.gateway_proxy_beliefs import PROXY_BELIEFS
from gateproof.reference.defects.gateway_races import RACES
from gateproof.reference.defects.gateway_races_vault import VAULT_RACES
from gateproof.reference.defects.gateway_realms import REALMS
from gateproof.reference.defects.gateway_redemption import REDEMPTION
from gateproof.reference.defects.gateway_redirect_lines import REDIRECT_LINES
from gateproof.reference.defects.gateway_redirects import REDIRECTS
from gateproof.reference.defects.gateway_refreshed_claims import REFRESHED_CLAIMS
from gateproof.reference.defects.gateway_refreshing import REFRESHING
from gateproof.reference.defects.gateway_refusals import REFUSALS
from gateproof.reference.defects.gateway_registration import REGISTRATION
from gateproof.reference.defects.gateway_requests import REQUESTS
from gateproof.reference.defects.gateway_resource import RESOURCE
from gateproof.reference.defects.gateway_respelled_codes import RESPELLED
from gateproof.reference.defects.gateway_revocations import REVOCATIONS
from gateproof.reference.defects.gateway_robustness import ROBUSTNESS
from gateproof.reference.defects.gateway_second_time import SECOND_TIME
from gateproof.reference.defects.gateway_secrets import SECRETS
from gateproof.reference.defects.gateway_shut_out import SHUT_OUT
from gateproof.reference.defects.gateway_sign_in import SIGN_IN
from gateproof.reference.defects.gateway_transport import TRANSPORT
from gateproof.reference.defects.gateway_vault import VAULT
from gateproof.reference.defects.gateway_vault_expiry import EXPIRY
from gateproof.reference.defects.gateway_warm import WARM
from gateproof.reference.defects.gateway_widened_tokens import WIDENED

FAMILIES = (
    DISCOVERY,
    KEYS,
    REALMS,
    REGISTRATION,
    AUTHORIZATION,
    CLAIMS,
    KEPT,
    REFRESHED_CLAIMS,
    REFRESHING,
    WIDENED,
    ANSWERS,
    REDEMPTION,
    PROXY,
    PROXY_BELIEFS,
    REVOCATIONS,
    LATER_CREDENTIALS,
    LATER_KEYS,
    REQUESTS,
    EMPTY,
    REDIRECTS,
    REDIRECT_LINES,
    SIGN_IN,
    EXCHANGES,
    RESPELLED,
    BINDINGS,
    AGENTS,
    AGENTS_AS_PROXIES,
    NESTED_FIELDS,
    BELIEFS,
    OWNERSHIP,
    REFUSALS,
    RESOURCE,
    VAULT,
    EXPIRY,
    SECOND_TIME,
    SECRETS,
    LOGS,
    TRANSPORT,
    ROBUSTNESS,
    NETWORK,
    FAULTS,
    VAULT_FAULTS,
    HISTORIES,
    RACES,
    VAULT_RACES,
    WARM,
    ELSEWHERE,
    SHUT_OUT,
    LOOKALIKES,
    LIMITS,
    HIDING,
    ONE_AT_A_TIME,
    IN_BETWEEN,
    AFTER_A_ROTATION,
    CREDENTIALS_ELSEWHERE,
)
DEFECTS: dict[str, Defect] = {defect.name: defect for family in FAMILIES for defect in family}
