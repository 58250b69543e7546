"""The callback from the merchant's identity provider, and the user's decision."""

from __future__ import annotations

from dataclasses import replace

from starlette.requests import Request
from starlette.responses import Response

from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.handlers.authorization import callback_url, send_to_merchant
from gateproof.reference.gateway.handlers.browser import browser_key, error, fresh_browser
from gateproof.reference.gateway.handlers.consent import approve, ask, note, tell_agent
from gateproof.reference.gateway.policy.sign_in import IdTokenFacts, UnfinishedFacts
from gateproof.reference.gateway.policy.vault import MerchantAnswer
from gateproof.reference.gateway.records import Decision, MerchantPlace, Person, Resource, SignIn
from gateproof.reference.ids import fingerprint
from gateproof.reference.web import Endpoint, Pairs, form_of, query_of

STALE = "This sign-in is over, or it began in another browser. Start again from the agent."


def callback(gateway: Gateway) -> Endpoint:
    """The callback, to which the merchant redirects the browser with a code."""

    async def endpoint(request: Request) -> Response:
        pairs = (await form_of(request) if request.method == "POST" else query_of(request)) or ()
        states = tuple(value for name, value in pairs if name == "state")
        key = gateway.policies.sign_in_key(gateway.store, states, browser_key(gateway, request))
        resource, sign_in = _taken(gateway, request, key, signed_in=False)
        if resource is None or sign_in is None:
            return error(gateway, STALE)
        refused = _single(pairs, "error")
        every = gateway.store.resources.values()
        there = _resource_at(gateway, request) or resource
        merchant = gateway.policies.answering(there, _single(pairs, "iss"), every)
        if merchant is None and not refused:
            return error(gateway, "The answer came from somebody else than the merchant.")
        answer, person = None, None
        if merchant is not None and not refused:
            answer = await _exchanged(gateway, there, merchant, sign_in, _single(pairs, "code"))
            person = await _person(gateway, merchant, sign_in, answer)
        person = person or gateway.policies.unfinished(_unfinished(gateway, resource, refused, answer))
        if person is None and refused:
            return tell_agent(gateway, sign_in, "access_denied", "the user did not sign in")
        if person is None:
            return tell_agent(
                gateway, sign_in, "temporarily_unavailable", "the merchant did not sign the user in"
            )
        # A new cookie, against session fixation: an old cookie that an attacker set stays signed out.
        session = gateway.policies.session_of(resource)
        people = gateway.store.browsers.get(sign_in.browser) or {}
        person = gateway.policies.signed_in_as(people.get(session), person)
        browser = fresh_browser(gateway, people | {session: person})
        keys = gateway.policies.session_keys(sign_in.browser, browser.key, bool(people))
        for key in keys:
            gateway.store.browsers.add(key, browser.people, gateway.clock.now())
        if browser.key not in keys:
            browser = replace(browser, key=sign_in.browser, cookie={})
        sign_in = replace(sign_in, browser=browser.key, person=person)
        note(gateway, "signed in", resource, sign_in)
        return await ask(gateway, resource, sign_in, was_signed_in=False, cookie=browser.cookie)

    return endpoint


def decision(gateway: Gateway) -> Endpoint:
    """The target of the form on the approve page; its ticket is valid for one decision."""

    async def endpoint(request: Request) -> Response:
        pairs = await form_of(request) or ()
        key = fingerprint(_single(pairs, "ticket"))
        resource, sign_in = _taken(gateway, request, key, signed_in=True)
        if resource is None or sign_in is None:
            return error(gateway, STALE)
        decided = gateway.policies.decided(_single(pairs, "decision"))
        _note(gateway, resource, sign_in, decided)
        if decided == "approve":
            return await approve(gateway, resource, sign_in)
        if decided == "switch":
            return send_to_merchant(gateway, resource, replace(sign_in, person=None), cookie={})
        return tell_agent(gateway, sign_in, "access_denied", "the user did not approve the agent")

    return endpoint


def _note(gateway: Gateway, resource: Resource, sign_in: SignIn, decided: Decision) -> None:
    place = (resource.project_id, sign_in.request.client_id)
    if sign_in.person is not None and place[1] in gateway.store.agents:
        gateway.store.answers.setdefault(place, {})[sign_in.person.login_id] = decided


def _taken(
    gateway: Gateway, request: Request, key: str, *, signed_in: bool
) -> tuple[Resource | None, SignIn | None]:
    """The sign-in with this key, which is used up; None for another browser or another step."""
    sign_in = gateway.store.sign_ins.get(key)
    begun = gateway.store.resources.get(sign_in.resource_id) if sign_in is not None else None
    if sign_in is None or begun is None:
        return None, None
    page = _resource_at(gateway, request) or begun
    resource = gateway.policies.resource_of_the_page(page, begun, signed_in)
    if (
        resource is None
        or (sign_in.person is not None) != signed_in
        or not gateway.policies.same_browser(sign_in, browser_key(gateway, request))
    ):
        return None, None
    decided_on = gateway.policies.sign_in_decided(gateway.store, sign_in) if signed_in else sign_in
    # A second request with the same ticket gets nothing.
    taken = gateway.store.sign_ins.take(key)
    if taken is None or decided_on is sign_in:
        return resource, taken
    if decided_on is None:
        return resource, None
    return gateway.store.resources.get(decided_on.resource_id), decided_on


def _resource_at(gateway: Gateway, request: Request) -> Resource | None:
    """The Resource of this address; None if all Resources share it."""
    return gateway.store.resources.get(request.path_params.get("resource_id", ""))


async def _exchanged(
    gateway: Gateway, resource: Resource, merchant: MerchantPlace, sign_in: SignIn, code: str
) -> MerchantAnswer:
    """The merchant's answer to its code."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": callback_url(gateway, resource),
        "client_id": merchant.client_id,
    }
    if "code_challenge" in gateway.policies.merchant_code_bindings:
        form["code_verifier"] = sign_in.verifier
    return await gateway.merchants.ask(merchant, form)


async def _person(
    gateway: Gateway, merchant: MerchantPlace, sign_in: SignIn, answer: MerchantAnswer
) -> Person | None:
    """The user of a valid ID token for this sign-in, else None."""
    if answer.status != 200:
        return None
    now = gateway.clock.now()
    id_token = answer.text("id_token") or ""
    claims = await gateway.merchants.verified_id_token(merchant, id_token)
    facts = IdTokenFacts(claims=claims or {}, merchant=merchant, nonce=sign_in.nonce, now=now)
    person = gateway.policies.person_named(facts) if claims is not None else None
    if gateway.policies.named_by_userinfo is None:
        return person
    told = await gateway.merchants.userinfo(merchant, answer.text("access_token") or "")
    return gateway.policies.named_by_userinfo(person, told or {}, now)


def _unfinished(
    gateway: Gateway, resource: Resource, error: str, answer: MerchantAnswer | None
) -> UnfinishedFacts:
    known = tuple(login for project, login in gateway.store.subjects if project == resource.project_id)
    return UnfinishedFacts(error=error, answer=answer, known=known, now=gateway.clock.now())


def _single(pairs: Pairs, name: str) -> str:
    values = [value for key, value in pairs if key == name]
    return values[0] if len(values) == 1 else ""
