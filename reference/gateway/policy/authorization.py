"""The checks of an authorization request, and the redirects that answer it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from gateproof.reference.gateway.policy.discovery import REDEMPTION_SCOPE
from gateproof.reference.gateway.records import (
    Agent,
    AgentPolicy,
    AuthorizationRequest,
    Decision,
    Project,
    Resource,
    Standing,
)
from gateproof.reference.gateway.store import Store
from gateproof.reference.outcomes import Refusal

PARAMETERS = (
    "response_type",
    "client_id",
    "redirect_uri",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
)
# Base64url of 32 octets.
S256_CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")


@dataclass(frozen=True, kw_only=True, slots=True)
class AuthorizationFacts:
    """The query, including repeated parameters, and the agent of its client_id."""

    pairs: tuple[tuple[str, str], ...]
    resource: Resource
    agent: Agent | None

    def values(self, name: str) -> list[str]:
        return [value for key, value in self.pairs if key == name]

    def value(self, name: str) -> str:
        """The value of a parameter that is not repeated; empty counts as missing (RFC 6749 section 3.1)."""
        values = self.values(name)
        return values[0] if len(values) == 1 else ""

    @property
    def scopes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(self.value("scope").split()))


AuthorizationCheck = Callable[[AuthorizationFacts], Refusal | None]


def client_is_known(facts: AuthorizationFacts) -> Refusal | None:
    if facts.agent is not None:
        return None
    return Refusal(
        status=400, error="invalid_client", description="No agent is registered under this client ID."
    )


def redirect_uri_is_registered(facts: AuthorizationFacts) -> Refusal | None:
    """Exact comparison; anything else could send codes to another host."""
    uri = facts.value("redirect_uri")
    if uri and facts.agent is not None and uri in facts.agent.redirect_uris:
        return None
    return Refusal(
        status=400,
        error="invalid_request",
        description="The redirect URI is not one that the agent registered.",
    )


def nothing_is_doubled(facts: AuthorizationFacts) -> Refusal | None:
    names = [name for name, _ in facts.pairs]
    doubled = sorted({name for name in names if names.count(name) > 1})
    return _invalid(f"sent more than once: {', '.join(doubled)}") if doubled else None


def response_type_is_given(facts: AuthorizationFacts) -> Refusal | None:
    return None if facts.value("response_type") else _invalid("response_type is missing")


def response_type_is_code(facts: AuthorizationFacts) -> Refusal | None:
    if facts.value("response_type") == "code":
        return None
    return Refusal(
        status=400, error="unsupported_response_type", description="only response_type=code is supported"
    )


def state_is_given(facts: AuthorizationFacts) -> Refusal | None:
    return None if facts.value("state") else _invalid("state is missing")


def scope_is_given(facts: AuthorizationFacts) -> Refusal | None:
    return None if facts.scopes else _invalid("scope is missing")


def scopes_include_openid(facts: AuthorizationFacts) -> Refusal | None:
    return None if "openid" in facts.scopes else _scope("the scope openid is required")


def scopes_include_one_of_the_resource(facts: AuthorizationFacts) -> Refusal | None:
    if set(facts.scopes) & set(facts.resource.scopes):
        return None
    return _scope("a scope of the Resource is required")


def scopes_are_known(facts: AuthorizationFacts) -> Refusal | None:
    known = {"openid", REDEMPTION_SCOPE, *facts.resource.scopes}
    return None if set(facts.scopes) <= known else _scope("the Resource has no such scope")


def challenge_is_given(facts: AuthorizationFacts) -> Refusal | None:
    if S256_CHALLENGE.fullmatch(facts.value("code_challenge")):
        return None
    return _invalid("code_challenge has to be the base64url SHA-256 of the verifier")


def challenge_method_is_s256(facts: AuthorizationFacts) -> Refusal | None:
    if facts.value("code_challenge_method") == "S256":
        return None
    return _invalid("code_challenge_method has to be S256")


# If one of these fails, there is no valid redirect URI, so the user sees an error page.
PAGE_CHECKS: tuple[AuthorizationCheck, ...] = (client_is_known, redirect_uri_is_registered)
# If one of these fails, the agent gets an error by redirect.
REDIRECT_CHECKS: tuple[AuthorizationCheck, ...] = (
    nothing_is_doubled,
    response_type_is_given,
    response_type_is_code,
    state_is_given,
    scope_is_given,
    scopes_include_openid,
    scopes_include_one_of_the_resource,
    scopes_are_known,
    challenge_is_given,
    challenge_method_is_s256,
)


def authorization_request(facts: AuthorizationFacts) -> AuthorizationRequest:
    """The values of a valid request that are kept; unknown parameters are ignored."""
    return AuthorizationRequest(
        client_id=facts.value("client_id"),
        redirect_uri=facts.value("redirect_uri"),
        scopes=facts.scopes,
        state=facts.value("state"),
        challenge=facts.value("code_challenge"),
        nonce=facts.value("nonce") or None,
    )


def as_it_came(pairs: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The query unchanged, so that the checks see every parameter."""
    return pairs


