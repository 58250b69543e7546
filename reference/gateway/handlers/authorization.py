"""The authorization endpoint, up to the redirect to the merchant."""

from __future__ import annotations

import hashlib
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote, urlencode

from starlette.requests import Request
from starlette.responses import Response

from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.gateway.handlers.browser import error, known_browser, redirect
from gateproof.reference.gateway.handlers.consent import ask
from gateproof.reference.gateway.policy.authorization import AuthorizationFacts
from gateproof.reference.gateway.records import Resource, SignIn
from gateproof.reference.ids import fingerprint
from gateproof.reference.outcomes import first_refusal
from gateproof.reference.web import Endpoint, query_of


def authorize(gateway: Gateway) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        policies, store = gateway.policies, gateway.store
        resource = store.resources.get(request.path_params["resource_id"])
        pairs = query_of(request)
        if resource is None:
            return error(gateway, "There is no such Resource.", 404)
        if pairs is None:
            return error(gateway, "The request cannot be read.")
        facts = AuthorizationFacts(pairs=policies.read_query(pairs), resource=resource, agent=None)
        facts = replace(facts, agent=policies.agent_named(store.agents, facts.value("client_id")))
        if refusal := first_refusal(policies.page_checks, facts):
            return error(gateway, refusal.description, refusal.status)
        if refusal := first_refusal(policies.redirect_checks, facts):
            if not policies.redirects_error(refusal):
                return error(gateway, refusal.description, refusal.status)
            location = policies.error_redirect(
                facts.value("redirect_uri"),
                refusal.error,
                refusal.description,
                facts.value("state"),
                gateway.issuer,
            )
            return redirect(gateway, location)
        browser = known_browser(gateway, request)
        person = policies.remembered(browser.people.get(policies.session_of(resource)), gateway.clock.now())
        person = policies.known_user(store, facts, person)
        sign_in = SignIn(
            browser=browser.key,
            resource_id=resource.id,
            request=policies.authorization_request(facts),
            nonce=gateway.ids.secret() if "nonce" in policies.merchant_code_bindings else "",
            verifier=gateway.ids.secret(),
            person=person,
        )
        if person is not None:
            return await ask(gateway, resource, sign_in, was_signed_in=True, cookie=browser.cookie)
        return send_to_merchant(gateway, resource, sign_in, cookie=browser.cookie)

    return endpoint


def send_to_merchant(
    gateway: Gateway, resource: Resource, sign_in: SignIn, *, cookie: Mapping[str, str]
) -> Response:
    """Redirects to the merchant's identity provider, whose answer comes to the callback."""
    state = gateway.policies.new_state(gateway.ids)
    gateway.store.sign_ins.add(fingerprint(state), sign_in, gateway.clock.now())
    parameters = {
        "response_type": "code",
        "client_id": resource.merchant.client_id,
        "redirect_uri": callback_url(gateway, resource),
        "scope": "openid",
        "state": state,
    }
    if gateway.policies.merchant_response_mode:
        parameters["response_mode"] = gateway.policies.merchant_response_mode
    if sign_in.nonce:
        parameters["nonce"] = sign_in.nonce
    if "code_challenge" in gateway.policies.merchant_code_bindings:
        digest = hashlib.sha256(sign_in.verifier.encode()).digest()
        parameters["code_challenge"] = urlsafe_b64encode(digest).rstrip(b"=").decode()
        parameters["code_challenge_method"] = "S256"
    endpoint = resource.merchant.authorization_endpoint
    separator = "&" if "?" in endpoint else "?"
    return redirect(gateway, endpoint + separator + urlencode(parameters, quote_via=quote, safe=""), cookie)


def callback_url(gateway: Gateway, resource: Resource) -> str:
    place = "" if gateway.policies.one_callback else f"/{resource.id}"
    return f"{gateway.base_url}{place}/sign-in/callback"
