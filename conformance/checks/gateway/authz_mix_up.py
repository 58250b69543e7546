"""Mix-up attacks: the gateway accepts no other merchant's code, and sends no merchant another's code."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from gateproof.conformance.checks.gateway._tokens import audiences_of_code
from gateproof.conformance.checks.gateway._visits import no_code, was_answered
from gateproof.conformance.checks.gateway._visits_anywhere import visit_anywhere
from gateproof.conformance.kit.gateway.codes import require_code
from gateproof.conformance.kit.gateway.gateway import Visit
from gateproof.conformance.kit.gateway.several_merchants import MerchantAccount, merchant_account, merchants
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.suite.parties import Attempt
from gateproof.fakes.merchant.records import JournalEntry

# Nobody's password.
_WRONG_PASSWORD = "gateproof-wrong-password"  # noqa: S105 - it is nobody's


@dataclass(frozen=True, kw_only=True, slots=True)
class _Injected:
    """Whose issuer the redirect names, if any, and whether the ID token has the honest `iss` and `aud`."""

    redirect: str = ""
    poses: bool = False


_INJECTED: Mapping[str, _Injected] = {
    "names-its-own-issuer": _Injected(redirect="own"),
    "names-its-own-issuer-and-poses-in-the-id-token": _Injected(redirect="own", poses=True),
    "names-the-honest-issuer": _Injected(redirect="honest"),
    "names-no-issuer": _Injected(),
    "names-no-issuer-and-poses-in-the-id-token": _Injected(poses=True),
}
# How a hostile merchant sends the browser on to an honest one, for this callback of the gateway.
_Lies = Callable[[MerchantAccount, str], Mapping[str, Any]]
_SENDING_ON: Mapping[str, _Lies] = {
    "by-a-redirect": lambda honest, callback: {
        "sends_browsers_to": honest.site.endpoints["authorization_endpoint"],
        "parameters": {"client_id": honest.alone.client_id, "redirect_uri": callback},
    },
    "by-its-discovery-documents": lambda honest, _: {
        "discovery": {"authorization_endpoint": honest.site.endpoints["authorization_endpoint"]}
    },
}


@dataclass(frozen=True, kw_only=True, slots=True)
class _Scene:
    """An honest merchant with its user, a hostile one, and the gateway's callback for the honest one."""

    honest: MerchantAccount
    hostile: MerchantAccount
    callback: str


@check("AUTHZ-29", needs=["sign-in:browser"], cases=_INJECTED)
def callback_takes_no_code_of_another_merchant(world: World, case: _Injected) -> None:
    """A sign-in begun at an honest merchant is not completed with a code of a hostile one.

    The hostile merchant accepts any code, and returns tokens for the login of the honest merchant's user.
    """
    with _scene(world) as scene:
        _, visit = _answered_with_any_code(world, scene, case, scene.callback)

        no_code(visit, "callback of a sign-in at one merchant with a code of another")


@check("AUTHZ-29", needs=["sign-in:browser"], cases=_INJECTED)
def callback_of_another_merchant_completes_no_sign_in(world: World, case: _Injected) -> None:
    """A sign-in begun at an honest merchant gives no token at the callback of a hostile merchant's Resource.

    Left out if both Resources have the same callback. The hostile merchant's user has signed in there.
    """
    with _scene(world) as scene:
        callback = _own_callback(world, scene.hostile)
        if callback == scene.callback:
            raise LeftOut("both Resources have the same callback")
        attempt, visit = _answered_with_any_code(world, scene, case, callback)
        was_answered(visit, "callback of another merchant's Resource")
        indicator = scene.honest.alone.resource.indicator
        audiences = [audiences_of_code(world, attempt, code) for code in visit.codes()]

        expect.that(
            not any(indicator in named for named in audiences),
            "sign-in at one merchant, completed at the callback of another",
            expected="no token for the first merchant's Resource",
            got="a token for it",
        )