def agent_named(agents: Mapping[str, Agent], client_id: str) -> Agent | None:
    """The agent with exactly this client ID."""
    return agents.get(client_id)


def redirects_error(_refusal: Refusal) -> bool:
    """Errors of a request with a valid redirect URI are sent to the agent, not shown on a page."""
    return True


def standing_key(project_id: str, agent_id: str) -> tuple[str, str]:
    """Standings are kept by Project and agent."""
    return project_id, agent_id


def first_policy(named: AgentPolicy | None) -> AgentPolicy:
    """A new Project approves agents, unless it is created to hold them."""
    return named or "approve"


def agent_standing(recorded: Standing | None, project: Project) -> Standing:
    """A recorded standing stays; the Project's policy applies to new agents."""
    if recorded is not None:
        return recorded
    return "pending" if project.agent_policy == "hold" else "approved"


def standing_at(_store: Store, _resource: Resource, _agent: Agent, standing: Standing) -> Standing:
    """An agent has the same standing at all Resources of its Project, newer ones included."""
    return standing


def record_approval(standings: dict[tuple[str, str], Standing], place: tuple[str, str]) -> None:
    """An approval by the operator applies at once."""
    standings[place] = "approved"


@dataclass(frozen=True, kw_only=True, slots=True)
class ConsentFacts:
    """The facts after a sign-in; `answers` are the earlier decisions about this agent, by login."""

    agent_id: str
    standing: Standing
    was_signed_in: bool
    login_id: str
    answers: Mapping[str, Decision]


def decided(pressed: str) -> Decision:
    """The decision for a button; unknown values deny."""
    return "approve" if pressed == "approve" else "switch" if pressed == "switch" else "deny"


def consent(facts: ConsentFacts) -> Standing | None:
    """None: the user is asked every time, except about a Pending agent."""
    return "pending" if facts.standing == "pending" else None


def code_redirect(request: AuthorizationRequest, code: str, issuer: str) -> str:
    """The redirect with the code, and with `iss` (RFC 9207)."""
    return _with_query(request.redirect_uri, {"code": code, "state": request.state, "iss": issuer})


def error_redirect(redirect_uri: str, error: str, description: str, state: str, issuer: str) -> str:
    answer = {"error": error, "error_description": description, "iss": issuer}
    return _with_query(redirect_uri, answer | ({"state": state} if state else {}))


def _with_query(uri: str, parameters: dict[str, str]) -> str:
    """Adds parameters; an existing query of the registered URI is kept."""
    separator = "" if uri.endswith(("?", "&")) else "&" if "?" in uri else "?"
    return uri + separator + urlencode(parameters, quote_via=quote, safe="")


def _invalid(description: str) -> Refusal:
    return Refusal(status=400, error="invalid_request", description=description)


def _scope(description: str) -> Refusal:
    return Refusal(status=400, error="invalid_scope", description=description)
