"""Services that accept another audience in addition to the Resource indicator."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlsplit

from gateproof.reference.defects.defect import Defect
from gateproof.reference.defects.service.claims import audience
from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.policies import Policies
from gateproof.reference.service.policy.validation import ClaimFacts


def accepting_also(name: str, what: str, other: Callable[[ClaimFacts], tuple[str, ...]]) -> Defect[Policies]:
    """The service accepts these audiences in addition to the Resource indicator."""
    return defect(
        f"{name} (CHAL-06): {what}",
        **audience(lambda aud, facts: aud in (facts.settings.indicator, *other(facts))),
    )


def at_the_gateway(facts: ClaimFacts) -> tuple[str, ...]:
    core = urlsplit(facts.issuer)
    return facts.settings.base_url, f"{core.scheme}://{core.netloc}"


DEFECTS = (
    accepting_also(
        "audience-may-be-the-merchants-api",
        "The service accepts a token whose audience is the address of the merchant's API.",
        lambda facts: (facts.settings.merchant_api_url,),
    ),
    accepting_also(
        "audience-may-be-the-operation",
        "The service accepts a token whose audience is the URL of the operation.",
        lambda facts: tuple(f"{facts.settings.service_url}{path}" for path in ("/orders", "/mcp")),
    ),
    accepting_also(
        "audience-may-be-the-service-with-a-slash",
        "The service accepts a token whose audience is its own URL with a trailing slash.",
        lambda facts: (f"{facts.settings.service_url}/",),
    ),
    accepting_also(
        "audience-may-be-the-gateway",
        "The service accepts a token whose audience is the address of the gateway or of its core.",
        at_the_gateway,
    ),
    accepting_also(
        "audience-may-be-the-proxy-client",
        "The service accepts a token whose audience is the ID of its Proxy client.",
        lambda facts: (facts.settings.proxy_client_id,),
    ),
)