@check("AUTHZ-29", cases=_SENDING_ON)
def code_of_an_honest_merchant_is_sent_to_no_other(world: World, case: _Lies) -> None:
    """If a hostile merchant sends the browser on to an honest one, it does not get the honest one's code.

    The user begins at the hostile merchant's Resource, and signs in at the honest merchant, which accepts
    only the gateway's callback for its own Resource.
    """
    with _scene(world, case, one_client_id=True) as scene:
        honest, hostile = scene.honest, scene.hostile
        before, asked = _codes(honest), len(honest.asked())
        attempt = world.attempt(resource=hostile.alone.resource, user=honest.alone.user)
        world.gateway.visit(attempt, wherever=True)
        issued = _codes(honest) - before
        callbacks = {entry.sent.get("redirect_uri") for entry in honest.asked()[asked:]}
        if not issued or callbacks != {scene.callback}:
            raise LeftOut("the honest merchant issued no code for the hostile one, or for another callback")

        strayed = [entry for entry in hostile.journal() if issued & set(entry.sent.values())]
        expect.that(
            not strayed,
            "code of an honest merchant, in a sign-in that began at a hostile one",
            expected="a code that is sent to the honest merchant, or to none",
            got=f"the code at the {strayed[0].endpoint} endpoint of the hostile merchant" if strayed else "",
        )


def _answered_with_any_code(
    world: World, scene: _Scene, case: _Injected, callback: str
) -> tuple[Attempt, Visit]:
    """A sign-in begun at the honest merchant, whose browser comes to this callback with an invented code."""
    honest, hostile, gateway = scene.honest, scene.hostile, world.gateway
    attempt = world.attempt(resource=honest.alone.resource, user=honest.alone.user)
    browser, before = gateway.browser(), len(honest.asked())
    gateway.record_secrets(browser.look(gateway.authorization_url(attempt), attempt.user))
    begun = honest.asked()[before:]
    if not begun or not begun[-1].sent.get("state"):
        raise LeftOut("the gateway opens no sign-in page of the merchant before the user acts")
    _takes_any_code(scene, case, begun[-1])
    issuers = {"own": hostile.site.issuer, "honest": honest.site.issuer}
    answer = {"code": secrets.token_urlsafe(24), "state": begun[-1].sent["state"]}
    answer |= {"iss": issuers[case.redirect]} if case.redirect else {}
    wrong = gateway.keyring.secret("wrong_password", _WRONG_PASSWORD)
    user = replace(attempt.user, password=wrong)
    url = _with_query(callback, answer)
    return attempt, visit_anywhere(gateway, browser, url, attempt.agent.redirect_uri, user)


def _own_callback(world: World, account: MerchantAccount) -> str:
    """The callback that this merchant received in a sign-in that gave a code."""
    attempt = world.attempt(resource=account.alone.resource, user=account.alone.user)
    require_code(world.gateway, world.gateway.visit(attempt, wherever=True))
    asked = account.asked()
    if not asked or not account.signed_in():
        raise LeftOut("the gateway does not sign users in by OpenID Connect at a second merchant")
    return asked[-1].sent.get("redirect_uri", "")


@contextmanager
def _scene(world: World, lies: _Lies | None = None, *, one_client_id: bool = False) -> Iterator[_Scene]:
    """Both merchants, and the callback that the honest one received in a sign-in that gave a code."""
    with merchants(world, 2) as (one, other):
        login = f"{world.unique()}@merchant.example"
        client_id = f"gateway-{world.unique()}"
        honest = merchant_account(world, one, login=login, client_id=client_id)
        callback = _own_callback(world, honest)
        if lies is not None:
            other.admin.lie(**lies(honest, callback))
        other_id = client_id if one_client_id else f"gateway-{world.unique()}"
        hostile = merchant_account(world, other, login=login, client_id=other_id)
        yield _Scene(honest=honest, hostile=hostile, callback=callback)


def _takes_any_code(scene: _Scene, case: _Injected, begun: JournalEntry) -> None:
    honest, hostile = scene.honest, scene.hostile
    claims = {"iss": honest.site.issuer, "aud": honest.alone.client_id}
    posing = claims if case.poses else {}
    nonce = {"nonce": begun.sent["nonce"]} if begun.sent.get("nonce") else {}
    hostile.site.admin.lie(any_code_for=hostile.alone.user.login, id_token={**nonce, **posing})


def _codes(at: MerchantAccount) -> set[str]:
    return {token.value for token in at.site.admin.tokens("code")}


def _with_query(url: str, parameters: Mapping[str, str]) -> str:
    return f"{url}{'&' if '?' in url else '?'}{urlencode(parameters)}"
