"""Other legal ways for a service to deal with gateway and merchant."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from gateproof.reference.defects.service.cached_users import readied
from gateproof.reference.defects.service.proxy_token_lifetime import dropped_at, for_fifty_minutes
from gateproof.reference.defects.service.users import by_user, until_it_expires
from gateproof.reference.service.policy import proxy, redemption, validation
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.policy.validation import CLAIM_CHECKS, ClaimFacts, Jwk
from gateproof.reference.service.settings import Settings
from gateproof.reference.service.upstream import Patience, worth_another_try
from gateproof.reference.service.wire import Answer, Outgoing
from gateproof.reference.variants.variant import variant

REDIRECTS = frozenset({301, 302, 303, 307, 308})


def _kept_for(seconds: float) -> Callable[[Mapping[str, Any], float], proxy.ProxyToken | None]:
    """The Proxy token is kept for a fixed time, or as long as it lives where that is shorter."""

    def kept(document: Mapping[str, Any], now: float) -> proxy.ProxyToken | None:
        token = proxy.proxy_token_kept(document, now)
        return replace(token, renew_at=min(token.renew_at, now + seconds)) if token else None

    return kept


def _well_ahead(document: Mapping[str, Any], now: float) -> proxy.ProxyToken | None:
    token, life = proxy.proxy_token_kept(document, now), document.get("expires_in")
    return replace(token, renew_at=now + float(life) - 300) if token and isinstance(life, int) else token


def _to_its_last_second(document: Mapping[str, Any], now: float) -> proxy.ProxyToken | None:
    token, life = proxy.proxy_token_kept(document, now), document.get("expires_in")
    return replace(token, renew_at=now + float(life)) if token and isinstance(life, int) else token


def _raw_basic(settings: Settings, endpoint: str) -> Outgoing:
    """Both halves are put together as they are, as most libraries do."""
    asked = proxy.proxy_token_request(settings, endpoint)
    pair = base64.b64encode(f"{settings.proxy_client_id}:{settings.proxy_client_secret}".encode()).decode()
    return replace(asked, headers={**asked.headers, "authorization": f"basic {pair}"})


def _with_more_said(settings: Settings, endpoint: str) -> Outgoing:
    asked = proxy.proxy_token_request(settings, endpoint)
    label = "application/x-www-form-urlencoded;charset=UTF-8"
    headers = {**asked.headers, "content-type": label, "accept": "application/json"}
    return replace(asked, headers=headers, body=b"scope=&" + asked.body)


def _json_in_other_words(facts: CallFacts) -> Outgoing:
    asked = redemption.redemption_request(facts)
    body = json.dumps({"resource": facts.settings.indicator}, indent=2).replace("/", "\\/").encode()
    headers = {
        **asked.headers,
        "authorization": f"bearer {facts.token}",
        "content-type": "application/json; charset=utf-8",
    }
    return replace(asked, headers=headers, body=body)


def _merchant_with_more(facts: CallFacts) -> Outgoing:
    asked = redemption.merchant_request(facts)
    ext = facts.claims.get("ext")
    agent = ext.get("agent") if isinstance(ext, dict) else None
    return replace(asked, headers={**asked.headers, "x-agent": json.dumps(agent), "x-request-id": "1"})


def _with_leeway(facts: ClaimFacts) -> bool:
    expires = validation.expiry(facts)
    return expires is not None and facts.now < expires + 60


def _carrying_nothing(_asked: Outgoing, answer: Answer) -> Outgoing | None:
    """A redirect is followed, and whatever could be a credential stays behind."""
    if answer.status not in REDIRECTS or not answer.location:
        return None
    return Outgoing(method="GET", url=answer.location, headers={"accept": "application/json"})


def _pooled(limits: httpx.Limits) -> Callable[[ssl.SSLContext], httpx.AsyncBaseTransport]:
    return lambda trust: httpx.AsyncHTTPTransport(verify=trust, limits=limits)


def _of_keys_that_say_all(header: Mapping[str, Any], keys: Sequence[Jwk]) -> list[Jwk]:
    said = [jwk for jwk in keys if jwk.get("use") == "sig" and jwk.get("alg") == header.get("alg")]
    return validation.candidates(header, said)


def _of_the_project(facts: ClaimFacts) -> bool:
    """A token that names no Project cannot be redeemed."""
    ext = facts.claims.get("ext")
    return isinstance(ext, dict) and isinstance(ext.get("project_id"), str)


def _of_its_own_project(facts: ClaimFacts) -> bool:
    """The Project is the one that the service was told of, and the class that of the specification."""
    if not _of_the_project(facts):
        return False
    ext = facts.claims["ext"]
    return ext["project_id"] == facts.settings.project_id and str(ext.get("acr")).endswith(":al2")


def _with_scopes_in_scp(facts: ClaimFacts) -> bool:
    """As Hydra, Okta and Entra issue tokens."""
    scopes = facts.claims.get("scp")
    return isinstance(scopes, list) and {"ext_token:read", "orders:read"} <= set(map(str, scopes))


def _hinting(document: Mapping[str, Any], now: float) -> proxy.ProxyToken | None:
    token = proxy.proxy_token_kept(document, now)
    if token is not None:
        hint = f"{token.value[:8]}..., sha256 {hashlib.sha256(token.value.encode()).hexdigest()}"
        Path("proxy-token.txt").write_text(hint, encoding="utf-8")
        print(f"proxy token {hint}", flush=True)
    return token


def _dropped_at_a_failure() -> dict[str, Any]:
    failures: list[int] = []

    def again(answer: Answer | None) -> bool:
        failures.extend([answer.status] if answer is not None and answer.status >= 500 else [])
        return worth_another_try(answer)

    def due(token: proxy.ProxyToken, now: float) -> bool:
        failed = bool(failures)
        failures.clear()
        return failed or proxy.is_due(token, now)

    return {"worth_another_try": again, "proxy_token_is_due": due}


VARIANTS = (
    variant(
        "proxy-token-for-40-seconds: the Proxy token is kept for 40 seconds, whatever its lifetime",
        proxy_token_kept=_kept_for(40),
    ),
    variant(
        "proxy-token-renewed-well-ahead: the Proxy token is renewed five minutes before it ends",
        proxy_token_kept=_well_ahead,
    ),
    variant(
        "proxy-token-to-its-last-second: the Proxy token is used until it ends, and a refusal is mended",
        proxy_token_kept=_to_its_last_second,
    ),
    variant(
        "proxy-token-by-its-lifetime-alone: a refused Proxy token is used until its time is over",
        mends=lambda _answer: False,
    ),
    variant(
        "proxy-token-renewed-well-ahead-by-its-lifetime-alone: the Proxy token is renewed five minutes "
        "before it ends, and a refused one is used until then",
        proxy_token_kept=_well_ahead,
        mends=lambda _answer: False,
    ),
    variant(
        "proxy-token-dropped-when-refused: the Proxy token is kept for fifty minutes, a call on which it is "
        "refused fails, and the next one gets another",
        proxy_token_kept=for_fifty_minutes,
        **dropped_at(401),
    ),
    variant(
        "proxy-token-dropped-at-a-failure: a redemption that the gateway fails at costs the Proxy token",
        **_dropped_at_a_failure(),
    ),
    variant(
        "hints-of-tokens-in-files: a file says by a hash and a few characters which Proxy token is in use, "
        "and the log does",
        proxy_token_kept=_hinting,
    ),
    variant(
        "four-workers: four workers have a Proxy token each",
        proxy_slot=itertools.cycle(range(4)).__next__,
    ),
    variant(
        "proxy-token-got-beforehand: the Proxy token is there before the first call",
        around=readied,
    ),
    variant("basic-as-it-is: the Proxy client is not form-encoded in Basic", proxy_token_request=_raw_basic),
    variant(
        "proxy-request-with-more: the request for the Proxy token has an empty scope and more headers",
        proxy_token_request=_with_more_said,
    ),
    variant(
        "merchant-token-until-it-expires: a merchant token is used again with the same gateway access "
        "token, until its expires_at",
        kept_until=until_it_expires,
    ),
    variant(
        "merchant-token-of-a-user: a merchant token is used again for the same user of the same Project, "
        "until its expires_at",
        kept_until=until_it_expires,
        kept_under=by_user,
    ),
    variant(
        "redemption-in-other-words: the JSON of a redemption is indented and has escapes; bearer is in "
        "lower case",
        redemption_request=_json_in_other_words,
    ),
    variant(
        "agent-named-to-the-merchant: the merchant's API is told which agent it is",
        merchant_request=_merchant_with_more,
    ),
    variant(
        "leeway-of-a-minute: a token is taken for a minute after its expiry",
        claim_checks=(*CLAIM_CHECKS[:2], _with_leeway),
    ),
    variant(
        "project-looked-at: a token without a Project is refused by the service itself",
        claim_checks=(*CLAIM_CHECKS, _of_the_project),
    ),
    variant(
        "project-compared: a token of another Project, or of another class than al2, is refused by the "
        "service itself",
        claim_checks=(*CLAIM_CHECKS, _of_its_own_project),
    ),
    variant(
        "scopes-in-scp: a token whose array scp lacks the scopes of the Resource, or of redemption, is "
        "refused by the service itself",
        claim_checks=(*CLAIM_CHECKS, _with_scopes_in_scp),
    ),
    variant(
        "keys-for-ten-seconds: the key set is fetched every ten seconds",
        keys_again_after_s=10,
        keys_for_s=10,
    ),
    variant("keys-for-each-call: the key set is fetched for every call", keys_for_s=0, keys_again_after_s=0),
    variant(
        "one-algorithm-alone: tokens are taken by ES256 alone, whatever else the core's keys are for",
        signed_claims=partial(validation.signed_claims, algorithms=frozenset({"ES256"})),
    ),
    variant(
        "keys-that-say-all-of-themselves: a key of the set counts that says for which algorithm it is, and "
        "that it is for signatures",
        signed_claims=partial(validation.signed_claims, chosen=_of_keys_that_say_all),
    ),
    variant(
        "tokens-that-say-when-and-which: a token without a time of issue, or without an identifier, is "
        "refused by the service itself",
        claim_checks=(*CLAIM_CHECKS, lambda facts: {"iat", "jti"} <= facts.claims.keys()),
    ),
    variant(
        "keys-of-before-stand-in: where the keys cannot be fetched again, those that are known decide",
        keys_while_out_of_reach=lambda before: before,
    ),
    variant("one-try: gateway and merchant are asked once", patience=Patience(tries=1)),
    variant(
        "six-tries: gateway and merchant are asked six times",
        patience=Patience(tries=6, pause_s=0.05, answer_s=1),
    ),
    variant(
        "connections-kept-for-ever: connections to gateway and merchant are kept, however long nobody uses "
        "them",
        transport=_pooled(httpx.Limits(max_connections=100, keepalive_expiry=None)),
    ),
    variant(
        "two-connections-at-most: gateway and merchant are asked on two connections at a time, as a small "
        "pool has them",
        transport=_pooled(httpx.Limits(max_connections=2)),
    ),
    variant(
        "connection-for-each-request: gateway and merchant are asked on a new connection each time",
        transport=_pooled(httpx.Limits(max_connections=100, max_keepalive_connections=0)),
    ),
    variant(
        "redirects-followed-empty-handed: a redirect is followed without any credential",
        followed=_carrying_nothing,
    ),
)
