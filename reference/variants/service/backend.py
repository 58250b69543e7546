"""Other legal ways for a service to validate tokens, and to call gateway and merchant."""

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

from gateproof.reference.defects.service.cached_users import with_early_proxy_token
from gateproof.reference.defects.service.proxy_token_lifetime import dropped_at, for_fifty_minutes
from gateproof.reference.defects.service.users import by_user, until_it_expires
from gateproof.reference.deviations.renewal_timer import renewed_by_a_timer
from gateproof.reference.service.policy import proxy, redemption, validation
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.policy.validation import CLAIM_CHECKS, ClaimFacts, Jwk
from gateproof.reference.service.settings import Settings
from gateproof.reference.service.upstream import Patience, is_retryable
from gateproof.reference.service.wire import Answer, Outgoing
from gateproof.reference.variants.variant import variant

REDIRECTS = frozenset({301, 302, 303, 307, 308})


def _kept_for(seconds: float) -> Callable[[Mapping[str, Any], float], proxy.ProxyToken | None]:
    """Keeps the Proxy token for a fixed time, or for its lifetime if that is shorter."""

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
    """Sends ID and secret without form-encoding, as most libraries do."""
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
    """Follows a redirect without any credential."""
    if answer.status not in REDIRECTS or "location" not in answer.headers:
        return None
    return Outgoing(method="GET", url=answer.headers["location"], headers={"accept": "application/json"})


def _pooled(limits: httpx.Limits) -> Callable[[ssl.SSLContext], httpx.AsyncBaseTransport]:
    return lambda trust: httpx.AsyncHTTPTransport(verify=trust, limits=limits)


def _of_keys_that_say_all(header: Mapping[str, Any], keys: Sequence[Jwk]) -> list[Jwk]:
    said = [jwk for jwk in keys if jwk.get("use") == "sig" and jwk.get("alg") == header.get("alg")]
    return validation.candidates(header, said)


def _of_the_project(facts: ClaimFacts) -> bool:
    """Requires a Project in the token, because redemption would refuse it otherwise."""
    ext = facts.claims.get("ext")
    return isinstance(ext, dict) and isinstance(ext.get("project_id"), str)


def _of_its_own_project(facts: ClaimFacts) -> bool:
    """Requires the configured Project, and the authentication class of the specification."""
    if not _of_the_project(facts):
        return False
    ext = facts.claims["ext"]
    return ext["project_id"] == facts.settings.project_id and str(ext.get("acr")).endswith(":al2")


def _with_scopes_in_scp(facts: ClaimFacts) -> bool:
    """Reads the scopes in `scp`, as Hydra, Okta and Entra issue tokens."""
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
        return is_retryable(answer)

    def due(token: proxy.ProxyToken, now: float) -> bool:
        failed = bool(failures)
        failures.clear()
        return failed or proxy.is_due(token, now)

    return {"worth_another_try": again, "proxy_token_is_due": due}


