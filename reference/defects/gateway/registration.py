"""Gateways that register agents wrongly."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable
from dataclasses import replace
from urllib.parse import urlsplit

from gateproof.reference.defects.defect import instead, without, without_members
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy import code_exchange, proxy, registration
from gateproof.reference.gateway.policy.code_exchange import (
    AGENT_CHECKS,
    AgentCredentials,
    AgentFacts,
    TokenRequestFacts,
)
from gateproof.reference.gateway.policy.registration import (
    REGISTRATION_CHECKS,
    NewAgent,
    RegistrationCheck,
    RegistrationFacts,
    new_agent,
    registration_answer,
)
from gateproof.reference.gateway.policy.token_claims import TokenFacts, Tokens, token_answer
from gateproof.reference.ids import Ids, fingerprint
from gateproof.reference.outcomes import JsonObject, Refusal

UNSAFE = Refusal(status=400, error="invalid_redirect_uri", description="this redirect URI is not safe")
EVERYBODYS_SECRET = "s3cr3t-of-all-agents-of-this-gateway-00000000"  # noqa: S105 - that is the defect
DAY_S = 86400
COUNTER = itertools.count(1000)


def changing_answer(change: Callable[[NewAgent], JsonObject]) -> Callable[[NewAgent], JsonObject]:
    return lambda new: registration_answer(new) | change(new)


def not_answering(*names: str) -> Callable[[NewAgent], JsonObject]:
    return lambda new: without_members(registration_answer(new), *names)


def demands_a_token(facts: RegistrationFacts) -> Refusal | None:
    if facts.authorization is not None:
        return None
    return Refusal(
        status=401,
        error="invalid_token",
        description="an initial access token is required",
        challenge="Bearer",
    )


def demands_software_statement(facts: RegistrationFacts) -> Refusal | None:
    if facts.value("software_statement") or facts.authorization:
        return None
    return Refusal(status=403, error="unapproved_software_statement", description="sign in to register")


def one_redirect_uri_alone(facts: RegistrationFacts) -> Refusal | None:
    return UNSAFE if len(facts.value("redirect_uris")) > 1 else None


def with_https_test(good: Callable[[str], bool]) -> tuple[RegistrationCheck, ...]:
    """The correct checks, but with this test for HTTPS."""

    def check(facts: RegistrationFacts) -> Refusal | None:
        return None if all(good(uri) for uri in facts.value("redirect_uris")) else UNSAFE

    return instead(REGISTRATION_CHECKS, registration.redirect_uris_are_https, check)


def first_five_are_https(facts: RegistrationFacts) -> Refusal | None:
    few = facts.value("redirect_uris")[:5]
    return registration.redirect_uris_are_https(replace(facts, metadata={"redirect_uris": few}))


def named_by_the_registration(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
    """Uses the client_id of the registration, if it has one."""
    new, named = new_agent(facts, ids, now), facts.value("client_id")
    return replace(new, agent=replace(new.agent, id=named)) if isinstance(named, str) and named else new


def first_is_https(facts: RegistrationFacts) -> Refusal | None:
    return None if facts.value("redirect_uris")[0].startswith("https://") else UNSAFE


def https_or_loopback(uri: str) -> bool:
    return uri.startswith("https://") or urlsplit(uri).hostname in ("localhost", "127.0.0.1", "::1")


def with_secret(secret_of: Callable[[RegistrationFacts, Ids], str]) -> Callable[..., NewAgent]:
    """New agents get their secret from `secret_of`."""

    def wrong(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
        secret, new = secret_of(facts, ids), new_agent(facts, ids, now)
        return NewAgent(agent=replace(new.agent, secret=fingerprint(secret)), secret=secret)

    return wrong


def client_by_name(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
    """Derives the client from its name and redirect URIs."""
    said = f"{facts.value('client_name')} {facts.value('redirect_uris')}"
    secret = hashlib.sha256(said.encode("utf-8", "replace")).hexdigest()
    agent = new_agent(facts, ids, now).agent
    return NewAgent(
        agent=replace(agent, id=f"agent_{secret[:24]}", secret=fingerprint(secret)), secret=secret
    )


def id_is_the_secret(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
    new = new_agent(facts, ids, now)
    return replace(new, agent=replace(new.agent, id=new.secret))


def plus_in_the_secret(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
    new = new_agent(facts, ids, now)
    secret = f"{new.secret}+"
    return replace(new, secret=secret, agent=replace(new.agent, secret=fingerprint(secret)))


def secret_in_the_tokens(facts: TokenFacts, tokens: Tokens) -> JsonObject:
    return token_answer(facts, tokens) | {"client_secret": facts.request.value("client_secret")}


def agent_by_basic_or_form(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
    given = proxy.proxy_credentials(facts)
    if isinstance(given, Refusal):
        return code_exchange.agent_credentials(facts)
    return AgentCredentials(client_id=given.client_id, secret=given.secret)


def younger_than(days: int) -> Callable[[AgentFacts], Refusal | None]:
    def check(facts: AgentFacts) -> Refusal | None:
        if facts.agent is not None and facts.now < facts.agent.registered_at + days * DAY_S:
            return None
        return Refusal(status=401, error="invalid_client", description="the secret has expired")

    return check


def nowhere_to_go(facts: RegistrationFacts, ids: Ids, now: float) -> NewAgent:
    metadata = facts.metadata | {"redirect_uris": facts.value("redirect_uris") or ["https://agent.example/"]}
    return new_agent(replace(facts, metadata=metadata), ids, now)


def unless_missing(check: RegistrationCheck) -> RegistrationCheck:
    return lambda facts: check(facts) if facts.value("redirect_uris") else None


def first_has_no_fragment(facts: RegistrationFacts) -> Refusal | None:
    first = replace(facts, metadata={**facts.metadata, "redirect_uris": facts.value("redirect_uris")[:1]})
    return registration.redirect_uris_have_no_fragment(first)


DEFECTS = (
    defect(
        "registration-answers-200 (REG-01): The gateway answers 200 to a registration.",
        registration_status=200,
    ),
    defect(
        "registration-takes-one-redirect-uri (REG-01 REG-05 REG-06 CODE-05): The gateway refuses a "
        "registration with several redirect URIs.",
        registration_checks=(*REGISTRATION_CHECKS, one_redirect_uri_alone),
    ),
    defect(
        "verification-method-left-out (REG-02): The registration answer has no verification_method.",
        registration_answer=not_answering("verification_method"),
    ),
    defect(
        "redirect-uris-as-one-string (REG-02 REG-05): The registration answer has the redirect URIs in one "
        "string.",
        registration_answer=changing_answer(lambda new: {"redirect_uris": " ".join(new.agent.redirect_uris)}),
    ),
    defect(
        "secret-expiry-left-out (REG-02 REG-03): The registration answer has no client_secret_expires_at.",
        registration_answer=not_answering("client_secret_expires_at"),
    ),
    defect(
        "secret-expires-in-a-month (REG-03): The registration answer says that the secret expires after 30 "
        "days.",
        registration_answer=changing_answer(
            lambda new: {"client_secret_expires_at": int(new.agent.registered_at) + 30 * DAY_S}
        ),
    ),
    defect(
        "secret-expiry-as-a-string (REG-03 REG-02): client_secret_expires_at is the string 0.",
        registration_answer=changing_answer(lambda _: {"client_secret_expires_at": "0"}),
    ),
    defect(
        "secret-expiry-as-a-boolean (REG-03 REG-02): client_secret_expires_at is false.",
        registration_answer=changing_answer(lambda _: {"client_secret_expires_at": False}),
    ),
    defect(
        "registration-wants-a-token (REG-04 REG-01): Registration requires an initial access token.",
        registration_checks=(demands_a_token, *REGISTRATION_CHECKS),
    ),
    defect(
        "registration-wants-a-person (REG-04 REG-01): Registration answers 403 unless the request has a "
        "software statement or an Authorization header.",
        registration_checks=(demands_software_statement, *REGISTRATION_CHECKS),
    ),
    defect(
        "second-redirect-uri-left-out (REG-05): The registration answer leaves out the second redirect URI.",
        registration_answer=changing_answer(
            lambda new: {"redirect_uris": [*new.agent.redirect_uris[:1], *new.agent.redirect_uris[2:]]}
        ),
    ),
    defect(
        "redirect-uris-in-normal-form (REG-05): The registration answer has the redirect URIs in lower case.",
        registration_answer=changing_answer(
            lambda new: {"redirect_uris": [uri.lower() for uri in new.agent.redirect_uris]}
        ),
    ),
    defect(
        "redirect-uris-without-their-query (REG-05): The registration answer has the redirect URIs without "
        "their query.",
        registration_answer=changing_answer(
            lambda new: {"redirect_uris": [uri.partition("?")[0] for uri in new.agent.redirect_uris]}
        ),
    ),
    defect(
        "loopback-redirects-over-http (REG-06): The gateway accepts plain http redirect URIs on loopback "
        "hosts.",
        registration_checks=with_https_test(https_or_loopback),
    ),
    defect(
        "only-the-first-redirect-uri-is-looked-at (REG-06): The gateway checks only the first redirect URI "
        "for HTTPS.",
        registration_checks=instead(
            REGISTRATION_CHECKS, registration.redirect_uris_are_https, first_is_https
        ),
    ),
    defect(
        "only-five-redirect-uris-are-looked-at (REG-06): The gateway checks only the first five redirect "
        "URIs for HTTPS.",
        registration_checks=instead(
            REGISTRATION_CHECKS, registration.redirect_uris_are_https, first_five_are_https
        ),
    ),
    defect(
        "anything-that-begins-with-https (REG-06): The gateway accepts every redirect URI that begins with "
        "the letters https.",
        registration_checks=with_https_test(lambda uri: uri.startswith("https")),
    ),
    defect(
        "anything-that-names-https (REG-06): The gateway accepts every redirect URI that contains https:// "
        "anywhere.",
        registration_checks=with_https_test(lambda uri: "https://" in uri),
    ),
    defect(
        "custom-schemes-for-native-apps (REG-06): The gateway refuses only plain http redirect URIs and "
        "accepts every other scheme, as for native apps.",
        registration_checks=with_https_test(lambda uri: not uri.lower().startswith("http:")),
    ),
    defect(
        "basic-agents-by-form (REG-08): An agent can register with client_secret_basic, and gets tokens "
        "with its secret in the form.",
        registration_checks=without(REGISTRATION_CHECKS, registration.auth_method_is_supported),
    ),
    defect(
        "basic-agents-by-basic (REG-08 CODE-09): An agent can register with client_secret_basic, and gets "
        "tokens with HTTP Basic.",
        registration_checks=without(REGISTRATION_CHECKS, registration.auth_method_is_supported),
        agent_credentials=agent_by_basic_or_form,
    ),
    defect(
        "basic-agents-by-encoded-basic (CODE-09): The token endpoint accepts HTTP Basic with form-encoded "
        "parts from agents; each client secret has a plus sign, so the encoding matters.",
        new_agent=plus_in_the_secret,
        agent_credentials=agent_by_basic_or_form,
    ),
    defect(
        "client-named-by-its-registration (REG-09): A registration can choose its client_id, even that of "
        "an existing agent.",
        new_agent=named_by_the_registration,
    ),
    defect(
        "same-metadata-same-client (REG-09 REG-10 REG-12 AUTHZ-07 CODE-07 CODE-08 ROBUST-04): A second "
        "registration with the same name and redirect URIs returns the same client.",
        new_agent=client_by_name,
    ),
    defect(
        "one-secret-for-all-agents (REG-09 REG-10 REG-12 AUTHZ-07 CODE-07 CODE-08): Every agent gets the "
        "same secret.",
        new_agent=with_secret(lambda _facts, _ids: EVERYBODYS_SECRET),
    ),
    defect(
        "secret-in-the-token-answer (REG-10): The token answer repeats the client secret.",
        token_answer=secret_in_the_tokens,
    ),
    defect(
        "client-id-is-the-secret (REG-10 REG-12): The client ID is the same as the client secret.",
        new_agent=id_is_the_secret,
    ),
    defect(
        "fragments-in-redirect-uris (REG-12): The gateway accepts redirect URIs with a fragment.",
        registration_checks=without(REGISTRATION_CHECKS, registration.redirect_uris_have_no_fragment),
    ),
    defect(
        "fragments-behind-the-first-redirect-uri (REG-12): The gateway looks for a fragment in the first "
        "redirect URI only.",
        registration_checks=instead(
            REGISTRATION_CHECKS, registration.redirect_uris_have_no_fragment, first_has_no_fragment
        ),
    ),
    defect(
        "redirect-uris-optional (REG-12): The gateway accepts a registration without redirect URIs.",
        registration_checks=tuple(
            check if check is registration.metadata_is_an_object else unless_missing(check)
            for check in without(REGISTRATION_CHECKS, registration.redirect_uris_are_given)
        ),
        new_agent=nowhere_to_go,
    ),
    defect(
        "short-secrets (REG-12): Client secrets have 48 random bits.",
        new_agent=with_secret(lambda _facts, ids: ids.secret()[:8]),
    ),
    defect(
        "counted-secrets (REG-12): Client secrets are a constant prefix and a counter.",
        new_agent=with_secret(lambda _facts, _ids: f"agent-secret-of-the-reference-gateway-{next(COUNTER)}"),
    ),
    defect(
        "auth-method-answered-as-basic (REG-13): The registration answer always says client_secret_basic.",
        registration_answer=changing_answer(lambda _: {"token_endpoint_auth_method": "client_secret_basic"}),
    ),
    defect(
        "auth-method-answered-as-none (REG-13): The registration answer always says none, the default of "
        "its database.",
        registration_answer=changing_answer(lambda _: {"token_endpoint_auth_method": "none"}),
    ),
    defect(
        "auth-method-left-out (REG-13 REG-02): The registration answer has no token_endpoint_auth_method.",
        registration_answer=not_answering("token_endpoint_auth_method"),
    ),
    defect(
        "secrets-expire-after-90-days (REG-14): Client secrets stop working after 90 days, whatever the "
        "registration answer says.",
        agent_checks=(*AGENT_CHECKS, younger_than(90)),
    ),
    defect(
        "secrets-expire-after-364-days (REG-14): Client secrets stop working after 364 days.",
        agent_checks=(*AGENT_CHECKS, younger_than(364)),
    ),
    defect(
        "secrets-expire-after-two-years (REG-14): Client secrets stop working after two years.",
        agent_checks=(*AGENT_CHECKS, younger_than(730)),
    ),
)
