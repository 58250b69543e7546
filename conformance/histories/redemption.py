"""The allowed results of a redemption.

Credentials come first: each defect of them allows its own refusals. If there are several, the gateway may
report any of them. It may also check the vault before the credentials.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gateproof.conformance.histories.model_update import overheard
from gateproof.conformance.histories.observation import Seen
from gateproof.conformance.histories.state import Code, Judged, State, key_of
from gateproof.conformance.histories.steps import Redeem
from gateproof.conformance.histories.vault import Entry, Key, Vault, answers
from gateproof.conformance.suite.time_limits import LEEWAY_S, NEAR_EXPIRY_S

MAYBE = "maybe"
# Tolerance for two clocks and for times in whole seconds.
_MOMENT_S = 1.0


def redeemed(state: State, step: Redeem, seen: Seen) -> Judged:
    """Judges a redemption: refusals because of credentials, and those because of the vault.

    If there are several defects, the gateway may report any of them.
    """
    code = state.codes[step.code]
    state = overheard(state, seen, code)
    refusals = set(faults(state, step, seen.at))
    doubtful = MAYBE in refusals or code.shaken
    certain = refusals - {MAYBE}
    trouble = any(
        each.grant == "refresh" and each.result in {"failed", "lost"} and each.user == code.user
        for each in seen.heard
    )
    found = [
        (vault, _answered(vault, key_of(vault, code), seen.at, trouble=trouble)) for vault in state.vaults
    ]
    possible = {word for _, by_word in found for word in by_word}
    if certain:
        possible = (possible - {"200"}) | certain
    elif doubtful:
        possible |= {"4xx"}
    elif code.doubted:
        possible |= {"401"}
    allowed = frozenset(possible)
    if not _covers(possible, seen):
        return Judged(state=None, allowed=allowed)
    # A refusal of the credentials says nothing about the vault.
    revoked = code.doubted and seen.came == "401"
    if certain or revoked or (doubtful and seen.came != "200"):
        row = "redemption, refused credentials" if certain else ""
        return Judged(state=state, allowed=allowed, rows=(row,) if row else ())
    vaults = tuple(
        vault.with_(key_of(vault, code), by_word[seen.came])
        for vault, by_word in found
        if seen.came in by_word
    )
    rows = _redemption_row(state, code, seen)
    return Judged(state=replace(state, vaults=vaults), allowed=allowed, rows=rows)


def _answered(vault: Vault, key: Key, at: float, *, trouble: bool) -> dict[str, set[Entry]]:
    by_word: dict[str, set[Entry]] = {}
    for entry in vault.of(key):
        for word, then in answers(entry, at, trouble=trouble).items():
            by_word.setdefault(word, set()).add(then)
    return by_word


def _covers(possible: Iterable[str], seen: Seen) -> bool:
    """True if the result is allowed; a merchant token has to be the right one, too."""
    came = seen.came
    if came == "200":
        token = seen.token
        right = token is None or (token.owned and seen.at <= token.until + _MOMENT_S)
        return "200" in possible and right
    return came in possible or ("4xx" in possible and came in {"401", "404", "410"})


def faults(state: State, step: Redeem, now: float) -> Iterable[str]:
    """The refusals that the credentials allow; `maybe` near the end of a token."""
    code, token = state.codes[step.code], state.tokens[step.token]
    client = state.clients[token.client] if token.client is not None else None
    if client is None:
        return
    if client.revoked or client.project != code.project:
        yield "401"
    for until in (token.until, code.until):
        if now > until + LEEWAY_S:
            yield "4xx"
        elif now > until - NEAR_EXPIRY_S:
            yield MAYBE


def _redemption_row(state: State, code: Code, seen: Seen) -> tuple[str, ...]:
    refreshed = [each.result for each in seen.heard if each.grant == "refresh" and each.user == code.user]
    if seen.came == "200":
        return ("cached, near expiry, refreshed" if "accepted" in refreshed else "cached, redeemed",)
    if seen.came == "410":
        if refreshed:
            return ("cached, near expiry, refresh rejected: 410",)
        held = {entry.holds for vault in state.vaults[:1] for entry in vault.of(key_of(vault, code))}
        return (
            "cached, near expiry, no refresh token: 410"
            if "token" in held
            else "needs reauthentication, redeemed: 410",
        )
    return ("absent, redeemed: 404" if seen.came == "404" else "redeemed while the merchant fails",)
