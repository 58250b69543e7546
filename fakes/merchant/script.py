"""Scripts: how the merchant answers one client, or one login at it."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

TEN_YEARS_S = 10 * 365 * 24 * 3600
LONGEST_WAIT_S = 600
LONGEST_TOKEN = 7000
# Ways to change expires_in.
LIFETIMES = ("missing", "zero", "text", "negative", "endless")
# Other names of outcomes, for `provisioning` and `refresh` only.
STANDING_WORDS = {"accept": "ok"}
# The results for a user who types the right password. "keep_code" creates a code, but does not redirect the
# browser; "error=CODE" redirects with an error, and "code_of=LOGIN" with the code that was kept for LOGIN.
PAGES = ("ok", "wrong_password", "keep_code")
ERROR = "error="
CODE_OF = "code_of="
# The `state` of the redirect: that of the request, none, an empty one, another value, or two of them.
STATES = ("same", "missing", "empty", "another", "doubled")
FLAGS = (
    "issue_refresh_token",
    "rotate_refresh_tokens",
    "omit_refresh_token_on_refresh",
    "alter_id_token_signature",
    "unsigned_id_token",
)


class ScriptError(ValueError):
    """The script is invalid."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """One outcome with its parameters; None means the outcome's default."""

    outcome: str
    seconds: float | None = None
    status: int | None = None
    retry_after_s: int | None = None
    as_date: bool | None = None
    gate: str | None = None
    parties: int | None = None
    location: str | None = None
    lifetime: str | None = None

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True, slots=True)
class Takes:
    """The parameters of an outcome."""

    required: frozenset[str] = frozenset()
    optional: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True, slots=True)
class Script:
    """Permanent answers, and a tape of answers for the next calls, which is used first.

    `provisioning` applies to the jwt-bearer and token-exchange grants, `refresh` to the refresh_token grant,
    and the tape `answers` to both. The sign-in has separate fields: `page` applies to a user who
    types the right password, `state` to the redirect of that browser, and `sign_in` to the authorization_code
    grant. `id_token` and `userinfo` replace claims there; None removes the claim.
    """

    provisioning: Answer = Answer(outcome="ok")
    refresh: Answer = Answer(outcome="ok")
    issue_refresh_token: bool = True
    rotate_refresh_tokens: bool = False
    omit_refresh_token_on_refresh: bool = False
    access_token_lifetime_s: int = 3600
    # Access and refresh tokens have at least this many characters.
    shortest_token: int = 0
    answers: tuple[Answer, ...] = ()
    page: str = "ok"
    state: str = "same"
    sign_in: Answer = Answer(outcome="ok")
    id_token: Mapping[str, Any] = field(default_factory=dict)
    userinfo: Mapping[str, Any] = field(default_factory=dict)
    alter_id_token_signature: bool = False
    unsigned_id_token: bool = False

    @property
    def error(self) -> str | None:
        """The error with which the browser is redirected in place of a code."""
        return self.page.removeprefix(ERROR) if self.page.startswith(ERROR) else None

    @property
    def code_of(self) -> str | None:
        """The login whose kept code the browser is redirected with."""
        return self.page.removeprefix(CODE_OF) if self.page.startswith(CODE_OF) else None


def parse_script(raw: Mapping[str, Any], outcomes: Mapping[str, Takes]) -> Script:
    """Reads a script; refuses unknown keys, outcomes and parameters."""
    _known("script field", raw, Script.__dataclass_fields__)
    fields: dict[str, Any] = dict(raw)
    for name in ("provisioning", "refresh", "sign_in"):
        if name in fields:
            word = fields[name]
            word = STANDING_WORDS.get(word, word) if isinstance(word, str) else word
            fields[name] = parse_answer(name, word, outcomes)
    for name in FLAGS:
        if not isinstance(fields.get(name, False), bool):
            raise ScriptError(f"{name}: expected true or false")
    for name in ("id_token", "userinfo"):
        if not isinstance(fields.get(name, {}), Mapping):
            raise ScriptError(f"{name}: expected an object with claims")
    _check_page(fields.get("page", "ok"))
    if fields.get("state", "same") not in STATES:
        raise ScriptError(f"state: expected {' or '.join(STATES)}")
    fields["access_token_lifetime_s"] = _whole(
        "access_token_lifetime_s", fields.get("access_token_lifetime_s", 3600), 1, TEN_YEARS_S
    )
    fields["shortest_token"] = _whole("shortest_token", fields.get("shortest_token", 0), 0, LONGEST_TOKEN)
    answers = fields.get("answers", ())
    if not isinstance(answers, (list, tuple)):
        raise ScriptError("answers: expected a list of outcomes")
    fields["answers"] = tuple(
        parse_answer(f"answers[{place}]", item, outcomes) for place, item in enumerate(answers)
    )
    script = Script(**fields)
    if script.rotate_refresh_tokens and script.omit_refresh_token_on_refresh:
        raise ScriptError("a rotated refresh token has to be handed out: rotate or omit, not both")
    return script


def _check_page(page: object) -> None:
    prefixed = isinstance(page, str) and page.startswith((ERROR, CODE_OF)) and page not in (ERROR, CODE_OF)
    if page not in PAGES and not prefixed:
        raise ScriptError(f"page: expected {' or '.join(PAGES)} or {ERROR}CODE or {CODE_OF}LOGIN")


def parse_answer(key: str, raw: object, outcomes: Mapping[str, Takes]) -> Answer:
    """Reads one outcome: its name, or an object with its name and parameters."""
    given = {"outcome": raw} if isinstance(raw, str) else raw
    if not isinstance(given, dict) or not isinstance(given.get("outcome"), str):
        raise ScriptError(f"{key}: expected the name of an outcome or an object with the key 'outcome'")
    name = given["outcome"]
    _known(f"{key}: outcome", [name], outcomes)
    takes = outcomes[name]
    parameters = {parameter: value for parameter, value in given.items() if parameter != "outcome"}
    _known(f"{key}: parameter of {name}", parameters, takes.required | takes.optional)
    missing = sorted(takes.required - parameters.keys())
    if missing:
        raise ScriptError(f"{key}: {name} needs {', '.join(missing)}")
    return Answer(outcome=name, **{name: _parameter(key, name, value) for name, value in parameters.items()})


def _parameter(key: str, name: str, value: Any) -> Any:
    match name:
        case "gate" | "location":
            if not isinstance(value, str) or not value:
                raise ScriptError(f"{key}: {name}: expected {'a name' if name == 'gate' else 'an address'}")
            return value
        case "lifetime":
            if value not in LIFETIMES:
                raise ScriptError(f"{key}: lifetime: expected one of {', '.join(LIFETIMES)}")
            return value
        case "as_date":
            if not isinstance(value, bool):
                raise ScriptError(f"{key}: as_date: expected true or false")
            return value
        case "seconds":
            if (
                isinstance(value, bool)
                or not isinstance(value, (int, float))
                or not 0 < value <= LONGEST_WAIT_S
            ):
                raise ScriptError(f"{key}: seconds: expected a number up to {LONGEST_WAIT_S}")
            return value
        case "status":
            return _whole(f"{key}: status", value, 400, 599)
        case _:
            return _whole(f"{key}: {name}", value, 0 if name == "retry_after_s" else 1, 10_000)


def _whole(key: str, value: object, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ScriptError(f"{key}: expected a whole number from {low} to {high}")
    return value


def _known(what: str, given: Any, known: Any) -> None:
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(str(name), list(known), n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise ScriptError(f"unknown {what} {name!r}{hint}")