VARIANTS = (
    variant(
        "proxy-token-for-40-seconds: the service keeps the Proxy token for 40 seconds, or for its lifetime "
        "if that is shorter",
        proxy_token_kept=_kept_for(40),
    ),
    variant(
        "proxy-token-renewed-well-ahead: the service renews the Proxy token five minutes before it expires",
        proxy_token_kept=_well_ahead,
    ),
    variant(
        "proxy-token-to-its-last-second: the service uses the Proxy token until it expires, and replaces it "
        "if it is refused",
        proxy_token_kept=_to_its_last_second,
    ),
    variant(
        "proxy-token-by-its-lifetime-alone: the service uses a refused Proxy token until it is due for "
        "renewal",
        warrants_new_proxy_token=lambda _answer: False,
    ),
    variant(
        "proxy-token-renewed-by-a-timer: the service renews the Proxy token by a timer, five seconds after a "
        "failed renewal again, and uses a refused one until then",
        **renewed_by_a_timer(again_after_s=5),
    ),
    variant(
        "proxy-token-renewed-well-ahead-by-its-lifetime-alone: the service renews the Proxy token five "
        "minutes before it expires, and uses a refused one until then",
        proxy_token_kept=_well_ahead,
        warrants_new_proxy_token=lambda _answer: False,
    ),
    variant(
        "proxy-token-dropped-when-refused: the service keeps the Proxy token for fifty minutes; if it is "
        "refused, the call fails, and the next call gets another one",
        proxy_token_kept=for_fifty_minutes,
        **dropped_at(401),
    ),
    variant(
        "proxy-token-dropped-at-a-failure: the service gets another Proxy token after any party has "
        "answered with 5xx",
        **_dropped_at_a_failure(),
    ),
    variant(
        "hints-of-tokens-in-files: the service writes a hash and the first characters of the Proxy token to "
        "a file and the log",
        proxy_token_kept=_hinting,
    ),
    variant(
        "four-workers: the service has four Proxy tokens and uses them in turn, as four workers do",
        proxy_slot=itertools.cycle(range(4)).__next__,
    ),
    variant(
        "proxy-token-got-beforehand: the service gets a Proxy token before the first call",
        around=with_early_proxy_token,
    ),
    variant(
        "basic-as-it-is: the service does not form-encode the Proxy client's ID and secret in the Basic "
        "header",
        proxy_token_request=_raw_basic,
    ),
    variant(
        "proxy-request-with-more: the request for the Proxy token has an empty scope and additional headers",
        proxy_token_request=_with_more_said,
    ),
    variant(
        "merchant-token-until-it-expires: the service reuses a merchant token for the same gateway access "
        "token until its expires_at",
        cached_until=until_it_expires,
    ),
    variant(
        "merchant-token-of-a-user: the service reuses a merchant token for the same user in the same "
        "Project until its expires_at",
        cached_until=until_it_expires,
        cache_key=by_user,
    ),
    variant(
        "redemption-in-other-words: the redemption request has indented JSON with escapes, and `bearer` in "
        "lower case",
        redemption_request=_json_in_other_words,
    ),
    variant(
        "agent-named-to-the-merchant: the service sends the claim ext.agent to the merchant's API",
        merchant_request=_merchant_with_more,
    ),
    variant(
        "leeway-of-a-minute: the service accepts a token for one minute after its expiry",
        claim_checks=(*CLAIM_CHECKS[:2], _with_leeway),
    ),
    variant(
        "project-looked-at: the service itself refuses a token without a Project",
        claim_checks=(*CLAIM_CHECKS, _of_the_project),
    ),
    variant(
        "project-compared: the service itself refuses a token of another Project, or of another class than "
        "al2",
        claim_checks=(*CLAIM_CHECKS, _of_its_own_project),
    ),
    variant(
        "scopes-in-scp: the service itself refuses a token whose array `scp` lacks ext_token:read or "
        "orders:read",
        claim_checks=(*CLAIM_CHECKS, _with_scopes_in_scp),
    ),
    variant(
        "keys-for-ten-seconds: the service fetches the key set at most every ten seconds",
        keys_again_after_s=10,
        keys_for_s=10,
    ),
    variant(
        "keys-for-each-call: the service fetches the key set for every call",
        keys_for_s=0,
        keys_again_after_s=0,
    ),
    variant(
        "one-algorithm-alone: the service accepts only tokens that are signed with ES256",
        signed_claims=partial(validation.signed_claims, algorithms=frozenset({"ES256"})),
    ),
    variant(
        "keys-that-say-all-of-themselves: the service uses only keys that have the token's algorithm as "
        "`alg`, and `sig` as `use`",
        signed_claims=partial(validation.signed_claims, chosen=_of_keys_that_say_all),
    ),
    variant(
        "tokens-that-say-when-and-which: the service itself refuses a token without iat or without jti",
        claim_checks=(*CLAIM_CHECKS, lambda facts: {"iat", "jti"} <= facts.claims.keys()),
    ),
    variant(
        "keys-of-before-stand-in: the service uses the cached keys if it cannot fetch them again",
        keys_while_out_of_reach=lambda before: before,
    ),
    variant(
        "one-try: the service does not retry requests to gateway and merchant", patience=Patience(tries=1)
    ),
    variant(
        "six-tries: the service sends a request to gateway or merchant up to six times",
        patience=Patience(tries=6, pause_s=0.05, answer_s=1),
    ),
    variant(
        "connections-kept-for-ever: the service keeps idle connections to gateway and merchant without a "
        "time limit",
        transport=_pooled(httpx.Limits(max_connections=100, keepalive_expiry=None)),
    ),
    variant(
        "two-connections-at-most: the service uses at most two connections to gateway and merchant at a time",
        transport=_pooled(httpx.Limits(max_connections=2)),
    ),
    variant(
        "connection-for-each-request: the service opens a new connection for each request to gateway and "
        "merchant",
        transport=_pooled(httpx.Limits(max_connections=100, max_keepalive_connections=0)),
    ),
    variant(
        "redirects-followed-empty-handed: the service follows a redirect without any credential",
        followed=_carrying_nothing,
    ),
)
