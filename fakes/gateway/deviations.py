"""Named deviations of the scripted gateway for agents from the specification, for `--deviate`.

Some clients stop before they register, because they need more than the specification promises. With a
deviation they continue, and their other behavior can be tested.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gateproof.fakes.gateway.agent_endpoints import AgentEndpoints

# What each deviation does, for help texts and messages.
DEVIATIONS: Mapping[str, str] = {
    "issuer-address": "the issuer is the address of the authorization server",
    "loopback-redirect": "http redirect URIs on this machine are registered",
    "public-client": "a client that asks for no secret gets none",
    "rfc8414-metadata": "the discovery document is at the paths of RFC 8414, too",
}
_ATTRIBUTES = {
    "issuer-address": "issuer_is_the_address",
    "loopback-redirect": "takes_loopback_redirects",
    "public-client": "takes_public_clients",
    "rfc8414-metadata": "answers_at_rfc8414_paths",
}


def deviate(desk: AgentEndpoints, names: Iterable[str]) -> None:
    """Makes the gateway deviate in these ways, before it serves."""
    for name in names:
        setattr(desk, _ATTRIBUTES[name], True)
