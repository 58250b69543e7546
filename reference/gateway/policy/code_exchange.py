"""The checks of the token endpoint for agents: authentication, codes and refresh tokens."""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from gateproof.reference.gateway.records import Agent, Code, Grant, RefreshToken
from gateproof.reference.gateway.store import Expiring
from gateproof.reference.ids import fingerprint
from gateproof.reference.outcomes import Refusal, first_refusal

CODE_LIFETIME_S = 60
REFRESH_TOKEN_LIFETIME_S = 30 * 86400
# A credential in a URL ends up in logs and Referer headers, so it is refused even if the form has it too.
BODY_ONLY = frozenset(
    {"grant_type", "code", "redirect_uri", "client_id", "client_secret", "code_verifier", "refresh_token"}
    | {"client_assertion", "client_assertion_type", "access_token"}
)


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenRequestFacts:
    """A request to the token endpoint, before authentication."""

    form: tuple[tuple[str, str], ...] = field(repr=False)
    query_names: frozenset[str]
    authorization: str | None = field(repr=False)

    def value(self, name: str) -> str:
        """A form field; empty if it is missing."""
        return next((value for key, value in self.form if key == name), "")


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentCredentials:
    """The client ID and secret that an agent sent."""

    client_id: str
    secret: str = field(repr=False)


@dataclass(frozen=True, kw_only=True, slots=True)
class AgentFacts:
    """The sent credentials and the agent of that client ID."""

    credentials: AgentCredentials
    agent: Agent | None
    now: float


@dataclass(frozen=True, kw_only=True, slots=True)
class CodeFacts:
    """A code from an authenticated agent; `code` is None if it is unknown."""

    code: Code | None
    agent: Agent
    redirect_uri: str
    verifier: str = field(repr=False)
    now: float


@dataclass(frozen=True, kw_only=True, slots=True)
class RefreshFacts:
    """A refresh token from an authenticated agent, and its grant."""

    token: RefreshToken | None
    grant: Grant | None
    agent: Agent
    scopes: tuple[str, ...]
    now: float


@dataclass(frozen=True, kw_only=True, slots=True)
class CodeRefused:
    """A refused code; `revokes` is the grant to revoke because its code was used twice."""

    refusal: Refusal
    revokes: str | None


RequestCheck = Callable[[TokenRequestFacts], Refusal | None]
AgentCheck = Callable[[AgentFacts], Refusal | None]
CodeCheck = Callable[[CodeFacts], Refusal | None]
RefreshCheck = Callable[[RefreshFacts], Refusal | None]


def form_alone(
    form: tuple[tuple[str, str], ...], _query: tuple[tuple[str, str], ...]
) -> tuple[tuple[str, str], ...]:
    """Only the fields of the form count."""
    return form


def nothing_is_in_the_url(facts: TokenRequestFacts) -> Refusal | None:
    if not facts.query_names & BODY_ONLY:
        return None
    return _invalid_request("parameters belong in the body, never in the URL")


def no_field_is_doubled(facts: TokenRequestFacts) -> Refusal | None:
    names = [name for name, _ in facts.form]
    return _invalid_request("a parameter was sent more than once") if len(set(names)) < len(names) else None


TOKEN_REQUEST_CHECKS: tuple[RequestCheck, ...] = (nothing_is_in_the_url, no_field_is_doubled)


def agent_credentials(facts: TokenRequestFacts) -> AgentCredentials | Refusal:
    """Only client_secret_post; a request with an Authorization header is refused, too."""
    if facts.authorization is not None:
        return Refusal(
            status=401,
            error="invalid_client",
            description="agents authenticate with client_secret_post, in the body",
            challenge='Basic realm="gateway"',
        )
    client_id, secret = facts.value("client_id"), facts.value("client_secret")
    if not client_id or not secret:
        return _invalid_client("client_id and client_secret are required in the body")
    return AgentCredentials(client_id=client_id, secret=secret)


def agent_is_known(facts: AgentFacts) -> Refusal | None:
    return None if facts.agent is not None else _invalid_client("unknown client or wrong secret")


def agent_secret_is_right(facts: AgentFacts) -> Refusal | None:
    given = fingerprint(facts.credentials.secret)
    if facts.agent is not None and hmac.compare_digest(given, facts.agent.secret):
        return None
    return _invalid_client("unknown client or wrong secret")


