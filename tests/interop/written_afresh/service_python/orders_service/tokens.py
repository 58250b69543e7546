"""Validation of gateway access tokens, by the rules of the specification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from joserfc import jwt
from joserfc.errors import BadSignatureError, JoseError
from joserfc.jws import JWSRegistry, extract_compact

from .keys import KeySource

# Public-key algorithms only: what a token says about itself never leads to an HMAC or to none.
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
CLOCK_SKEW_S = 5
UNREADABLE = (JoseError, ValueError, TypeError, KeyError, RecursionError)


class InvalidToken(Exception):
    """The token is not one that this service accepts; `reason` is a code for the log."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class GatewayToken:
    value: str
    subject: str
    expires_at: int
    claims: dict[str, Any]


class TokenValidator:
    def __init__(self, keys: KeySource, resource_indicator: str) -> None:
        self._keys = keys
        self._indicator = resource_indicator
        # Unknown header parameters are ignored (RFC 7515), critical ones are not.
        self._registry = JWSRegistry(algorithms=ALGORITHMS, strict_check_header=False)

    async def validate(self, value: str) -> GatewayToken:
        kid = self._kid(value)
        key_set = await self._keys.for_kid(kid)
        claims = self._verified_claims(value, key_set.candidates(kid))
        self._check_claims(claims, key_set.issuer)
        return GatewayToken(value, claims["sub"], int(claims["exp"]), claims)

    def _kid(self, value: str) -> str | None:
        """The key that the token names. What cannot be read as a token fails here, before any key is asked for."""
        try:
            header = extract_compact(value.encode("ascii"), registry=self._registry).protected
            self._registry.check_header(header)
            self._registry.get_alg(header["alg"])
        except UNREADABLE as error:
            raise InvalidToken("not_a_token") from error
        kid = header.get("kid")
        return kid if isinstance(kid, str) else None

    def _verified_claims(self, value: str, keys: list[Any]) -> dict[str, Any]:
        reason = "unknown_key"
        for key in keys:
            try:
                return jwt.decode(value, key, algorithms=ALGORITHMS, registry=self._registry).claims
            except BadSignatureError:
                reason = "bad_signature"
            except UNREADABLE:
                reason = "unreadable"
        raise InvalidToken(reason)

    def _check_claims(self, claims: dict[str, Any], issuer: str) -> None:
        rules = jwt.JWTClaimsRegistry(
            leeway=CLOCK_SKEW_S,
            iss={"essential": True, "value": issuer},
            aud={"essential": True, "value": self._indicator},
            exp={"essential": True},
            sub={"essential": True},
        )
        try:
            rules.validate(claims)
        except UNREADABLE as error:
            raise InvalidToken(getattr(error, "error", "bad_claims") or "bad_claims") from error
