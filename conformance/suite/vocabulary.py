"""The lists of words that the rule catalogue may use."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from gateproof.reports.families import FAMILIES

__all__ = ["FAMILIES", "LEVELS", "NEEDS", "ROLES", "SECTIONS", "STEPS"]

ROLES: Final = ("gateway", "service", "agent")

LEVELS: Final = MappingProxyType(
    {
        "spec": "stated in the specification; a failure means: not conformant",
        "entailed": "follows from what the specification states; a failure means: not conformant",
        "rfc": "required by a referenced standard; a failure is listed apart and decides only with --strict",
        "silent": "left open by the specification; recorded, never judged",
    }
)

NEEDS: Final = MappingProxyType(
    {
        "control:advance_clock": "a control action that moves the target's clock",
        "control:approve_agent": "a control action that approves a Pending agent",
        "control:create_project": "a control action that creates a Project, with or without a given policy",
        "control:create_proxy_client": "a control action that creates a Proxy client",
        "control:create_resource": "a control action that creates a Resource with a chosen indicator",
        "control:logs": "a control action that returns the target's log",
        "control:resource_metadata": "a control action that returns the metadata file of a Resource",
        "control:revoke_proxy_client": "a control action that revokes a Proxy client",
        "control:rotate_keys": "a control action that replaces the core signing key",
        "control:set_agent_policy": "a control action that sets a Project's agent policy",
        "control:withhold_redemption_scope": "a control action that withholds ext_token:read from an agent",
        "examples": "a budget of generated examples",
        "faults": "faults, which --no-faults leaves out",
        "https": "a target that is addressed by https",
        "https:world": "a world around the target that is served over https",
        "intercepting-proxy": "mitmproxy, in an environment of its own",
        "limits:code_lifetime_s": "a declared code lifetime that is short enough to wait for",
        "logs:output": "a launched target whose output is read, or log files named in [logs]",
        "merchant": "the harness's merchant as the authorization server behind the Resource",
        "project:hold": "a Project that holds new agents as Pending",
        "proxy-client:revoked": "a Proxy client that is already revoked",
        "proxy-clients:2": "two Proxy clients of one Project",
        "resources:2": "two Resources",
        "restart": "an instance of the target that may be killed and started again",
        "sign-in:browser": "sign-in by forms or chromium",
        "sign-in:decline": "a sign-in method that can also decline",
        "two-holding-projects": "two Projects that hold new agents as Pending",
        "two-projects": "two Projects, each with a Resource and a Proxy client",
        "users:2": "two users",
    }
)

# The steps that a rule may own. The first words are the names of exchanges in a record.
STEPS: Final = MappingProxyType(
    {
        "discovery": "the discovery document of a Resource",
        "core key set": "the key set that the discovery document names",
        "registration": "a valid registration of an agent",
        "authorization": "an authorization request with all parameters right, of a user who approves",
        "authorization after an approval": "the same, of an agent that was held and then approved",
        "code exchange": "a valid exchange of a code",
        "Proxy token request": "a Proxy token request of an active Proxy client",
        "Proxy token request with a wrong secret": "the same with a wrong secret",
        "Proxy token request of an unknown client": "the same with an ID that the gateway did not issue",
        "Proxy token request of a revoked client": "the same after the client was revoked",
        "redemption": "a valid redemption of a user for whom the merchant gave a token",
        "redemption with a revoked Proxy client": "a redemption after the Proxy client was revoked",
        "redemption after a refresh": "a redemption after expiry, when the merchant accepts a refresh",
        "redemption without a refresh token": "the same, when the merchant gave no refresh token",
        "redemption after a rejected refresh": "the same, when the merchant rejects the refresh token",
        "redemption after a new sign-in": "a redemption after the user authorized again because of a 410",
        "metadata": "the metadata document of a service",
        "operation": "an operation of a service, with a good token",
        "life of the process": "a launched target, which must not end by itself",
        "operation without a token": "an operation of a service, without a token",
    }
)

# The headings of the specification, with the parts that a rule may name.
SECTIONS: Final = MappingProxyType(
    {
        "What the service does": frozenset[str](),
        "Resources and their fields": frozenset(
            {
                "Containers",
                "Protected resource metadata document",
                "Discovery document",
                "Agent registration record",
                "Proxy client record",
                "Tokens",
                "Redemption response",
            }
        ),
        "States and transitions": frozenset[str](),
        "Endpoints": frozenset(
            {
                "Operator's service obligations",
                "Gateway endpoints > Discovery",
                "Gateway endpoints > Dynamic client registration",
                "Gateway endpoints > Authorization request",
                "Gateway endpoints > Token endpoint, authorization code",
                "Gateway endpoints > Token endpoint, Proxy token",
                "Gateway endpoints > Credential redemption",
                "Gateway endpoints > Merchant API call",
                "Gateway endpoints > Key sets",
            }
        ),
        "Authentication": frozenset[str](),
        "Errors": frozenset[str](),
        "Limits": frozenset[str](),
        "Versioning": frozenset[str](),
    }
)
