"""One authorization: a fresh state and verifier, the user's browser, and the code that comes back."""

from __future__ import annotations

import asyncio
import base64
import secrets
import subprocess
import webbrowser
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from authlib.oauth2.rfc7636 import create_s256_code_challenge

from .callback import listening
from .discovery import Gateway
from .errors import AgentError
from .settings import Settings
from .store import Client


@dataclass(frozen=True)
class Code:
    code: str
    verifier: str


def _random(octets: int) -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(octets)).rstrip(b"=").decode()


def authorization_url(gateway: Gateway, client: Client, scopes: tuple[str, ...], state: str, verifier: str) -> str:
    query = urlencode(
        {
            "response_type": "code",
            "client_id": client.client_id,
            "redirect_uri": client.redirect_uri,
            "scope": " ".join(("openid", *scopes)),
            "state": state,
            "code_challenge": create_s256_code_challenge(verifier),
            "code_challenge_method": "S256",
        },
        quote_via=quote,  # a space is %20 in this query, and not a plus sign
        safe="",
    )
    joint = "&" if "?" in gateway.authorization_endpoint else "?"
    return f"{gateway.authorization_endpoint}{joint}{query}"


async def authorize(settings: Settings, gateway: Gateway, client: Client, scopes: tuple[str, ...]) -> Code:
    state, verifier = _random(16), _random(32)
    async with listening(settings, state) as callback:
        await _open(settings.browser, authorization_url(gateway, client, scopes, state, verifier))
        redirect = await callback.wait(settings.redirect_timeout_s)
    if redirect.issuer is None and gateway.names_issuer_in_redirects:
        raise AgentError("The redirect does not say which gateway it comes from.")
    if redirect.issuer is not None and redirect.issuer != gateway.issuer:
        raise AgentError("The redirect comes from another gateway.")
    if redirect.error is not None or not redirect.code:
        raise AgentError("The authorization was not granted.")
    return Code(redirect.code, verifier)


async def _open(browser: str | None, url: str) -> None:
    try:
        if browser is None:
            await asyncio.to_thread(webbrowser.open, url)
        else:
            subprocess.Popen([browser, url], stdin=subprocess.DEVNULL)  # its own program, no shell, never waited for
    except OSError:
        raise AgentError("The browser cannot be started.") from None
