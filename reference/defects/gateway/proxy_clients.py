"""Gateways that handle Proxy clients and Proxy tokens wrongly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from gateproof.reference.defects.defect import instead, without, without_members
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import proxy, redemption, registration
from gateproof.reference.gateway.policy.code_exchange import TokenRequestFacts
from gateproof.reference.gateway.policy.proxy import PROXY_CLIENT_CHECKS, ProxyClientFacts, ProxyCredentials
from gateproof.reference.gateway.policy.redemption import REDEMPTION_CHECKS, RedemptionCheck, RedemptionFacts
from gateproof.reference.gateway.records import Agent, ProxyClient, ProxyToken
from gateproof.reference.gateway.store import Store
from gateproof.reference.ids import fingerprint
from gateproof.reference.outcomes import JsonObject, Refusal


def storing_secrets_as(kept: Callable[[str], str]) -> dict[str, object]:
    """Stores and compares `kept(secret)`, which loses a part of the secret."""

    def right(facts: ProxyClientFacts) -> Refusal | None:
        same = facts.client is not None and kept(facts.credentials.secret) == facts.client.secret
        return None if same else proxy.proxy_secret_is_right(replace(facts, client=None))

    checks = instead(PROXY_CLIENT_CHECKS, proxy.proxy_secret_is_right, right)
    return {"kept_proxy_secret": kept, "proxy_client_checks": checks}


def refusing(check: proxy.ProxyClientCheck, *, status: int) -> tuple[proxy.ProxyClientCheck, ...]:
    def wrong(facts: ProxyClientFacts) -> Refusal | None:
        refusal = check(facts)
        return replace(refusal, status=status, challenge=None) if refusal else None

    return instead(PROXY_CLIENT_CHECKS, check, wrong)


def found_by_secret(store: Store, credentials: ProxyCredentials) -> ProxyClient | None:
    kept = fingerprint(credentials.secret)
    return next((client for client in store.proxy_clients.values() if client.secret == kept), None)


def found_by_secret_in_the_project(store: Store, credentials: ProxyCredentials) -> ProxyClient | None:
    named = proxy.proxy_client_named(store, credentials)
    meant = found_by_secret(store, credentials)
    return meant if named and meant and named.project_id == meant.project_id else named


def found_like(store: Store, credentials: ProxyCredentials) -> ProxyClient | None:
    """Finds the ID as SQL LIKE does: of the Proxy client with this secret, if its ID matches the pattern."""
    pattern = credentials.client_id.replace("%", "*")
    meant = found_by_secret(store, credentials)
    return meant if meant and fnmatchcase(meant.id, pattern) else proxy.proxy_client_named(store, credentials)


def newest_of_the_project(store: Store, credentials: ProxyCredentials) -> ProxyClient | None:
    named = proxy.proxy_client_named(store, credentials)
    mates = [each for each in store.proxy_clients.values() if named and each.project_id == named.project_id]
    return named if mates and mates[-1] is named else None


def revoked_together(store: Store, credentials: ProxyCredentials) -> ProxyClient | None:
    named = proxy.proxy_client_named(store, credentials)
    mates = [each for each in store.proxy_clients.values() if named and each.project_id == named.project_id]
    return replace(named, revoked=True) if named and any(each.revoked for each in mates) else named


def empty_secret_is_right(facts: ProxyClientFacts) -> Refusal | None:
    """`if secret and secret != stored`: an empty secret is not compared."""
    if facts.client is not None and not facts.credentials.secret:
        return None
    return proxy.proxy_secret_is_right(facts)


def redemption_check_replaced(check: RedemptionCheck, wrong: RedemptionCheck) -> dict[str, object]:
    checks = instead(REDEMPTION_CHECKS, check, wrong)
    return {"redemption_checks": checks, "redemption_rechecks": checks}


def used_once() -> RedemptionCheck:
    used: set[str] = set()

    def check(facts: RedemptionFacts) -> Refusal | None:
        token = facts.proxy_headers[0]
        if token in used:
            return redemption.proxy_token_is_good(replace(facts, proxy_token=None))
        if facts.grant is not None and facts.claims is not None and isinstance(facts.indicator, str):
            used.add(token)
        return redemption.proxy_token_is_good(facts)

    return check


def bound_to_the_first_user() -> RedemptionCheck:
    bound: dict[str, str] = {}

    def check(facts: RedemptionFacts) -> Refusal | None:
        if (
            facts.grant is not None
            and bound.setdefault(facts.proxy_headers[0], facts.grant.sub) != facts.grant.sub
        ):
            return redemption.proxy_token_is_good(replace(facts, proxy_token=None))
        return redemption.proxy_token_is_good(facts)

    return check


def newest_token_only() -> Callable[[Store, str, ProxyToken, float], None]:
    """Each client has one Proxy token: a new one replaces the old one."""
    newest: dict[str, str] = {}

    def keep(store: Store, token: str, record: ProxyToken, now: float) -> None:
        store.proxy_tokens.take(newest.get(record.client_id, ""))
        newest[record.client_id] = fingerprint(token)
        proxy.keep_proxy_token(store, token, record, now)

    return keep


def good_for(seconds: float) -> RedemptionCheck:
    """Enforces another lifetime than the announced one."""

    def check(facts: RedemptionFacts) -> Refusal | None:
        token = facts.proxy_token
        moved = replace(token, expires_at=token.expires_at - 3599 + seconds) if token else None
        return redemption.proxy_token_is_good(replace(facts, proxy_token=moved))

    return check


def agent_as_proxy_client(store: Store, credentials: ProxyCredentials) -> ProxyClient | None:
    """Agents and Proxy clients share one table, and the kind of a client is not checked."""
    agent = store.agents.get(credentials.client_id)
    return _posing(store, agent) if agent else proxy.proxy_client_named(store, credentials)


def agent_that_asked_for_it(store: Store, credentials: ProxyCredentials) -> ProxyClient | None:
    agent = store.agents.get(credentials.client_id)
    wanted = agent is not None and "client_credentials" in agent.grant_types
    return _posing(store, agent) if agent and wanted else proxy.proxy_client_named(store, credentials)


def _posing(store: Store, agent: Agent) -> ProxyClient:
    home = next((project for project, agent_id in store.standings if agent_id == agent.id), "")
    return ProxyClient(id=agent.id, secret=agent.secret, project_id=home)


def standing_unless_revoked(facts: RedemptionFacts) -> Refusal | None:
    return redemption.proxy_client_is_not_revoked(facts) if facts.proxy_client is not None else None


def credentials_from_form_or_basic(facts: TokenRequestFacts) -> ProxyCredentials | Refusal:
    if facts.value("client_secret"):
        return ProxyCredentials(client_id=facts.value("client_id"), secret=facts.value("client_secret"))
    return proxy.proxy_credentials(facts)


AGENTS_AS_PROXY_CLIENTS = redemption_check_replaced(
    redemption.proxy_client_is_not_revoked, standing_unless_revoked
)


def tokens_of_one_kind(store: Store, token: str) -> ProxyToken | None:
    """Refresh tokens and Proxy tokens share one table of opaque tokens."""
    known = redemption.proxy_token_behind(store, token)
    refresh = store.refresh_tokens.get(fingerprint(token))
    grant = store.grants.get(refresh.grant_id) if refresh else None
    if known is not None or refresh is None or grant is None:
        return known
    return ProxyToken(client_id=refresh.agent_id, project_id=grant.project_id, expires_at=refresh.expires_at)


def with_members(**members: object) -> Callable[[str, int], JsonObject]:
    return lambda token, life: proxy.proxy_token_answer(token, life) | members


def saying(check: proxy.ProxyClientCheck, **said: Any) -> tuple[proxy.ProxyClientCheck, ...]:
    def wrong(facts: ProxyClientFacts) -> Refusal | None:
        refusal = check(facts)
        return replace(refusal, **said) if refusal else None

    return instead(PROXY_CLIENT_CHECKS, check, wrong)


RIGHT, REVOKED = proxy.proxy_secret_is_right, proxy.proxy_client_is_not_revoked

DEFECTS = (
    defect(
        "proxy-lifetime-announced-too-long (PROXY-02): The gateway announces a lifetime of two hours for a "
        "Proxy token that expires after one.",
        proxy_token_answer=lambda token, _: proxy.proxy_token_answer(token, 7200),
    ),
    defect(
        "proxy-secret-unread (PROXY-03 PROXY-10): The gateway does not compare the secret of a Proxy client.",
        proxy_client_checks=without(PROXY_CLIENT_CHECKS, RIGHT),
    ),
    defect(
        "proxy-secret-in-any-case (PROXY-03): The gateway compares the secret of a Proxy client "
        "case-insensitively.",
        **storing_secrets_as(lambda secret: fingerprint(secret.lower())),
    ),
    defect(
        "proxy-secret-cut-at-40 (PROXY-03): The gateway stores and compares only the first 40 characters of "
        "a Proxy client's secret.",
        **storing_secrets_as(lambda secret: fingerprint(secret[:40])),
    ),
    defect(
        "proxy-secret-without-its-end (PROXY-03): The gateway ignores additional characters at the end of a "
        "Proxy client's secret.",
        **storing_secrets_as(lambda secret: fingerprint(secret[:43])),
    ),
    defect(
        "proxy-client-found-by-its-secret (PROXY-03): The gateway finds a Proxy client by its secret and "
        "ignores the ID.",
        proxy_client_named=found_by_secret,
    ),
    defect(
        "proxy-secret-of-a-mate (PROXY-03): The gateway accepts the secret of any Proxy client of the same "
        "Project.",
        proxy_client_named=found_by_secret_in_the_project,
    ),
    defect(
        "proxy-client-found-by-like (PROXY-03): The gateway looks up a Proxy client's ID with SQL LIKE, so "
        "the ID can be a pattern.",
        proxy_client_named=found_like,
    ),
    defect(
        "empty-proxy-secret-does (PROXY-03): The gateway accepts an empty secret of a Proxy client.",
        proxy_client_checks=instead(PROXY_CLIENT_CHECKS, RIGHT, empty_secret_is_right),
    ),
    defect(
        "wrong-proxy-secret-is-400 (PROXY-03): The gateway answers 400 to a wrong secret of a Proxy client.",
        proxy_client_checks=refusing(RIGHT, status=400),
    ),
    defect(
        "unknown-proxy-client-is-404 (PROXY-03): The gateway answers 404 to an unknown Proxy client.",
        proxy_client_checks=refusing(proxy.proxy_client_is_known, status=404),
    ),
    defect(
        "revoked-proxy-client-goes-on (PROXY-04 ROBUST-04): A revoked Proxy client still gets Proxy tokens.",
        proxy_client_checks=without(PROXY_CLIENT_CHECKS, REVOKED),
    ),
    defect(
        "revoked-proxy-client-is-403 (PROXY-04 ROBUST-04): The gateway answers 403 to a revoked Proxy "
        "client.",
        proxy_client_checks=refusing(REVOKED, status=403),
    ),
    defect(
        "one-proxy-client-a-project (PROXY-05 ROBUST-04): Only the newest Proxy client of a Project can get "
        "Proxy tokens.",
        proxy_client_named=newest_of_the_project,
    ),
    defect(
        "revocation-of-the-whole-project (PROXY-05 ROBUST-04): The revocation of one Proxy client revokes "
        "all Proxy clients of its Project.",
        proxy_client_named=revoked_together,
    ),
    defect(
        "proxy-token-works-once (PROXY-06 PROXY-05 KEYS-04 REDEEM-01 REDEEM-09 VAULT-01 VAULT-05 VAULT-06 "
        "ROBUST-04): The gateway accepts a Proxy token for one redemption only.",
        redemption_checks=instead(REDEMPTION_CHECKS, redemption.proxy_token_is_good, used_once()),
    ),
    defect(
        "proxy-token-for-one-user (PROXY-06 ROBUST-04 REDEEM-01): The gateway accepts a Proxy token only "
        "for the user of its first redemption.",
        redemption_checks=instead(
            REDEMPTION_CHECKS, redemption.proxy_token_is_good, bound_to_the_first_user()
        ),
    ),
    defect(
        "newest-proxy-token-only (PROXY-06 ROBUST-04): A new Proxy token invalidates the previous one of "
        "the same Proxy client.",
        keep_proxy_token=newest_token_only(),
    ),
    defect(
        "proxy-token-for-half-an-hour (PROXY-06 PROXY-02): The gateway refuses a Proxy token after half an "
        "hour, although it announces an hour.",
        **redemption_check_replaced(redemption.proxy_token_is_good, good_for(1800)),
    ),
    defect(
        "proxy-token-never-expires (PROXY-07 ROBUST-04 REDEEM-11): The gateway does not check the expiry of "
        "a Proxy token.",
        redemption_checks=without(REDEMPTION_CHECKS, redemption.proxy_token_is_good),
        redemption_rechecks=without(REDEMPTION_CHECKS, redemption.proxy_token_is_good),
    ),
    defect(
        "proxy-token-with-ten-minutes-grace (PROXY-07 ROBUST-04): The gateway accepts a Proxy token for ten "
        "minutes after its expiry.",
        **redemption_check_replaced(redemption.proxy_token_is_good, good_for(4200)),
    ),
    defect(
        "agent-gets-a-proxy-token (PROXY-08): An agent gets a Proxy token with client_credentials and HTTP "
        "Basic.",
        proxy_client_named=agent_as_proxy_client,
        **AGENTS_AS_PROXY_CLIENTS,
    ),
    defect(
        "agent-gets-a-proxy-token-by-form (PROXY-08): An agent gets a Proxy token with client_credentials "
        "and its secret in the form.",
        proxy_credentials=credentials_from_form_or_basic,
        proxy_client_named=agent_as_proxy_client,
        **AGENTS_AS_PROXY_CLIENTS,
    ),
    defect(
        "agent-registers-for-proxy-tokens (PROXY-08): An agent that registers with the grant type "
        "client_credentials gets Proxy tokens.",
        registration_checks=without(registration.REGISTRATION_CHECKS, registration.grants_are_supported),
        proxy_credentials=credentials_from_form_or_basic,
        proxy_client_named=agent_that_asked_for_it,
        **AGENTS_AS_PROXY_CLIENTS,
    ),
    defect(
        "agents-refresh-token-as-proxy-token (PROXY-08): The gateway accepts an agent's refresh token as a "
        "Proxy token.",
        proxy_token_behind=tokens_of_one_kind,
        **AGENTS_AS_PROXY_CLIENTS,
    ),
    defect(
        "proxy-token-type-mac (PROXY-10): The token_type of a Proxy token is mac.",
        proxy_token_answer=with_members(token_type="mac"),  # noqa: S106 - a type
    ),
    defect(
        "proxy-token-without-type (PROXY-01 PROXY-10): The answer with a Proxy token has no token_type.",
        proxy_token_answer=lambda token, life: without_members(
            proxy.proxy_token_answer(token, life), "token_type"
        ),
    ),
    defect(
        "refresh-token-for-a-proxy-client (PROXY-10): The answer with a Proxy token also has a refresh "
        "token.",
        proxy_token_answer=with_members(refresh_token="one that nobody needs"),  # noqa: S106 - no secret
    ),
    defect(
        "token-answers-may-be-stored (PROXY-10 CODE-11): The token endpoint does not send Cache-Control: "
        "no-store.",
        token_headers={},
    ),
    defect(
        "wrong-proxy-secret-is-access-denied (PROXY-10): The error code for a wrong secret of a Proxy "
        "client is access_denied.",
        proxy_client_checks=saying(RIGHT, error="access_denied"),
    ),
    defect(
        "unknown-proxy-client-is-access-denied (PROXY-10): The error code for an unknown Proxy client is "
        "access_denied.",
        proxy_client_checks=saying(proxy.proxy_client_is_known, error="access_denied"),
    ),
    defect(
        "unknown-proxy-client-without-challenge (PROXY-10): The 401 for an unknown Proxy client has no "
        "WWW-Authenticate header.",
        proxy_client_checks=saying(proxy.proxy_client_is_known, challenge=None),
    ),
    defect(
        "wrong-proxy-secret-without-challenge (PROXY-10): The 401 for a wrong secret of a Proxy client has "
        "no WWW-Authenticate header.",
        proxy_client_checks=saying(RIGHT, challenge=None),
    ),
)
