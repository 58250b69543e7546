"""Services that take tokens for somebody who is near the merchant's API, and is not it."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from gateproof.reference.defects.defect import Defect
from gateproof.reference.defects.service.claims import audience
from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.policies import Policies
from gateproof.reference.service.policy.validation import ClaimFacts


def taken_too(name: str, what: str, other: Callable[[ClaimFacts], tuple[str, ...]]) -> Defect[Policies]:
    """Beside the Resource indicator, these will do."""
    return defect(
        f"{name} (CHAL-06): {what}",
        **audience(lambda aud, facts: aud in (facts.settings.indicator, *other(facts))),
    )


def at_the_gateway(facts: ClaimFacts) -> tuple[str, ...]:
    core = urlsplit(facts.issuer)
    return facts.settings.base_url, f"{core.scheme}://{core.netloc}"


DEFECTS = (
    taken_too(
        "audience-may-be-the-merchants-api",
        "A token for the address of the merchant's API is taken.",
        lambda facts: (facts.settings.merchant_api_url,),
    ),
    taken_too(
        "audience-may-be-the-operation",
        "A token for the operation's own address is taken.",
        lambda facts: tuple(f"{facts.settings.service_url}{path}" for path in ("/orders", "/mcp")),
    ),
    taken_too(
        "audience-may-be-the-service-with-a-slash",
        "A token for the service's own URL with a slash behind it is taken.",
        lambda facts: (f"{facts.settings.service_url}/",),
    ),
    taken_too(
        "audience-may-be-the-gateway",
        "A token for the gateway's own address, or for its core's, is taken.",
        at_the_gateway,
    ),
    taken_too(
        "audience-may-be-the-proxy-client",
        "A token for the service's own Proxy client is taken.",
        lambda facts: (facts.settings.proxy_client_id,),
    ),
)
