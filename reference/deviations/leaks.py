"""Ways to leak a credential: in a header, an error, a redirect or the log, plain or encoded."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, quote

from gateproof.reference.deviations.altered_answers import (
    Answered,
    Asked,
    altering_answers,
    newest_merchant_token,
)
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy.redemption import redemption_answer
from gateproof.reference.gateway.records import VaultEntry

REDEMPTION, TOKEN = "/api/credentials/token", "/oauth2/token"


def with_refresh_token(entry: VaultEntry) -> dict[str, Any]:
    return redemption_answer(entry) | {"refresh_token": entry.refresh_token}


def with_refresh_token_in_the_scopes(entry: VaultEntry) -> dict[str, Any]:
    """Adds the merchant's stored answer, encoded, to the redemption response."""
    kept = json.dumps({"at": "…", "rt": entry.refresh_token}).encode()
    return redemption_answer(entry) | {"context": base64.urlsafe_b64encode(b"v1" + kept).decode()}


def refresh_token_in_errors() -> Any:
    """Quotes stored refresh tokens in a 410 or 503 of redemption."""
    seen: list[str] = []

    def change(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
        for entry in gateway.store.vault.values():
            if entry.refresh_token and entry.refresh_token not in seen:
                seen.append(entry.refresh_token)
        if asked.path.endswith(REDEMPTION) and answered.status in {410, 503} and seen:
            return with_member(answered, "detail", f"refresh failed for {' '.join(seen[-8:])}")
        return answered

    return altering_answers(change)


def refresh_token_in_a_cookie(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    token = newest_merchant_token(gateway)
    if "/sign-in/decision" not in asked.path or token is None or token.refresh_token is None:
        return answered
    return answered.with_header(
        "set-cookie", f"sso={base64.b64encode(token.refresh_token.encode()).decode()}"
    )


def access_token_in(
    where: Callable[[Asked, Answered], bool], put: Callable[[Answered, str], Answered]
) -> Any:
    """Adds the newest merchant token to the answers that `where` selects."""

    def change(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
        token = newest_merchant_token(gateway)
        return put(answered, token.access_token) if token is not None and where(asked, answered) else answered

    return altering_answers(change)


def refused_redemption(asked: Asked, answered: Answered) -> bool:
    return asked.path.endswith(REDEMPTION) and answered.status == 404


def issuing(asked: Asked, answered: Answered) -> bool:
    return asked.path.endswith(TOKEN) and answered.status == 200 and b"id_token" in answered.body


def debugged(asked: Asked, answered: Answered) -> bool:
    return "x-debug" in asked.headers or "debug=1" in asked.query or answered.status == 599


def redirecting_to_the_agent(asked: Asked, answered: Answered) -> bool:
    return "code=" in answered.header("location") and "/sign-in/" in asked.path


def in_the_location(answered: Answered, token: str) -> Answered:
    location = answered.header("location") + "&ctx=" + quote(token[::-1], safe="")
    return replace(
        answered, headers=tuple(each for each in answered.headers if each[0] != "location")
    ).with_header("location", location)


def in_a_comment(answered: Answered, token: str) -> Answered:
    packed = base64.b64encode(gzip.compress(token.encode())).decode()
    return replace(answered, body=answered.body.replace(b"</body>", f"<!-- {packed} --></body>".encode()))


def spread(answered: Answered, token: str) -> Answered:
    return with_member(answered, "trace", " ".join(token[at : at + 6] for at in range(0, len(token), 6)))


def proxy_token_in(
    header: str | None, *, statuses: tuple[int, ...], write: Callable[[str], str] = str
) -> Any:
    """Returns the Proxy token of the request, in a header or in the body."""

    def change(asked: Asked, answered: Answered, _: Gateway) -> Answered:
        token = asked.headers.get("x-proxy-token")
        if not token or answered.status not in statuses:
            return answered
        if header is not None:
            return answered.with_header(header, write(token))
        return with_member(answered, "error_description", f"refused for {write(token)}")

    return altering_answers(change)


def last_proxy_token_in_discovery() -> Any:
    seen: list[str] = []

    def change(asked: Asked, answered: Answered, _: Gateway) -> Answered:
        if token := asked.headers.get("x-proxy-token"):
            seen[:] = [token]
        if asked.path.endswith("openid-configuration") and seen:
            return with_member(answered, "x_health", seen[0].encode().hex())
        return answered

    return altering_answers(change)


def form_in_the_error(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    """Quotes the whole input in a validation error, as some frameworks do by default."""
    if not asked.path.endswith(TOKEN) or answered.status != 400:
        return answered
    return with_member(answered, "input", dict(parse_qsl(asked.body.decode("latin-1"))))


def basic_in_the_error(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    basic = asked.headers.get("authorization", "")
    if not basic.lower().startswith("basic ") or answered.status < 400:
        return answered
    return answered.with_header("x-request-authorization", basic)


def proxy_clients_in_discovery(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    if not asked.path.endswith("openid-configuration") or answered.status != 200:
        return answered
    return with_member(answered, "backends", sorted(gateway.store.proxy_clients))


def proxy_client_on_the_page(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    if b"</body>" not in answered.body or not asked.path.endswith("/callback"):
        return answered
    named = ", ".join(gateway.store.proxy_clients)
    return replace(
        answered, body=answered.body.replace(b"</body>", f"<i title='{named}'></i></body>".encode())
    )


def logging(write: Callable[[Asked, Answered], str], where: str = "") -> Any:
    """Writes parts of requests and answers to the log."""

    def change(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
        if asked.path.endswith(where) and (line := write(asked, answered)):
            gateway.log.write(line)
        return answered

    return altering_answers(change)


def members_of(answered: Answered) -> Mapping[str, Any]:
    try:
        document = json.loads(answered.body)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def with_member(answered: Answered, name: str, value: Any) -> Answered:
    members = dict(members_of(answered))
    return replace(answered, body=json.dumps(members | {name: value}).encode()) if members else answered


def id_token_on_refusal(asked: Asked, answered: Answered) -> str:
    return f"rejected: {asked.headers.get('authorization', '')}" if answered.status == 401 else ""


def member_logged(name: str) -> Callable[[Asked, Answered], str]:
    return lambda _, answered: f"issued {name}={members_of(answered).get(name, '')}"


def code_and_secret_of(asked: Asked, answered: Answered) -> str:
    return f"bad request: {asked.body.decode('latin-1')}" if answered.status >= 400 else ""


def token_requests_sent_away(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    """Redirects refused token requests with their bodies to another host."""
    if not asked.path.endswith(TOKEN) or answered.status != 400:
        return answered
    return replace(answered, status=307).with_header("location", "https://old.example/oauth2/token")


def leaking_referrer(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    """Sets a referrer policy that sends the whole URL of the page to other sites."""
    if not asked.path.endswith("/sign-in/callback"):
        return answered
    kept = tuple(each for each in answered.headers if each[0] != "referrer-policy")
    return replace(answered, headers=kept).with_header("referrer-policy", "unsafe-url")


def code_to_a_help_page(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    """Adds a Location to the refused exchange: a help page, with the code in its URL."""
    code = dict(parse_qsl(asked.body.decode("latin-1"))).get("code")
    if not asked.path.endswith(TOKEN) or answered.status < 400 or not code:
        return answered
    return answered.with_header("location", f"https://help.example/codes?of={quote(code, safe='')}")
