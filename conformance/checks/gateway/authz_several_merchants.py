"""Resources at several merchants: a sign-in at one merchant counts only for Resources of that merchant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from gateproof.conformance.checks.gateway._visits import no_code
from gateproof.conformance.checks.gateway._visits_anywhere import visit_anywhere
from gateproof.conformance.kit.gateway.codes import require_code
from gateproof.conformance.kit.gateway.gateway import Browsing, Visit
from gateproof.conformance.kit.gateway.isolated_user import let_expire
from gateproof.conformance.kit.gateway.merchant_site import MerchantSite
from gateproof.conformance.kit.gateway.several_merchants import MerchantAccount, merchant_account, merchants
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe
from gateproof.conformance.suite.parties import User
from gateproof.conformance.wire.jose import read
from gateproof.fakes.merchant.records import JournalEntry

# Nobody's password.
_WRONG_PASSWORD = "gateproof-wrong-password"  # noqa: S105 - it is nobody's
_ASSERTIONS = ("assertion", "subject_token", "client_assertion")


@dataclass(frozen=True, kw_only=True, slots=True)
class Two:
    """What two Resources at two merchants have in common, and which one is created and used first."""

    one_project: bool = True
    one_client_id: bool = False
    other_first: bool = False


# Makes the false data of an imitating merchant from the site and client ID of the honest one.
Lies = Callable[[MerchantSite, str], Mapping[str, Any]]

_HONEST: Mapping[str, Two] = {
    "one-project": Two(),
    "two-projects": Two(one_project=False),
    "one-client-id": Two(one_client_id=True),
    "one-client-id-two-projects": Two(one_project=False, one_client_id=True),
}
_BESIDE_A_LIAR: Mapping[str, Two] = {
    "in-one-project": Two(),
    "in-one-project-with-one-client-id": Two(one_client_id=True),
    "with-one-client-id": Two(one_project=False, one_client_id=True, other_first=True),
}
# False data with which a hostile merchant imitates the honest one.
_POSING: Mapping[str, Lies] = {
    "iss-of-the-id-token": lambda honest, _: {"id_token": {"iss": honest.issuer}},
    "iss-and-aud-of-the-id-token": lambda honest, client_id: {
        "id_token": {"iss": honest.issuer, "aud": client_id}
    },
    "iss-everywhere": lambda honest, client_id: {
        "discovery": {"issuer": honest.issuer},
        "redirect_iss": honest.issuer,
        "id_token": {"iss": honest.issuer, "aud": client_id},
    },
}
# False data with which it tries to get assertions and refresh tokens of the honest one.
_LURING: Mapping[str, Lies] = {
    "no-lie": lambda _honest, _client_id: {},
    "issuer": lambda honest, _: {"discovery": {"issuer": honest.issuer}},
    "iss-everywhere": _POSING["iss-everywhere"],
}


def _with_each(lies: Mapping[str, Lies]) -> Mapping[str, tuple[Lies, Two]]:
    return {
        f"{lie}-{kind}": (told, two) for lie, told in lies.items() for kind, two in _BESIDE_A_LIAR.items()
    }


@check("AUTHZ-22", needs=["sign-in:browser"], cases=_HONEST)
def sign_in_at_one_merchant_is_none_at_another(world: World, case: Two) -> None:
    """A browser that is signed in with one merchant is not signed in at a Resource of another one.

    Both merchants know a user of the same login, with different passwords. This is tried in both directions.
    """
    with _two_shops(world, case) as (one, other):
        for first, second in ((one, other), (other, one)):
            # Positive twin: the sign-in at this merchant works.
            _signs_in(world, world.gateway.browser(), second)
            browser = world.gateway.browser()
            _signs_in(world, browser, first)
            _is_not_signed_in(world, browser, second)


@check("AUTHZ-22", needs=["sign-in:browser"], cases=_with_each(_POSING))
def hostile_merchant_signs_nobody_in_at_an_honest_one(world: World, case: tuple[Lies, Two]) -> None:
    """A sign-in at a merchant that imitates an honest one does not sign the browser in at the honest one.

    Whether the sign-in gives a code at the hostile merchant's own Resource is recorded.
    """
    lies, two = case
    with _two_shops(world, two, lies) as (honest, hostile):
        _signs_in(world, world.gateway.browser(), honest)
        browser = world.gateway.browser()
        entered = _visit(world, browser, hostile, hostile.alone.user)
        observe(into_the_hostile_merchants_resource="a code" if entered.codes() else "no code")
        if not entered.codes() and not hostile.asked():
            raise LeftOut("the gateway does not sign users in by OpenID Connect at a second merchant")
        _is_not_signed_in(world, browser, honest)


@check("AUTHZ-22", alone=True, cases=_with_each(_LURING))
def nothing_of_one_merchant_is_sent_to_another(world: World, case: tuple[Lies, Two]) -> None:
    """The gateway sends assertions for one merchant, and its refresh tokens, to no other merchant.

    Users sign in, and their merchant tokens are refreshed, at both Resources in turn. One of the merchants
    may be hostile.
    """
    lies, two = case
    with _two_shops(world, two, lies) as (honest, other):
        hostile = bool(lies(honest.site, honest.alone.client_id))
        try:
            _used(world, honest, other, hostile=hostile)
        finally:
            # Tested first: a request to the wrong merchant is often the reason why a step failed.
            _expect_nothing_of(honest, other)
            if not hostile:
                _expect_nothing_of(other, honest)
        if not _requests_with_tokens(honest):
            raise LeftOut("the gateway sent the honest merchant neither an assertion nor a refresh token")


@check("AUTHZ-22", cases={name: two for name, two in _HONEST.items() if two.one_project})
def user_of_one_merchant_gets_no_token_of_their_namesake_at_another(world: World, case: Two) -> None:
    """A user's token does not redeem the token of the user with the same login at another merchant.

    Both Resources are in one Project. Whether a token redeems a second Resource at all is left open.
    """
    with _two_shops(world, case) as (one, other):
        for own, foreign in ((one, other), (other, one)):
            theirs, mine = foreign.alone.grant(), own.alone.grant()
            proxy_token = own.alone.proxy_token()
            world.backend.require_redeemed(theirs, foreign.alone.proxy_token())
            world.backend.require_redeemed(mine, proxy_token)

            answer = world.gateway.redeem(mine.access_token, proxy_token, foreign.alone.resource.indicator)

            token = answer.member("access_token")
            observe(redemption_at_the_second_resource=answer.outcome())
            expect.that(
                not (isinstance(token, str) and token) or foreign.site.admin.lookup(token) is None,
                "redemption at the other merchant's Resource",
                expected="no token of the other merchant",
                got="a token that the other merchant issued for the user of the same login",
                exchange=answer,
            )


@contextmanager
def _two_shops(
    world: World, two: Two, lies: Lies | None = None
) -> Iterator[tuple[MerchantAccount, MerchantAccount]]:
    """Resources at two new merchants that know a user of the same login; the second one may be hostile."""
    with merchants(world, 2) as (one_site, other_site):
        login = f"{world.unique()}@merchant.example"
        client_id = f"gateway-{world.unique()}"
        other_id = client_id if two.one_client_id else f"gateway-{world.unique()}"
        if lies is not None:
            other_site.admin.lie(**lies(one_site, client_id))
        sites = [(one_site, client_id), (other_site, other_id)]
        made: list[MerchantAccount] = []
        for site, known_as in reversed(sites) if two.other_first else sites:
            beside = made[0].alone.project if made and two.one_project else None
            made.append(merchant_account(world, site, login=login, client_id=known_as, beside=beside))
            if two.other_first and len(made) == 1:
                _tries_to_sign_in(world, made[0])
        one, other = reversed(made) if two.other_first else made
        yield one, other


def _tries_to_sign_in(world: World, at: MerchantAccount) -> None:
    """The user tries to sign in at this merchant; the sign-in may fail."""
    world.gateway.visit(world.attempt(resource=at.alone.resource, user=at.alone.user), wherever=True)


def _signs_in(world: World, browser: Browsing, at: MerchantAccount) -> None:
    """The user signs in at this merchant; left out if the gateway does not use OpenID Connect there."""
    before = at.signed_in()
    visit = _visit(world, browser, at, at.alone.user)
    require_code(world.gateway, visit)
    if at.signed_in() == before:
        raise LeftOut("the gateway does not sign users in by OpenID Connect at a second merchant")


def _is_not_signed_in(world: World, browser: Browsing, at: MerchantAccount) -> None:
    """A user who types a wrong password gets no code in this browser; the right password gives one."""
    user = at.alone.user
    wrong = replace(user, password=world.gateway.keyring.secret("wrong_password", _WRONG_PASSWORD))
    visit = _visit(world, browser, at, wrong)
    no_code(visit, "authorization at a merchant where nobody signed in, after a sign-in at another one")
    _signs_in(world, browser, at)


def _visit(world: World, browser: Browsing, at: MerchantAccount, user: User) -> Visit:
    attempt = world.attempt(resource=at.alone.resource, user=user)
    url = world.gateway.authorization_url(attempt)
    return visit_anywhere(world.gateway, browser, url, attempt.agent.redirect_uri, user)


def _used(world: World, honest: MerchantAccount, other: MerchantAccount, *, hostile: bool) -> None:
    """Sign-ins at both merchants and a refresh of each merchant token, with the other merchant in between."""
    for each in (honest, other):
        each.alone.short_lived()
    signed_in = [honest.alone.grant()]
    if hostile:
        _tries_to_sign_in(world, other)
    else:
        signed_in.append(other.alone.grant())
    proxy_tokens = [each.alone.proxy_token() for each in (honest, other)]
    for grant, proxy_token in zip(signed_in, proxy_tokens, strict=False):
        world.backend.redeem_once_provisioned(grant, proxy_token)
    let_expire(world)
    for grant, proxy_token in zip(signed_in, proxy_tokens, strict=False):
        world.backend.redeem_once_provisioned(grant, proxy_token)
    honest.alone.grant()


def _requests_with_tokens(owner: MerchantAccount) -> int:
    """How many requests with an assertion or a refresh token this merchant received."""
    return sum(bool(entry.grant == "refresh_token" or any(_assertions(entry))) for entry in owner.journal())


def _expect_nothing_of(owner: MerchantAccount, receiver: MerchantAccount) -> None:
    """The receiver got no assertion that was made for the owner, and no refresh token of the owner."""
    tokens = {token.value for token in owner.site.admin.tokens("refresh_token")}
    for entry in receiver.journal():
        made_for = [name for name, value in _assertions(entry) if _is_for(owner, value)]
        strayed = [name for name, value in entry.sent.items() if value in tokens]
        expect.that(
            not made_for and not strayed,
            f"request to the {entry.endpoint} endpoint of one merchant",
            expected="nothing that was made for another merchant, and no refresh token of it",
            got=", ".join([*(f"{name} for another" for name in made_for), *strayed]),
        )


def _assertions(entry: JournalEntry) -> Iterator[tuple[str, str]]:
    for name in _ASSERTIONS:
        value = getattr(entry, name)
        if value:
            yield name, value


def _is_for(owner: MerchantAccount, token: str) -> bool:
    parsed = read(token)
    audience = parsed.claims.get("aud") if parsed is not None else None
    named = audience if isinstance(audience, list) else [audience]
    return any(isinstance(name, str) and name.rstrip("/") in owner.site.addresses() for name in named)
