"""Meaning of the shell variables in the recipes for testing a rule by hand."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

VARIABLES: Final = MappingProxyType(
    {
        "ACCESS_TOKEN": "the gateway access token of a finished exchange",
        "AGENT_COMMAND": "the command that starts the agent",
        "AUTHORIZATION_URL": "a complete authorization request with fresh state and challenge",
        "BASE_URL": "base_url of the target file",
        "CA_FILE": "ca_file of the target file",
        "CHALLENGE": "base64url of the SHA-256 of $VERIFIER",
        "CLIENT_ID": "the agent's client_id",
        "CLIENT_SECRET": "the agent's client_secret",
        "CODE": "a code just received at the redirect URI",
        "CORE_JWKS_URI": "jwks_uri of the discovery document",
        "CORE_URL": "core_url of the target file",
        "FOREIGN_TOKEN": "a token made as the comment says",
        "HOST": "host name of the address under test",
        "ID_TOKEN": "the ID token of a finished exchange",
        "INDICATOR": "the Resource indicator",
        "JWKS_URI": "the per-Resource key set",
        "LOG_FILE": "what the implementation logged",
        "MERCHANT_API": "address of the merchant API",
        "MERCHANT_TOKEN": "the access_token of a redemption",
        "METADATA_URL": "address of the protected resource metadata",
        "OPERATION_URL": "service_url and the path of [operation]",
        "PORT": "port of the address under test",
        "PROXY_ID": "ID of a Proxy client of the Resource's Project",
        "PROXY_SECRET": "secret of that Proxy client",
        "PROXY_TOKEN": "a Proxy token of that Proxy client",
        "REDIRECT_URI": "a redirect URI registered by the agent",
        "REFRESH_TOKEN": "the agent's refresh token",
        "REGISTRATION": "the JSON of a valid registration, as in REG-01",
        "RESOURCE_ID": "ID of the Resource",
        "SERVICE_URL": "address of the service",
        "VERIFIER": "the PKCE verifier that belongs to $CODE",
    }
)

_USED = re.compile(r"\$\{?([A-Z][A-Z_]+)")
_SET = re.compile(r"^([A-Z][A-Z_]+)=", re.MULTILINE)


def variables(recipe: str) -> dict[str, str]:
    """The variables that a recipe expects to be set, with their meaning, in order of use.

    A name that begins with OTHER is a second one of the same kind.
    """
    own = set(_SET.findall(recipe))
    used = dict.fromkeys(name for name in _USED.findall(recipe) if name not in own)
    return {name: _meaning(name) for name in used}


def _meaning(name: str) -> str:
    if name in VARIABLES:
        return VARIABLES[name]
    return f"a second one, beside ${name.removeprefix('OTHER_')}: {VARIABLES[name.removeprefix('OTHER_')]}"
