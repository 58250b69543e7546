"""Gateways that also read Proxy credentials in the form, and check them less there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gateproof.reference.defects.defect import instead
from gateproof.reference.defects.gateway.proxy_clients import redemption_check_replaced
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import proxy, redemption
from gateproof.reference.gateway.policy.code_exchange import TokenRequestFacts
from gateproof.reference.gateway.policy.proxy import PROXY_CLIENT_CHECKS, ProxyClientFacts, ProxyCredentials
from gateproof.reference.gateway.policy.redemption import RedemptionFacts
from gateproof.reference.gateway.records import ProxyToken
from gateproof.reference.gateway.store import Store
from gateproof.reference.outcomes import Refusal


class _OfTheForm(ProxyCredentials):
    """Credentials from the form."""

    __slots__ = ()


def from_form_or_basic(facts: TokenRequestFacts) -> ProxyCredentials | Refusal:
    if facts.authorization is None and facts.value("client_id"):
        return _OfTheForm(client_id=facts.value("client_id"), secret=facts.value("client_secret"))
    return proxy.proxy_credentials(facts)


def spared(
    check: Callable[[ProxyClientFacts], Refusal | None], when: Callable[[str], bool]
) -> dict[str, Any]:
    """Leaves out this check for credentials in the form, if `when` is true for the secret there."""

    def sparing(facts: ProxyClientFacts) -> Refusal | None:
        sent = facts.credentials
        return None if isinstance(sent, _OfTheForm) and when(sent.secret) else check(facts)

    return {
        "proxy_credentials": from_form_or_basic,
        "proxy_client_checks": instead(PROXY_CLIENT_CHECKS, check, sparing),
    }


def later_tokens_redeem() -> dict[str, Any]:
    """A revocation ends the tokens from before it, and no others."""
    later: set[str] = set()

    def kept(store: Store, token: str, record: ProxyToken, now: float) -> None:
        client = store.proxy_clients.get(record.client_id)
        if client is not None and client.revoked:
            later.add(token)
        proxy.keep_proxy_token(store, token, record, now)

    def check(facts: RedemptionFacts) -> Refusal | None:
        is_later = facts.proxy_headers[0] in later
        return None if is_later else redemption.proxy_client_is_not_revoked(facts)

    return {
        "keep_proxy_token": kept,
        **redemption_check_replaced(redemption.proxy_client_is_not_revoked, check),
    }


DEFECTS = (
    defect(
        "proxy-client-without-a-secret-in-the-form (PROXY-03): A Proxy client's ID in the form is enough for "
        "a Proxy token.",
        **spared(proxy.proxy_secret_is_right, lambda secret: not secret),
    ),
    defect(
        "proxy-secret-in-the-form-unread (PROXY-03): The gateway does not compare the secret of a Proxy "
        "client that sends it in the form.",
        **spared(proxy.proxy_secret_is_right, bool),
    ),
    defect(
        "revoked-proxy-client-works-in-the-form (PROXY-04): A revoked Proxy client gets Proxy tokens that "
        "redeem, if it sends its credentials in the form.",
        **spared(proxy.proxy_client_is_not_revoked, bool),
        **later_tokens_redeem(),
    ),
)
