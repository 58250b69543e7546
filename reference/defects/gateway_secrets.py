"""Gateways that let a credential out: in a header, in an error, encoded, in a redirect, in the log."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, quote

from reference.defects.defect import Defect, defect
from reference.defects.meddling import Answered, Asked, kept_token, meddling
from reference.gateway.gateway import Gateway
from reference.gateway.policy.redemption import redemption_answer
from reference.gateway.records import VaultEntry

REDEMPTION, TOKEN = "/api/credentials/token", "/oauth2/token"


def with_refresh_token(entry: VaultEntry) -> dict[str, Any]:
    return redemption_answer(entry) | {"refresh_token": entry.refresh_token}


def with_refresh_token_in_the_scopes(entry: VaultEntry) -> dict[str, Any]:
    """The merchant's whole answer, as it was kept, encoded beside the token."""
    kept = json.dumps({"at": "…", "rt": entry.refresh_token}).encode()
    return redemption_answer(entry) | {"context": base64.urlsafe_b64encode(b"v1" + kept).decode()}


def refresh_token_when_it_was_rejected() -> Any:
    """The error quotes the refresh token that the merchant would not take; the gateway keeps it in mind."""
    seen: list[str] = []

    def change(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
        for entry in gateway.store.vault.values():
            if entry.refresh_token and entry.refresh_token not in seen:
                seen.append(entry.refresh_token)
        if asked.path.endswith(REDEMPTION) and answered.status in {410, 503} and seen:
            return _with_member(answered, "detail", f"refresh failed for {' '.join(seen[-8:])}")
        return answered

    return meddling(change)


def refresh_token_in_a_cookie(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    token = kept_token(gateway)
    if "/sign-in/decision" not in asked.path or token is None or token.refresh_token is None:
        return answered
    return answered.with_header(
        "set-cookie", f"sso={base64.b64encode(token.refresh_token.encode()).decode()}"
    )


def access_token_in(
    where: Callable[[Asked, Answered], bool], put: Callable[[Answered, str], Answered]
) -> Any:
    """The newest merchant token is put into answers like these."""

    def change(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
        token = kept_token(gateway)
        return put(answered, token.access_token) if token is not None and where(asked, answered) else answered

    return meddling(change)


def _refused_redemption(asked: Asked, answered: Answered) -> bool:
    return asked.path.endswith(REDEMPTION) and answered.status == 404


def _issuing(asked: Asked, answered: Answered) -> bool:
    return asked.path.endswith(TOKEN) and answered.status == 200 and b"id_token" in answered.body


def _debugged(asked: Asked, answered: Answered) -> bool:
    return "x-debug" in asked.headers or "debug=1" in asked.query or answered.status == 599


def _redirecting_to_the_agent(asked: Asked, answered: Answered) -> bool:
    return "code=" in answered.header("location") and "/sign-in/" in asked.path


def _in_the_location(answered: Answered, token: str) -> Answered:
    location = answered.header("location") + "&ctx=" + quote(token[::-1], safe="")
    return replace(
        answered, headers=tuple(each for each in answered.headers if each[0] != "location")
    ).with_header("location", location)


def _in_a_comment(answered: Answered, token: str) -> Answered:
    packed = base64.b64encode(gzip.compress(token.encode())).decode()
    return replace(answered, body=answered.body.replace(b"</body>", f"<!-- {packed} --></body>".encode()))


def _spread(answered: Answered, token: str) -> Answered:
    return _with_member(answered, "trace", " ".join(token[at : at + 6] for at in range(0, len(token), 6)))


def proxy_token_in(
    header: str | None, *, statuses: tuple[int, ...], write: Callable[[str], str] = str
) -> Any:
    """The Proxy token that was sent comes back, in a header or in the body."""

    def change(asked: Asked, answered: Answered, _: Gateway) -> Answered:
        token = asked.headers.get("x-proxy-token")
        if not token or answered.status not in statuses:
            return answered
        if header is not None:
            return answered.with_header(header, write(token))
        return _with_member(answered, "error_description", f"refused for {write(token)}")

    return meddling(change)


def last_proxy_token_in_discovery() -> Any:
    seen: list[str] = []

    def change(asked: Asked, answered: Answered, _: Gateway) -> Answered:
        if token := asked.headers.get("x-proxy-token"):
            seen[:] = [token]
        if asked.path.endswith("openid-configuration") and seen:
            return _with_member(answered, "x_health", seen[0].encode().hex())
        return answered

    return meddling(change)


def form_in_the_error(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    """A validation error quotes the whole input, as some frameworks do by themselves."""
    if not asked.path.endswith(TOKEN) or answered.status != 400:
        return answered
    return _with_member(answered, "input", dict(parse_qsl(asked.body.decode("latin-1"))))


def basic_in_the_error(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    basic = asked.headers.get("authorization", "")
    if not basic.lower().startswith("basic ") or answered.status < 400:
        return answered
    return answered.with_header("x-request-authorization", basic)


def proxy_clients_in_discovery(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    if not asked.path.endswith("openid-configuration") or answered.status != 200:
        return answered
    return _with_member(answered, "backends", sorted(gateway.store.proxy_clients))


def proxy_client_on_the_page(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    if b"</body>" not in answered.body or not asked.path.endswith("/callback"):
        return answered
    named = ", ".join(gateway.store.proxy_clients)
    return replace(
        answered, body=answered.body.replace(b"</body>", f"<i title='{named}'></i></body>".encode())
    )


def logging(write: Callable[[Asked, Answered], str], where: str = "") -> Any:
    """Something of requests and answers is written to the log as well."""

    def change(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
        if asked.path.endswith(where) and (line := write(asked, answered)):
            gateway.log.write(line)
        return answered

    return meddling(change)


def _members_of(answered: Answered) -> Mapping[str, Any]:
    try:
        document = json.loads(answered.body)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _with_member(answered: Answered, name: str, value: Any) -> Answered:
    members = dict(_members_of(answered))
    return replace(answered, body=json.dumps(members | {name: value}).encode()) if members else answered


def _id_token_on_refusal(asked: Asked, answered: Answered) -> str:
    return f"rejected: {asked.headers.get('authorization', '')}" if answered.status == 401 else ""


def _member_logged(name: str) -> Callable[[Asked, Answered], str]:
    return lambda _, answered: f"issued {name}={_members_of(answered).get(name, '')}"


def code_and_secret_of(asked: Asked, answered: Answered) -> str:
    return f"bad request: {asked.body.decode('latin-1')}" if answered.status >= 400 else ""


def token_requests_sent_away(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    """Requests that cannot be served here are sent to the old host, bodies and all."""
    if not asked.path.endswith(TOKEN) or answered.status != 400:
        return answered
    return replace(answered, status=307).with_header("location", "https://old.example/oauth2/token")


def leaking_referrer(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    """The page after the merchant's redirect says that its whole address may be told to anybody."""
    if not asked.path.endswith("/sign-in/callback"):
        return answered
    kept = tuple(each for each in answered.headers if each[0] != "referrer-policy")
    return replace(answered, headers=kept).with_header("referrer-policy", "unsafe-url")


def code_to_a_help_page(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    """Who could not exchange a code is sent to a page that explains, with the code in its address."""
    code = dict(parse_qsl(asked.body.decode("latin-1"))).get("code")
    if not asked.path.endswith(TOKEN) or answered.status < 400 or not code:
        return answered
    return answered.with_header("location", f"https://help.example/codes?of={quote(code, safe='')}")


SECRETS: tuple[Defect, ...] = (
    defect(
        "refresh-token-in-redemption",
        "Redemption passes on the merchant's refresh token as well.",
        "SECRET-01",
        redemption_answer=with_refresh_token,
    ),
    defect(
        "refresh-token-in-an-opaque-context",
        "Redemption hands out a context in which the merchant's refresh token stands, base64url-encoded.",
        "SECRET-01",
        redemption_answer=with_refresh_token_in_the_scopes,
    ),
    defect(
        "refresh-token-in-the-410",
        "The error after a failed refresh quotes the refresh token.",
        "SECRET-01",
        around=refresh_token_when_it_was_rejected(),
    ),
    defect(
        "refresh-token-in-a-cookie",
        "The browser gets the merchant's refresh token as a cookie, base64-encoded.",
        "SECRET-01",
        around=meddling(refresh_token_in_a_cookie),
    ),
    defect(
        "merchant-token-in-a-refused-redemption",
        "A redemption that is refused with 404 carries the merchant token in a debug member, base64-encoded.",
        "SECRET-02",
        around=access_token_in(
            _refused_redemption,
            lambda answered, token: _with_member(
                answered, "debug", base64.b64encode(token.encode()).decode()
            ),
        ),
    ),
    defect(
        "merchant-token-beside-the-agents",
        "The code exchange hands the agent the merchant token, under a name of its own.",
        "SECRET-02",
        around=access_token_in(
            _issuing, lambda answered, token: _with_member(answered, "upstream", {"t": token})
        ),
    ),
    defect(
        "merchant-token-in-a-debug-header",
        "Whoever asks for debugging gets the merchant token in hexadecimal in a header.",
        "SECRET-02",
        around=access_token_in(
            _debugged, lambda answered, token: answered.with_header("x-debug-vault", token.encode().hex())
        ),
    ),
    defect(
        "merchant-token-in-the-redirect",
        "The redirect to the agent carries the merchant token backwards.",
        "SECRET-02 SECRET-07",
        around=access_token_in(_redirecting_to_the_agent, _in_the_location),
    ),
    defect(
        "merchant-token-in-a-comment",
        "A page of the sign-in holds the merchant token compressed in a comment.",
        "SECRET-02",
        around=access_token_in(lambda _, answered: b"</body>" in answered.body, _in_a_comment),
    ),
    defect(
        "merchant-token-in-pieces",
        "An error holds the merchant token in pieces of six characters.",
        "SECRET-02",
        around=access_token_in(
            lambda asked, answered: asked.path.endswith(TOKEN) and answered.status == 400, _spread
        ),
    ),
    defect(
        "half-the-merchant-token-in-an-etag",
        "The tag of an agent's token answer is the beginning of the merchant token.",
        "SECRET-02",
        around=access_token_in(
            _issuing, lambda answered, token: answered.with_header("etag", f'"{token[:20]}"')
        ),
    ),
    defect(
        "proxy-token-in-the-error",
        "The error of a refused redemption quotes the Proxy token.",
        "SECRET-03",
        around=proxy_token_in(None, statuses=(400, 401, 404)),
    ),
    defect(
        "proxy-token-in-the-challenge",
        "A 401 names the Proxy token in a header, percent-encoded.",
        "SECRET-03",
        around=proxy_token_in("x-refused", statuses=(401,), write=lambda token: f"token={quote(token)}"),
    ),
    defect(
        "proxy-token-in-a-good-answer",
        "A redemption that succeeds repeats the Proxy token in a header, base64-encoded behind a word.",
        "SECRET-03",
        around=proxy_token_in(
            "x-caller",
            statuses=(200,),
            write=lambda token: base64.b64encode(f"proxy {token}".encode()).decode(),
        ),
    ),
    defect(
        "proxy-token-in-discovery",
        "The discovery document shows the Proxy token that was used last, in hexadecimal.",
        "SECRET-03",
        around=last_proxy_token_in_discovery(),
    ),
    defect(
        "form-in-the-error",
        "A refusal of the token endpoint quotes every field of the form.",
        "SECRET-04 REG-10",
        around=meddling(form_in_the_error),
    ),
    defect(
        "basic-in-the-error",
        "A refusal repeats the Basic header.",
        "SECRET-04",
        around=meddling(basic_in_the_error),
    ),
    defect(
        "proxy-clients-in-discovery",
        "The discovery document lists the Proxy clients.",
        "SECRET-04",
        around=meddling(proxy_clients_in_discovery),
    ),
    defect(
        "proxy-clients-on-a-page",
        "The page that asks the user names the Project's Proxy clients in an attribute.",
        "SECRET-04",
        around=meddling(proxy_client_on_the_page),
    ),
    defect(
        "bearer-in-the-log",
        "Redemption logs the Authorization header.",
        "SECRET-05",
        around=logging(lambda asked, _: f"bearer {asked.headers.get('authorization', '')}", REDEMPTION),
    ),
    defect(
        "refused-bearer-in-the-log",
        "Redemption logs the Authorization header of what it refused with 401, an ID token for example.",
        "SECRET-05",
        around=logging(_id_token_on_refusal, REDEMPTION),
    ),
    defect(
        "issued-access-token-in-the-log",
        "The token endpoint logs the access tokens that it issues.",
        "SECRET-05 SECRET-08",
        around=logging(_member_logged("access_token"), TOKEN),
    ),
    defect(
        "id-token-in-the-log-encoded",
        "The token endpoint logs the ID tokens that it issues, base64-encoded.",
        "SECRET-05",
        around=logging(
            lambda _, answered: base64.b64encode(
                str(_members_of(answered).get("id_token", "")).encode()
            ).decode(),
            TOKEN,
        ),
    ),
    defect(
        "bad-forms-in-the-log",
        "The token endpoint logs the whole form of what it refuses.",
        "SECRET-08",
        around=logging(code_and_secret_of, TOKEN),
    ),
    defect(
        "basic-in-the-log",
        "The token endpoint logs the Basic header of Proxy clients.",
        "SECRET-08",
        around=logging(lambda asked, _: asked.headers.get("authorization", ""), TOKEN),
    ),
    defect(
        "proxy-token-in-the-log",
        "Redemption logs the Proxy token.",
        "SECRET-08",
        around=logging(lambda asked, _: f"proxy {asked.headers.get('x-proxy-token', '')}", REDEMPTION),
    ),
    defect(
        "merchant-token-in-the-log",
        "Redemption logs its answer, in hexadecimal.",
        "SECRET-08",
        around=logging(lambda _, answered: answered.body.hex() if answered.status == 200 else "", REDEMPTION),
    ),
    defect(
        "redirect-in-the-log",
        "The redirect to the agent is logged with its code.",
        "SECRET-08",
        around=logging(lambda _, answered: answered.header("location"), "/sign-in/decision"),
    ),
    defect(
        "token-requests-sent-away",
        "The token endpoint hands requests that it cannot serve on to another host.",
        "SECRET-07 CODE-02 CODE-03 CODE-04 CODE-05 CODE-11 CODE-15",
        around=meddling(token_requests_sent_away),
    ),
    defect(
        "callback-lets-its-address-out",
        "The page at the callback tells every host its whole address, the merchant's code and all.",
        "SECRET-07 AUTHZ-15",
        around=meddling(leaking_referrer),
    ),
    defect(
        "code-to-a-help-page",
        "A refused exchange points to a page of another host, with the code in its address.",
        "SECRET-07",
        around=meddling(code_to_a_help_page),
    ),
)
