"""Steps 7 to 9, of the service, whose credentials no agent and no browser sees."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote_plus

from gateproof.reference.agent.wire import Answer, Outgoing, form
from gateproof.reference.playground import redaction
from gateproof.reference.playground.settings import Settings
from gateproof.reference.playground.walk import Halted, Party, Walk
from gateproof.reference.playground.wire import HELD_S, Wire
from gateproof.reference.service.policy.validation import signed_claims

TO_GATEWAY: tuple[Party, Party] = ("Service", "Gateway")
HEADERS = ("authorization", "x-proxy-token")
TO_MERCHANT: tuple[Party, Party] = ("Service", "Merchant")


class Service:
    """The protected service of the playground, and its backend."""

    def __init__(self, settings: Settings, wire: Wire) -> None:
        self._settings = settings
        self._wire = wire

    def metadata(self, walk: Walk, service_url: str) -> dict[str, Any]:
        return {
            "resource": service_url,
            "authorization_servers": [self._settings.authorization_server(walk.stage)],
            "scopes_supported": list(walk.stage.scopes),
            "bearer_methods_supported": ["header"],
        }

    async def orders_for(self, walk: Walk, token: str) -> list[Any] | None:
        """The user's orders, as soon as the walk has them; None at once for an invalid token."""
        if walk.orders is None or not await self._is_good(walk, token):
            return None
        walk.accepted = token
        async with asyncio.timeout(HELD_S):
            return await asyncio.shield(walk.orders)

    async def _is_good(self, walk: Walk, token: str) -> bool:
        """Validates signature, issuer, audience and expiry with the Resource's discovery document."""
        server = self._settings.authorization_server(walk.stage)
        document = await self._document(
            walk, "The discovery document, for the service", f"{server}/.well-known/openid-configuration"
        )
        keys = await self._document(
            walk, "The core's key set, for the gateway access token", str(document.get("jwks_uri"))
        )
        claims = signed_claims(token, keys.get("keys") or [])
        if claims is None:
            return False
        audience, expiry = claims.get("aud"), claims.get("exp")
        return (
            claims.get("iss") == document.get("issuer")
            and isinstance(audience, list)
            and walk.stage.indicator in audience
            and isinstance(expiry, int | float)
            and time.time() < expiry
        )

    async def gets_a_proxy_token(self, walk: Walk) -> None:
        given = {"client_id": walk.stage.proxy_client_id, "client_secret": walk.stage.proxy_client_secret}
        sent = walk.changed("proxy token", given)
        pair = f"{quote_plus(sent['client_id'])}:{quote_plus(sent['client_secret'])}"
        basic = base64.b64encode(pair.encode()).decode()
        walk.redactor.hide(basic, redaction.PROXY_BASIC)
        asked = form(
            str(walk.endpoints.token if walk.endpoints else ""), {"grant_type": "client_credentials"}
        )
        headers = {**asked.headers, "authorization": f"Basic {basic}"}
        request = Outgoing(method="POST", url=asked.url, headers=headers, body=asked.body)
        answer = await self._wire.ask(request)
        token = answer.document().get("access_token")
        walk.proxy_token = token if isinstance(token, str) else ""
        if walk.proxy_token:
            walk.redactor.hide(walk.proxy_token, redaction.PROXY_TOKEN)
        walk.show(7, TO_GATEWAY, "The Proxy token", request, answer)
        if not walk.proxy_token:
            raise Halted(f"There is no Proxy token for this Proxy client: {_refusal(answer)}.")
        walk.say(7, "The service keeps the Proxy token for an hour, and does not ask again for every call.")

    async def redeems(self, walk: Walk) -> None:
        if walk.fault is not None and walk.fault.wait_until_age_s > walk.age_s():
            await asyncio.sleep(walk.fault.wait_until_age_s - walk.age_s())
        members = {
            "authorization": f"Bearer {walk.accepted}",
            "x-proxy-token": walk.proxy_token,
            "resource": walk.stage.indicator,
        }
        sent = walk.changed("redemption", {**members, "id_token": walk.tokens.get("id_token", "")})
        headers = {name: str(sent[name]) for name in HEADERS if name in sent}
        request = Outgoing(
            method="POST",
            url=f"{self._settings.base_url}/api/credentials/token",
            headers={**headers, "content-type": "application/json"},
            body=json.dumps({"resource": sent["resource"]}).encode(),
        )
        answer = await self._wire.ask(request)
        token = answer.document().get("access_token")
        walk.merchant_token = token if isinstance(token, str) else ""
        if walk.merchant_token:
            walk.redactor.hide(walk.merchant_token, redaction.MERCHANT_TOKEN)
        walk.show(8, TO_GATEWAY, "Redemption", request, answer)
        if not walk.merchant_token:
            raise Halted(f"There is no merchant token: {_refusal(answer)}.")
        walk.say(8, f"The service has the merchant token now. {_lifetime(answer.document())}")

    async def calls_the_merchant(self, walk: Walk) -> None:
        request = Outgoing(
            method="GET",
            url=f"{self._settings.merchant_api_url}/orders",
            headers={"authorization": f"Bearer {walk.merchant_token}"},
        )
        answer = await self._wire.ask(request)
        walk.show(9, TO_MERCHANT, "The merchant's API", request, answer)
        orders = answer.document().get("orders")
        if answer.status != 200 or not isinstance(orders, list):
            raise Halted(f"The merchant gives no orders: {_refusal(answer)}.")
        if walk.orders is not None and walk.call is not None and not walk.call.done():
            walk.orders.set_result(orders)
            served = await walk.call
            walk.show(9, ("Agent", "Service"), "The call of step 6 is answered", None, served)
        walk.say(
            9, "The agent has the orders, and nothing else: no credential of the merchant or the service."
        )

    async def _document(self, walk: Walk, title: str, url: str) -> Mapping[str, Any]:
        request = Outgoing(method="GET", url=url)
        answer = await self._wire.ask(request)
        walk.show(6, TO_GATEWAY, title, request, answer)
        return answer.document()


def _refusal(answer: Answer) -> str:
    error = answer.document().get("error")
    return f"{answer.status} {error}" if isinstance(error, str) else str(answer.status)


def _lifetime(document: Mapping[str, Any]) -> str:
    """The lifetime of a merchant token, in words."""
    until = document.get("expires_at")
    try:
        left = datetime.fromisoformat(str(until)).timestamp() - time.time()
    except ValueError:
        return "Its lifetime is not stated."
    return (
        f"It lives for another {round(left / 60)} minutes." if left > 90 else f"It lives for {round(left)} s."
    )
