"""The faults for a walk: what is changed, and what the gateway is expected to do."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from gateproof.reference.playground.settings import USUAL

Moment = Literal[
    "registration",
    "authorization",
    "return",
    "exchange",
    "tokens",
    "retry",
    "proxy token",
    "redemption",
]
Members = dict[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault:
    """`change` is applied at the moment `at`; without it, the fault is another `stage`."""

    name: str
    title: str
    step: int
    expect: str
    at: Moment | None = None
    change: Callable[[Members], Members] = dict
    stage: str = USUAL
    exchanges_twice: bool = False
    # The age of the sign-in at redemption, so that the merchant token is near expiry.
    wait_until_age_s: float = 0.0


def _with(**changes: Any) -> Callable[[Members], Members]:
    return lambda members: {**members, **changes}


def _without(name: str) -> Callable[[Members], Members]:
    return lambda members: {key: value for key, value in members.items() if key != name}


def _altered(name: str) -> Callable[[Members], Members]:
    """The value with its last but one character changed; the last one of a signature has unused bits."""

    def change(members: Members) -> Members:
        value = str(members[name])
        other = "A" if value[-2] != "A" else "B"
        return {**members, name: f"{value[:-2]}{other}{value[-1]}"}

    return change


def _claims_altered(members: Members) -> Members:
    """Another subject in the claims, with the old signature."""
    header, claims, signature = str(members["id_token"]).split(".")
    told = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    forged = json.dumps({**told, "sub": "sub_somebody_else"}).encode()
    encoded = base64.urlsafe_b64encode(forged).rstrip(b"=").decode()
    return {**members, "id_token": f"{header}.{encoded}.{signature}"}


FAULTS: tuple[Fault, ...] = (
    Fault(
        name="plain-redirect",
        title="Registration: a redirect URI without TLS",
        step=4,
        expect="The registration is refused: only https redirect URIs are accepted.",
        at="registration",
        change=_with(redirect_uris=["http://127.0.0.1:8080/callback"]),
    ),
    Fault(
        name="basic-agent",
        title="Registration: an agent that wants client_secret_basic",
        step=4,
        expect="The registration is refused, or the exchange is: agents authenticate in the body.",
        at="registration",
        change=_with(token_endpoint_auth_method="client_secret_basic"),  # noqa: S106 - the name of a method
    ),
    Fault(
        name="unapproved-agent",
        title="Authorization: the operator has yet to approve the agent",
        step=5,
        expect="The user signs in, and no code comes: the agent is Pending.",
        stage="hold",
    ),
    Fault(
        name="other-redirect",
        title="Authorization: a redirect URI that was not registered",
        step=5,
        expect="The gateway shows the user an error page, and does not redirect the browser.",
        at="authorization",
        change=lambda members: {**members, "redirect_uri": f"{members['redirect_uri']}/elsewhere"},
    ),
    Fault(
        name="no-openid",
        title="Authorization: the scope openid is missing",
        step=5,
        expect="The browser comes back with an error in place of a code.",
        at="authorization",
        change=lambda members: {**members, "scope": str(members["scope"]).replace("openid ", "")},
    ),
    Fault(
        name="altered-state",
        title="Return: the state is not the one that was sent",
        step=5,
        expect="The agent takes no code from this redirect: it may answer somebody else's request.",
        at="return",
        change=_altered("state"),
    ),
    Fault(
        name="wrong-verifier",
        title="Exchange: a wrong code verifier",
        step=6,
        expect="invalid_grant: the verifier does not match the challenge.",
        at="exchange",
        change=lambda members: {**members, "code_verifier": secrets.token_urlsafe(32)},
    ),
    Fault(
        name="exchange-elsewhere",
        title="Exchange: another redirect URI than before",
        step=6,
        expect="invalid_grant: the redirect URI has to be the one of the authorization request.",
        at="exchange",
        change=lambda members: {**members, "redirect_uri": f"{members['redirect_uri']}/elsewhere"},
    ),
    Fault(
        name="second-exchange",
        title="Exchange: the same code a second time",
        step=6,
        expect="The second exchange gets invalid_grant. This gateway then revokes the tokens of the first "
        "one, so that redemption fails.",
        exchanges_twice=True,
    ),
    Fault(
        name="tampered-id-token",
        title="Tokens: the ID token was tampered with on the way",
        step=6,
        expect="The agent refuses it: the signature does not match these claims.",
        at="tokens",
        change=_claims_altered,
    ),
    Fault(
        name="tampered-access-token",
        title="Call: the gateway access token was tampered with",
        step=6,
        expect="The service refuses it with the same 401 that a call without a token gets.",
        at="retry",
        change=_altered("access_token"),
    ),
    Fault(
        name="wrong-proxy-secret",
        title="Proxy token: a wrong Proxy client secret",
        step=7,
        expect="401: no Proxy token without the right secret.",
        at="proxy token",
        change=lambda members: {**members, "client_secret": secrets.token_urlsafe(32)},
    ),
    Fault(
        name="revoked-proxy-client",
        title="Proxy token: the Proxy client was revoked",
        step=7,
        expect="401: a revoked Proxy client gets no Proxy token.",
        stage="revoked",
    ),
    Fault(
        name="no-proxy-token",
        title="Redemption: the header X-Proxy-Token is missing",
        step=8,
        expect="400: both headers are needed on every call.",
        at="redemption",
        change=_without("x-proxy-token"),
    ),
    Fault(
        name="id-token-redeemed",
        title="Redemption: the ID token in place of the access token",
        step=8,
        expect="401: an ID token is not accepted for redemption.",
        at="redemption",
        change=lambda members: {**members, "authorization": f"Bearer {members['id_token']}"},
    ),
    Fault(
        name="wrong-resource",
        title="Redemption: a Resource indicator with a slash too many",
        step=8,
        expect="404: the indicator has to match the Resource's exactly.",
        at="redemption",
        change=lambda members: {**members, "resource": f"{members['resource']}/"},
    ),
    Fault(
        name="foreign-proxy-client",
        title="Redemption: the Proxy client belongs to another Project",
        step=8,
        expect="401: gateway access token and Proxy token have to belong to one Project.",
        stage="foreign",
    ),
    Fault(
        name="merchant-distrusts",
        title="Redemption: the merchant does not trust the gateway",
        step=8,
        expect="404: the sign-in works, and there is no merchant token to be redeemed. "
        "The Console's events say why.",
        stage="distrusted",
    ),
    Fault(
        name="merchant-broken",
        title="Redemption: the merchant answered 500 at sign-in",
        step=8,
        expect="404: provisioning is best effort. The Console's events say why.",
        stage="broken",
    ),
    Fault(
        name="refresh-refused",
        title="Redemption: the merchant refuses to refresh its token",
        step=8,
        expect="410 reauthentication_required: the user has to authorize again.",
        stage="unrefreshed",
        wait_until_age_s=1.2,
    ),
)
