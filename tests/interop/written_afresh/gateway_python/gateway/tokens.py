"""Access tokens and ID tokens: JWTs of the core issuer."""

from dataclasses import dataclass

from joserfc import jwt
from joserfc.errors import JoseError

from . import credentials
from .agents import Agent
from .clock import Clock
from .grants import Grant
from .keys import ACCESS_TOKEN_LIFETIME_S, ALGORITHM, CoreKeys
from .projects import Resource

ACCESS_TOKEN_TYPE = "at+jwt"
REDEMPTION_SCOPE = "ext_token:read"
ACR = "urn:gateway:acr:al2"


class InvalidToken(Exception):
    """What was sent is no access token of ours, or no longer."""


@dataclass(frozen=True)
class AccessToken:
    grant_id: str
    project_id: str
    audience: tuple[str, ...]
    scopes: frozenset[str]


class Tokens:
    def __init__(self, issuer: str, core_keys: CoreKeys, clock: Clock) -> None:
        self._issuer = issuer
        self._core_keys = core_keys
        self._clock = clock

    def access_token(self, grant: Grant, agent: Agent, resource: Resource, scope: str) -> str:
        now = int(self._clock.now())
        return self._sign(
            ACCESS_TOKEN_TYPE,
            {
                "iss": self._issuer,
                "aud": [resource.indicator],
                "sub": grant.sub,
                "iat": now,
                "exp": now + ACCESS_TOKEN_LIFETIME_S,
                "jti": credentials.identifier("token"),
                "client_id": agent.id,
                "scope": scope,
                "grant_id": grant.id,
                "ext": {
                    "acr": ACR,
                    "amr": list(grant.amr),
                    "agent": {"client_id": agent.id, "domain": agent.domain, "name": agent.name, "verifications": []},
                    "project_id": resource.project_id,
                },
            },
        )

    def id_token(self, grant: Grant, agent: Agent) -> str:
        now = int(self._clock.now())
        claims: dict[str, object] = {
            "iss": self._issuer,
            "aud": agent.id,
            "sub": grant.sub,
            "iat": now,
            "exp": now + ACCESS_TOKEN_LIFETIME_S,
            "auth_time": grant.auth_time,
            "acr": ACR,
            "amr": list(grant.amr),
            "preferred_username": grant.login,
        }
        if grant.nonce is not None:
            claims["nonce"] = grant.nonce
        return self._sign("JWT", claims)

    def _sign(self, kind: str, claims: dict[str, object]) -> str:
        key = self._core_keys.signing_key()
        return jwt.encode({"typ": kind, "alg": ALGORITHM, "kid": key.kid}, claims, key, algorithms=[ALGORITHM])

    def verify_access_token(self, text: str) -> AccessToken:
        try:
            token = jwt.decode(text, self._core_keys.verification_keys(), algorithms=[ALGORITHM])
        except (JoseError, ValueError) as error:
            raise InvalidToken from error
        claims = token.claims
        if token.header.get("typ") != ACCESS_TOKEN_TYPE or claims.get("iss") != self._issuer:
            raise InvalidToken
        if claims["exp"] <= self._clock.now():
            raise InvalidToken
        return AccessToken(
            grant_id=claims["grant_id"],
            project_id=claims["ext"]["project_id"],
            audience=tuple(claims["aud"]),
            scopes=frozenset(claims["scope"].split()),
        )