# An agent's secret does not expire.
AGENT_CHECKS: tuple[AgentCheck, ...] = (agent_is_known, agent_secret_is_right)


def exchange_fields_are_given(facts: TokenRequestFacts) -> Refusal | None:
    missing = [name for name in ("code", "redirect_uri", "code_verifier") if not facts.value(name)]
    return _invalid_request(f"missing: {', '.join(missing)}") if missing else None


def code_is_known(facts: CodeFacts) -> Refusal | None:
    return None if facts.code is not None else _invalid_grant("no such code")


def code_is_the_agents_own(facts: CodeFacts) -> Refusal | None:
    if facts.code is not None and facts.code.agent_id == facts.agent.id:
        return None
    return _invalid_grant("no such code")


def code_is_unspent(facts: CodeFacts) -> Refusal | None:
    if facts.code is not None and not facts.code.spent:
        return None
    return _invalid_grant("the code was used before")


def code_is_in_time(facts: CodeFacts) -> Refusal | None:
    if facts.code is not None and facts.now < facts.code.expires_at:
        return None
    return _invalid_grant("the code has expired")


def redirect_uri_is_the_same(facts: CodeFacts) -> Refusal | None:
    if facts.code is not None and facts.redirect_uri == facts.code.redirect_uri:
        return None
    return _invalid_grant("redirect_uri is not the one of the authorization request")


def challenge_of(verifier: str) -> str:
    """The S256 challenge of a verifier."""
    digest = hashlib.sha256(verifier.encode("utf-8", "surrogatepass")).digest()
    return urlsafe_b64encode(digest).rstrip(b"=").decode()


def verifier_matches(facts: CodeFacts) -> Refusal | None:
    challenge = challenge_of(facts.verifier).encode()
    if facts.code is not None and hmac.compare_digest(challenge, facts.code.challenge.encode()):
        return None
    return _invalid_grant("code_verifier does not match")


CODE_CHECKS: tuple[CodeCheck, ...] = (
    code_is_known,
    code_is_the_agents_own,
    code_is_unspent,
    code_is_in_time,
    redirect_uri_is_the_same,
    verifier_matches,
)


async def spend_code(
    codes: Expiring[Code], key: str, checks: tuple[CodeCheck, ...], facts: CodeFacts
) -> Code | CodeRefused:
    """Checks a code and uses it up in one step.

    There is no await here, so the step is atomic and a code works only once. A failed exchange by the right
    agent uses the code up, too, so that a verifier can be guessed only once.
    """
    code = codes.get(key)
    refusal = first_refusal(checks, replace(facts, code=code))
    again = code is not None and code.spent
    if code is not None and code.agent_id == facts.agent.id:
        codes.change(key, replace(code, spent=True))
    if code is None or refusal is not None:
        own = code is not None and again and code.agent_id == facts.agent.id
        return CodeRefused(
            refusal=refusal or _invalid_grant("no such code"), revokes=code.grant_id if code and own else None
        )
    return code


def refresh_token_is_good(facts: RefreshFacts) -> Refusal | None:
    token, grant = facts.token, facts.grant
    if token is None or token.agent_id != facts.agent.id or grant is None or grant.revoked:
        return _invalid_grant("no such refresh token")
    if token.spent or facts.now >= token.expires_at:
        return _invalid_grant("the refresh token is used up or has expired")
    return None


def refresh_asks_for_no_more(facts: RefreshFacts) -> Refusal | None:
    if facts.grant is not None and set(facts.scopes) <= set(facts.grant.scopes):
        return None
    return Refusal(
        status=400, error="invalid_scope", description="a refresh asks for no more than was granted"
    )


REFRESH_CHECKS: tuple[RefreshCheck, ...] = (refresh_token_is_good, refresh_asks_for_no_more)


def _invalid_request(description: str) -> Refusal:
    return Refusal(status=400, error="invalid_request", description=description)


def _invalid_client(description: str) -> Refusal:
    return Refusal(status=401, error="invalid_client", description=description)


def _invalid_grant(description: str) -> Refusal:
    return Refusal(status=400, error="invalid_grant", description=description)
