"""Gateways that act correctly the first time, and wrongly when the same thing happens again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.policy import redemption, vault
from gateproof.reference.gateway.policy.redemption import RedemptionFacts
from gateproof.reference.gateway.policy.vault import MerchantAnswer, Step, Verdict
from gateproof.reference.gateway.records import Agent, Grant, Resource, VaultEntry
from gateproof.reference.outcomes import JsonObject, Refusal


def next_410_is(refusal: Refusal) -> dict[str, Any]:
    """The first 410 for a merchant token is correct; each later one is replaced by this refusal."""
    told: set[str] = set()
    again = False

    def step(entry: VaultEntry, now: float) -> Step:
        nonlocal again
        honest = vault.step(entry, now)
        if honest == "reauthenticate":
            again = entry.access_token in told
            told.add(entry.access_token)
        return honest

    def rejected(old: VaultEntry) -> VaultEntry:
        nonlocal again
        again = False
        told.add(old.access_token)
        return vault.rejected_entry(old)

    def answer() -> Refusal:
        return refusal if again else redemption.reauthentication_required()

    return {"step": step, "rejected_entry": rejected, "reauthentication_required": answer}


def stopped_by_losing_a_token() -> dict[str, Any]:
    """A sign-in fails if a rejection removes an earlier merchant token."""
    lost = False

    def entry(
        old: VaultEntry | None, verdict: Verdict, answer: MerchantAnswer, now: float
    ) -> VaultEntry | None:
        nonlocal lost
        lost = old is not None and verdict == "rejected"
        return vault.entry_after_provisioning(old, verdict, answer, now)

    return {"entry_after_provisioning": entry, "continues_sign_in": lambda _: not lost}


def found_by_indicator(which: int) -> Callable[[RedemptionFacts], Resource | None]:
    """Looks only at one of the Resources of all Projects that have this indicator."""

    def found(facts: RedemptionFacts) -> Resource | None:
        same = [resource for resource in facts.resources if resource.indicator == facts.indicator]
        return redemption.redeemed_resource(replace(facts, resources=(same[which],))) if same else None

    return found


def first_agent_asserted(place: Callable[[Grant], Hashable]) -> Callable[..., dict[str, Any]]:
    """Every assertion with the same `place` names the agent of the first one."""
    first: dict[Hashable, dict[str, Any]] = {}

    def claims(grant: Grant, agent: Agent, resource: Resource, jti: str, now: float) -> dict[str, Any]:
        honest = vault.user_assertion(grant, agent, resource, jti, now)
        return honest | {"act": first.setdefault(place(grant), honest["act"])}

    return claims


def dated_after_a_refresh(form: Callable[[float], object]) -> dict[str, Any]:
    """Writes expires_at in this form if the merchant token comes from a refresh."""
    refreshed: set[str] = set()

    def entry(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
        new = vault.refreshed_entry(old, answer, now)
        refreshed.add(new.access_token)
        return new

    def answer(entry: VaultEntry) -> JsonObject:
        honest = redemption.redemption_answer(entry)
        late = entry.access_token in refreshed and entry.expires_at is not None
        return honest | {"expires_at": form(entry.expires_at or 0)} if late else honest

    return {"refreshed_entry": entry, "redemption_answer": answer}


def dated_by_the_first_refresh() -> dict[str, Any]:
    """From the second refresh on, returns the expires_at of the first refresh."""
    first: dict[str, float | None] = {}

    def entry(old: VaultEntry, answer: MerchantAnswer, now: float) -> VaultEntry:
        new = vault.refreshed_entry(old, answer, now)
        first[new.access_token] = first.get(old.access_token, new.expires_at)
        return new

    def answer(entry: VaultEntry) -> JsonObject:
        kept = first.get(entry.access_token, entry.expires_at)
        return redemption.redemption_answer(replace(entry, expires_at=kept))

    return {"refreshed_entry": entry, "redemption_answer": answer}


def storable(status: int) -> Callable[[ASGIApp, Gateway], ASGIApp]:
    """Removes Cache-Control from answers with this status."""

    def around(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
        async def stripped(scope: Scope, receive: Receive, send: Send) -> None:
            async def passed_on(message: Message) -> None:
                if message.get("status") == status:
                    kept = [pair for pair in message["headers"] if pair[0].lower() != b"cache-control"]
                    message = {**message, "headers": kept}
                await send(message)

            await app(scope, receive, passed_on)

        return stripped

    return around


DEFECTS = (
    defect(
        "code-in-the-first-410-alone (VAULT-02 VAULT-03): Only the first 410 has the error code "
        "reauthentication_required; later ones have the code gone.",
        **next_410_is(replace(redemption.reauthentication_required(), error="gone")),
    ),
    defect(
        "expires-at-of-the-first-refresh (REDEEM-16): After the second refresh, expires_at is still that of "
        "the merchant token from the first refresh.",
        **dated_by_the_first_refresh(),
    ),
    defect(
        "404-after-the-410 (VAULT-02 VAULT-03 ROBUST-04): The first redemption after the loss of a merchant "
        "token gets 410, later ones get 404.",
        **next_410_is(redemption.nothing_cached()),
    ),
    defect(
        "sign-in-stopped-by-a-lost-token (AUTHZ-10 ROBUST-04): The sign-in fails if the merchant rejects "
        "the gateway after it gave a token at an earlier sign-in.",
        **stopped_by_losing_a_token(),
    ),
    defect(
        "oldest-resource-of-an-indicator (REDEEM-01): If several Projects have a Resource with the same "
        "indicator, only the oldest of these Resources is found.",
        redeemed_resource=found_by_indicator(0),
    ),
    defect(
        "newest-resource-of-an-indicator (REDEEM-01): If several Projects have a Resource with the same "
        "indicator, only the newest of these Resources is found.",
        redeemed_resource=found_by_indicator(-1),
    ),
    defect(
        "first-agent-of-the-user-asserted (VAULT-09): The assertion to the merchant names the first agent "
        "that the user authorized for the Resource.",
        user_assertion=first_agent_asserted(lambda grant: (grant.resource_id, grant.person.login_id)),
    ),
    defect(
        "first-agent-of-the-resource-asserted (VAULT-09): The assertion to the merchant names the agent of "
        "the Resource's first user.",
        user_assertion=first_agent_asserted(lambda grant: grant.resource_id),
    ),
    defect(
        "expires-at-in-seconds-after-a-refresh (REDEEM-02): After a refresh, expires_at is a number of "
        "seconds since 1970 instead of a timestamp.",
        **dated_after_a_refresh(int),
    ),
    defect(
        "expires-at-without-offset-after-a-refresh (REDEEM-02): After a refresh, expires_at has no time "
        "zone.",
        **dated_after_a_refresh(lambda at: redemption.rfc3339(at).rstrip("Z")),
    ),
    defect(
        "storable-410 (REDEEM-15): A 410 from redemption has no Cache-Control: no-store.",
        around=storable(410),
    ),
)
