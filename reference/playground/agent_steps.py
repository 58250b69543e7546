"""Steps 1 to 6, of the agent: from its first call to the call with a token."""

from __future__ import annotations

import asyncio
import base64
import hmac
import json
import os
import time
from collections.abc import Mapping
from typing import Any

from gateproof.reference.agent.policy import authorization, discovery, registration
from gateproof.reference.agent.policy.exchange import tokens_in
from gateproof.reference.agent.wire import Answer, Failed, Outgoing, form, with_query
from gateproof.reference.playground import redaction
from gateproof.reference.playground.settings import Settings
from gateproof.reference.playground.walk import Decoded, Halted, Party, Walk
from gateproof.reference.playground.wire import HELD_S, Wire
from gateproof.reference.service.policy.validation import header_of, signed_claims

NAME = "Playground agent"
TO_SERVICE: tuple[Party, Party] = ("Agent", "Service")
TO_GATEWAY: tuple[Party, Party] = ("Agent", "Gateway")
RETURN: tuple[Party, Party] = ("Browser", "Agent")


class Agent:
    """The agent of the playground; its state is in the walk."""

    def __init__(self, settings: Settings, wire: Wire) -> None:
        self._settings = settings
        self._wire = wire

    def service_url(self, walk: Walk) -> str:
        return f"{self._settings.playground_url}/service/{walk.name}"

    async def calls_without_a_token(self, walk: Walk) -> None:
        request = Outgoing(method="GET", url=f"{self.service_url(walk)}/orders")
        answer = await self._wire.ask(request)
        walk.show(1, TO_SERVICE, "A call without a token", request, answer)
        walk.metadata_url = discovery.metadata_url(answer.headers_named("www-authenticate"), "")
        walk.say(1, "The 401 points to the service's metadata. The agent knows nothing else so far.")

    async def reads_the_metadata(self, walk: Walk) -> None:
        document = await self._document(walk, 2, TO_SERVICE, "The service's metadata", walk.metadata_url)
        if not discovery.is_about(document, self.service_url(walk)):
            raise Halted("The metadata are about another service.")
        walk.authorization_server = discovery.authorization_server(document)
        walk.say(2, "The metadata name the Resource's authorization server at the gateway.")

    async def reads_the_discovery_document(self, walk: Walk) -> None:
        url = discovery.discovery_url(walk.authorization_server)
        document = await self._document(walk, 3, TO_GATEWAY, "The gateway's discovery document", url)
        walk.endpoints = discovery.endpoints(walk.authorization_server, document)
        walk.jwks_uri = str(document.get("jwks_uri"))
        walk.say(3, "Every address from here on is read from this document.")

    async def registers(self, walk: Walk) -> None:
        record = walk.changed(
            "registration",
            {
                "client_name": NAME,
                "redirect_uris": [self._settings.callback_url],
                "grant_types": ["authorization_code", "refresh_token"],
                "response_types": ["code"],
                "token_endpoint_auth_method": "client_secret_post",
            },
        )
        request = registration.registration_request(_endpoints(walk), record)
        answer = await self._wire.ask(request)
        _hide(walk, answer, {"client_secret": redaction.AGENT_SECRET})
        walk.show(4, TO_GATEWAY, "Registration", request, answer)
        walk.client = registration.registered(answer)
        walk.say(4, "No Resource scopes are sent here: they belong into the authorization request.")

    def prepares_the_authorization(self, walk: Walk) -> None:
        """A new verifier and state for each authorization request."""
        client = _client(walk)
        walk.attempt = authorization.fresh_attempt(os.urandom)
        walk.redactor.hide(walk.attempt.verifier, redaction.VERIFIER)
        parameters = {
            "response_type": "code",
            "client_id": client.client_id,
            "redirect_uri": self._settings.callback_url,
            "scope": " ".join(("openid", *walk.stage.scopes)),
            "state": walk.attempt.state,
            "code_challenge": authorization.challenge_of(walk.attempt.verifier),
            "code_challenge_method": "S256",
        }
        changed = walk.changed("authorization", parameters)
        walk.authorization_url = with_query(_endpoints(walk).authorization, changed)

    def takes_the_redirect(self, walk: Walk, query: Mapping[str, str]) -> None:
        """Processes the redirect, which has to answer this agent's request."""
        attempt = walk.attempt
        if attempt is None or walk.next_step != 5:
            raise Halted("This redirect answers no open authorization request.")
        if code := query.get("code", ""):
            walk.redactor.hide(code, redaction.CODE)
        went = Outgoing(method="GET", url=walk.authorization_url)
        back = Outgoing(method="GET", url=with_query(self._settings.callback_url, dict(query)))
        walk.show(5, ("Browser", "Gateway"), "The user signs in and decides", went, Answer(status=302))
        walk.show(5, RETURN, "The browser comes back", back, Answer(status=303))
        walk.attempt, walk.authorization_url = None, ""
        state = str(walk.changed("return", {"state": query.get("state", "??")})["state"])
        if not hmac.compare_digest(state.encode("utf-8", "replace"), attempt.state.encode()):
            raise Halted("The state is not the one that was sent: the agent ignores this redirect.")
        if query.get("iss", _endpoints(walk).issuer) != _endpoints(walk).issuer:
            raise Halted("The redirect comes from another authorization server.")
        if not code:
            raise Halted(f"There is no code, but the error {query.get('error', 'without a name')!r}.")
        walk.code, walk.returned_at = code, time.monotonic()
        walk.attempt = attempt
        walk.say(5, "The state is the one that was sent, so the code answers this agent's own request.")

    async def exchanges_and_calls_again(self, walk: Walk) -> None:
        await self._exchanges(walk)
        await self._verifies_the_id_token(walk)
        await self._calls_again(walk)

    async def _exchanges(self, walk: Walk) -> None:
        client, attempt = _client(walk), walk.attempt
        if attempt is None:
            raise Halted("There is no code to be exchanged.")
        fields = {
            "grant_type": "authorization_code",
            "code": walk.code,
            "redirect_uri": self._settings.callback_url,
            "client_id": client.client_id,
            "client_secret": client.client_secret,
            "code_verifier": attempt.verifier,
        }
        fields = walk.changed("exchange", fields)
        walk.redactor.hide(fields["code_verifier"], redaction.VERIFIER)
        request = form(_endpoints(walk).token, fields)
        answer = await self._exchange(walk, request, "The exchange of the code")
        tokens = tokens_in(answer)
        if tokens is None:
            raise Halted(f"The gateway refuses the exchange: {answer.document().get('error')}.")
        if walk.fault is not None and walk.fault.exchanges_twice:
            await self._exchange(walk, request, "The exchange of the same code, again")
        walk.tokens = walk.changed("tokens", dict(tokens))
        for name, what in (("access_token", "Gateway access token"), ("id_token", "ID token")):
            token = str(walk.tokens.get(name, ""))
            claims = _claims_of(token)
            if claims is not None:
                walk.decoded.append(Decoded(step=6, what=what, header=header_of(token), claims=claims))

    async def _exchange(self, walk: Walk, request: Outgoing, title: str) -> Answer:
        answer = await self._wire.ask(request)
        kept = {"access_token": redaction.ACCESS_TOKEN, "id_token": redaction.ID_TOKEN}
        _hide(walk, answer, {**kept, "refresh_token": redaction.REFRESH_TOKEN})
        walk.show(6, TO_GATEWAY, title, request, answer)
        return answer

    async def _verifies_the_id_token(self, walk: Walk) -> None:
        keys = await self._document(
            walk, 6, TO_GATEWAY, "The core's key set, for the ID token", walk.jwks_uri
        )
        token = str(walk.tokens.get("id_token", ""))
        claims = signed_claims(token, keys.get("keys") or [])
        if claims is None:
            raise Halted("The agent refuses the ID token: no key of the core signed these claims.")
        wrong = claims.get("iss") != _endpoints(walk).issuer or claims.get("aud") != _client(walk).client_id
        if wrong:
            raise Halted("The ID token is from another issuer, or for another agent.")
        walk.say(6, "A key of the core signed the ID token, and it is for this agent.")

    async def _calls_again(self, walk: Walk) -> None:
        """The service keeps the call open during the next steps; it refuses at once."""
        sent = walk.changed("retry", {"access_token": str(walk.tokens["access_token"])})
        walk.redactor.hide(sent["access_token"], redaction.ACCESS_TOKEN)
        loop = asyncio.get_running_loop()
        walk.orders = loop.create_future()
        request = self.call(walk, sent["access_token"])
        place = walk.show(6, TO_SERVICE, "The call with a token", request, None)
        walk.call = asyncio.create_task(self._wire.ask(request, patience_s=HELD_S))
        while not walk.call.done() and not walk.accepted:
            await asyncio.wait([walk.call], timeout=0.02)
        if walk.accepted:
            walk.say(6, "The service accepts the token and keeps the call open: it is answered in step 9.")
            return
        answer = await walk.call
        walk.exhibits.pop(place)
        walk.show(6, TO_SERVICE, "The call with a token", request, answer)
        raise Halted(f"The service refuses the token: {answer.status}.")

    def call(self, walk: Walk, token: str) -> Outgoing:
        headers = {"authorization": f"Bearer {token}"}
        return Outgoing(method="GET", url=f"{self.service_url(walk)}/orders", headers=headers)

    async def _document(
        self, walk: Walk, step: int, between: tuple[Party, Party], title: str, url: str
    ) -> dict[str, Any]:
        request = Outgoing(method="GET", url=url)
        answer = await self._wire.ask(request)
        walk.show(step, between, title, request, answer)
        document = answer.document()
        if answer.status != 200 or not document:
            raise Halted(f"The document cannot be read: status {answer.status}.")
        return document


def _hide(walk: Walk, answer: Answer, kept: Mapping[str, redaction.Hidden]) -> None:
    """Registers the secrets of an answer for redaction, before it is shown."""
    document = answer.document()
    for name, what in kept.items():
        value = document.get(name)
        if isinstance(value, str) and len(value) >= redaction.SHORTEST:
            walk.redactor.hide(value, what)


def _claims_of(token: str) -> dict[str, Any] | None:
    """The claims of a token, not verified."""
    try:
        padded = token.split(".")[1] + "=="
        found = json.loads(base64.urlsafe_b64decode(padded))
    except (ValueError, IndexError):
        return None
    return found if isinstance(found, dict) else None


def _endpoints(walk: Walk) -> discovery.Endpoints:
    if walk.endpoints is None:
        raise Failed("the gateway's endpoints are not known yet")
    return walk.endpoints


def _client(walk: Walk) -> registration.Client:
    if walk.client is None:
        raise Failed("the agent is not registered yet")
    return walk.client
