"""The properties of the merchant that the standards leave open; the seed selects them.

This finds gateways that hard-code a path, the length of a token or the order of a JSON object. Equal seeds
give equal choices. Secrets never come from the seed.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import urlsplit

WORDS = ("atlas", "brine", "cedar", "delta", "ember", "fjord", "grove", "harbor", "inlet", "juniper", "krill")
BASE64URL = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
HEX = "0123456789abcdef"
# The characters of a b64token (RFC 6750), which may also end in `=`.
B64TOKEN = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/"
ALPHABETS = (BASE64URL, HEX, B64TOKEN)
# After the commas of JSON. Not json.dumps(indent=…), which is several times slower.
INDENTS = (" ", "\n ", "\n  ")
JSON_TYPES = ("application/json", "application/json;charset=UTF-8", 'application/json; charset="utf-8"')


@dataclass(frozen=True, kw_only=True, slots=True)
class Endpoints:
    """The URLs of the merchant's endpoints."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    userinfo_endpoint: str
    jwks_uri: str
    api_url: str
    sign_in: str

    def announced(self) -> dict[str, str]:
        """The public endpoints, without the page that the form is sent to."""
        return {name: getattr(self, name) for name in self.__slots__ if name != "sign_in"}


@dataclass(frozen=True, kw_only=True, slots=True)
class TokenForm:
    """The form of an opaque secret."""

    alphabet: str
    length: int
    padding: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """The form of the sign-in page."""

    sloppy: bool
    button_element: bool
    button_text: str
    ticket_name: str
    absolute_action: bool
    extra_hidden: tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """All choices for one merchant."""

    seed: int
    endpoints: Endpoints
    page: Page
    json_type: str
    json_indent: str
    token_type: Literal["Bearer", "bearer"]
    redirect_status: int
    wrong_password_status: int
    unknown_client_status: int
    detour_to_sign_in: bool
    sends_iss: bool
    sends_scope: bool
    describes_errors: bool
    sets_cookie: bool
    audience_as_list: bool

    def jwt_access_tokens(self, client_id: str) -> bool:
        return _has_jwt_access_tokens(self.seed, client_id)

    def token_form(self, kind: str, client_id: str, login: str, count: int) -> TokenForm:
        """The form of the nth secret of a kind for a user at a client, independent of all other secrets."""
        rng = choices(self.seed, "token form", kind, client_id, login, count)
        alphabet = rng.choice(ALPHABETS)
        shortest = 32 if alphabet is HEX else 24
        length = round(shortest * (1500 / shortest) ** rng.random())
        padding = rng.choice((0, 1, 2)) if alphabet is B64TOKEN else 0
        return TokenForm(alphabet=alphabet, length=length, padding=padding)

    def ordered(self, members: dict[str, object]) -> dict[str, object]:
        """The same members, in an order that the seed selects."""
        return dict(sorted(members.items(), key=lambda item: _rank(self.seed, item[0])))


@lru_cache(maxsize=1024)
def _rank(seed: int, name: str) -> bytes:
    return hashlib.sha256(f"{seed}/{name}".encode()).digest()


@lru_cache(maxsize=1024)
def _has_jwt_access_tokens(seed: int, client_id: str) -> bool:
    return choices(seed, "access token form", client_id).random() < 0.4


def choices(seed: int, *about: object) -> random.Random:
    """A separate random generator for each subject, so that choices are independent of each other."""
    return random.Random("/".join(map(str, (seed, *about))))  # noqa: S311 - nothing secret comes from it


def shape(*, seed: int, base_url: str, paths: Literal["seeded", "usual"]) -> Shape:
    rng = choices(seed, "shape")
    return Shape(
        seed=seed,
        endpoints=usual_endpoints(base_url) if paths == "usual" else seeded_endpoints(base_url, seed),
        page=_page(seed),
        json_type=rng.choice(JSON_TYPES),
        json_indent=rng.choice(INDENTS),
        token_type=rng.choice(("Bearer", "bearer")),
        redirect_status=rng.choice((302, 303)),
        wrong_password_status=rng.choice((200, 401)),
        unknown_client_status=rng.choice((400, 401)),
        detour_to_sign_in=rng.random() < 0.5,
        sends_iss=rng.random() < 0.5,
        sends_scope=rng.random() < 0.5,
        describes_errors=rng.random() < 0.7,
        sets_cookie=rng.random() < 0.8,
        audience_as_list=rng.random() < 0.5,
    )


def usual_endpoints(base_url: str) -> Endpoints:
    return Endpoints(
        issuer=base_url,
        authorization_endpoint=f"{base_url}/authorize",
        token_endpoint=f"{base_url}/token",
        userinfo_endpoint=f"{base_url}/userinfo",
        jwks_uri=f"{base_url}/jwks",
        api_url=f"{base_url}/api",
        sign_in=f"{base_url}/sign-in",
    )


def seeded_endpoints(base_url: str, seed: int) -> Endpoints:
    """Endpoints with unusual paths; for half of the seeds the issuer has a path too."""
    rng = choices(seed, "paths")
    words = rng.sample(WORDS, k=8)
    numbered = [f"{word}-{rng.randrange(10, 1000)}" for word in words]
    issuer = base_url + (f"/{numbered[0]}" if rng.random() < 0.5 else "")
    return Endpoints(
        issuer=issuer,
        authorization_endpoint=f"{issuer}/{numbered[1]}/{rng.choice(('start', 'consent', 'go'))}",
        token_endpoint=f"{issuer}/{numbered[2]}{rng.choice(('', '/v3', '.exchange'))}",
        userinfo_endpoint=f"{base_url}/{numbered[3]}/me",
        jwks_uri=f"{base_url}/{numbered[4]}.json",
        api_url=f"{base_url}/{numbered[5]}/{rng.choice(('v1', 'v2', 'shop'))}",
        sign_in=f"{base_url}/{numbered[6]}",
    )


def path_of(url: str) -> str:
    return urlsplit(url).path


def _page(seed: int) -> Page:
    rng = choices(seed, "page")
    hidden = (("lang", "en"), ("theme", 'plain "a" & <b>'), ("v", str(rng.randrange(100))), ("empty", ""))
    return Page(
        sloppy=rng.random() < 0.5,
        button_element=rng.random() < 0.5,
        button_text=rng.choice(("Sign in", "Log in", "Continue")),
        ticket_name=rng.choice(("ticket", "execution", "_csrf", "flow[id]")),
        absolute_action=rng.random() < 0.5,
        extra_hidden=tuple(rng.sample(hidden, k=rng.randrange(len(hidden) + 1))),
    )
