"""Agents that omit authorization parameters, use guessable values, or do not verify the state."""

from __future__ import annotations

import base64
import hashlib
import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, urlencode

from gateproof.reference.agent.policy import authorization
from gateproof.reference.agent.policy.authorization import Attempt, Octets, Query
from gateproof.reference.agent.policy.discovery import Endpoints
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.settings import Settings
from gateproof.reference.defects.agent.row import defect

HALF = "orders-agent-verifier-"


def lacking(*names: str) -> dict[str, Any]:
    def parameters(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
        whole = authorization.authorization_parameters(settings, client, attempt)
        return {name: value for name, value in whole.items() if name not in names}

    return {"authorization_parameters": parameters}


def having(**members: Any) -> dict[str, Any]:
    """Adds or replaces these parameters; each is computed from settings, client and attempt."""

    def parameters(settings: Settings, client: Client, attempt: Attempt) -> dict[str, str]:
        whole = authorization.authorization_parameters(settings, client, attempt)
        return whole | {name: make(settings, client, attempt) for name, make in members.items()}

    return {"authorization_parameters": parameters}


def with_plus(endpoints: Endpoints, parameters: Mapping[str, str]) -> str:
    return f"{endpoints.authorization}?{urlencode(parameters)}"


def given_scopes_as(written: Callable[[str], str]) -> dict[str, Any]:
    """Writes the configured scopes with `written`, after `openid` and %20."""

    def url(endpoints: Endpoints, parameters: Mapping[str, str]) -> str:
        openid, _, given = parameters["scope"].partition(" ")
        others = {name: value for name, value in parameters.items() if name != "scope"}
        return f"{authorization.authorization_url(endpoints, others)}&scope={openid}%20{written(given)}"

    return {"authorization_url": url}


def attempt_by(make: Any) -> dict[str, Any]:
    """Changes verifier and state after they were generated."""

    def fresh(octets: Octets) -> Attempt:
        return Attempt(**make(authorization.fresh_attempt(octets)))

    return {"fresh_attempt": fresh}


def encoded(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def install_seed() -> bytes:
    """The same bytes in every run of an install."""
    return hashlib.sha256(os.environ.get("GATEPROOF_STATE_DIR", "").encode()).digest()


def of_the_clock(drawn: Attempt) -> dict[str, str]:
    return {"verifier": drawn.verifier, "state": f"{time.time_ns() // 1000:032d}"}


def any_of_ours(query: Query, attempt: Attempt) -> bool:
    """Accepts every state that this install ever sent."""
    file = Path(os.environ["GATEPROOF_STATE_DIR"]) / "states"
    known = [*(file.read_text().split() if file.is_file() else ()), attempt.state]
    file.write_text("\n".join(known))
    return any(state in known for state in query.get("state", ()))


def there_and_wrong(query: Query, attempt: Attempt) -> bool:
    """Accepts a redirect without a state; a state that is present is compared."""
    return not any(query.get("state", ())) or authorization.is_ours(query, attempt)


DEFECTS = (
    defect(
        "plus-for-spaces (AGENT-03): The agent writes spaces in the authorization URL as plus signs.",
        authorization_url=with_plus,
    ),
    defect(
        "plus-between-given-scopes (AGENT-03): The agent writes %20 after openid, but plus signs between "
        "the configured scopes.",
        **given_scopes_as(quote_plus),
    ),
    defect(
        "blank-between-given-scopes (AGENT-03): The agent writes %20 after openid, but unencoded spaces "
        "between the configured scopes.",
        **given_scopes_as(lambda given: given),
    ),
    defect(
        "openid-left-out (AGENT-03): The scope parameter lacks openid.",
        **having(scope=lambda settings, *_: " ".join(("profile", *settings.scopes))),
    ),
    defect(
        "scopes-left-out (AGENT-03): The scope parameter lacks the Resource's scopes.",
        **having(scope=lambda *_: "openid profile"),
    ),
    defect(
        "state-left-out (AGENT-03 AGENT-04 AGENT-05): The agent sends no state and requires none in the "
        "redirect.",
        **lacking("state"),
        is_ours=lambda *_: True,
    ),
    defect(
        "method-of-pkce-left-out (AGENT-03): The agent sends code_challenge without code_challenge_method.",
        **lacking("code_challenge_method"),
    ),
    defect(
        "plain-pkce (AGENT-03 AGENT-06 AGENT-14): The agent uses the PKCE method `plain`: the challenge is "
        "the verifier itself.",
        **having(
            code_challenge=lambda _s, _c, attempt: attempt.verifier, code_challenge_method=lambda *_: "plain"
        ),
    ),
    defect(
        "challenge-in-hexadecimal (AGENT-03 AGENT-06): The agent encodes the challenge in hexadecimal "
        "instead of base64url.",
        **having(code_challenge=lambda _s, _c, a: hashlib.sha256(a.verifier.encode()).hexdigest()),
    ),
    defect(
        "implicit-asked-for (AGENT-03): The agent requests the response type `code token`.",
        **having(response_type=lambda *_: "code token"),
    ),
    defect(
        "another-redirect-uri (AGENT-03 AGENT-01): The agent adds a slash to the registered redirect URI in "
        "the authorization request.",
        **having(redirect_uri=lambda settings, *_: f"{settings.callback_url}/"),
    ),
    defect(
        "verifier-short (AGENT-04): The verifier has 16 random octets instead of 32.",
        **attempt_by(lambda drawn: {"verifier": encoded(os.urandom(16)), "state": drawn.state}),
    ),
    defect(
        "verifier-half-constant (AGENT-04): The first half of the verifier is the same in all installs.",
        **attempt_by(lambda drawn: {"verifier": HALF + drawn.verifier[:24], "state": drawn.state}),
    ),
    defect(
        "verifier-of-the-install (AGENT-04 AGENT-10): The agent uses the same verifier in all "
        "authorizations of an install.",
        **attempt_by(lambda drawn: {"verifier": encoded(install_seed()), "state": drawn.state}),
    ),
    defect(
        "state-of-the-clock (AGENT-04): The state is the current time in microseconds.",
        **attempt_by(of_the_clock),
    ),
    defect(
        "state-short (AGENT-04): The state has 4 random octets instead of 16.",
        **attempt_by(lambda drawn: {"verifier": drawn.verifier, "state": encoded(os.urandom(4))}),
    ),
    defect(
        "state-fixed (AGENT-04 AGENT-05): The state is a constant.",
        **attempt_by(lambda drawn: {"verifier": drawn.verifier, "state": "orders-agent-is-waiting"}),
    ),
    defect(
        "state-of-the-verifier (AGENT-04 AGENT-14): The state is the first 24 characters of the verifier.",
        **attempt_by(lambda drawn: {"verifier": drawn.verifier, "state": drawn.verifier[:24]}),
    ),
    defect("state-not-compared (AGENT-05): The agent does not compare the state.", is_ours=lambda *_: True),
    defect(
        "state-compared-if-there (AGENT-05): The agent accepts a redirect without a state.",
        is_ours=there_and_wrong,
    ),
    defect(
        "state-by-its-beginning (AGENT-05): The agent accepts any prefix of its state.",
        is_ours=lambda query, attempt: any(attempt.state.startswith(each) for each in query.get("state", ())),
    ),
    defect(
        "verifier-of-hexadecimal-text (AGENT-04): The verifier is base64url of the hexadecimal text of 16 "
        "random octets, which has 43 characters.",
        **attempt_by(
            lambda drawn: {"verifier": encoded(os.urandom(16).hex().encode()), "state": drawn.state}
        ),
    ),
    defect(
        "verifier-encoded-three-times (AGENT-04): The verifier is 24 random octets, encoded in base64url "
        "three times.",
        **attempt_by(
            lambda drawn: {
                "verifier": encoded(encoded(encoded(os.urandom(24)).encode()).encode()),
                "state": drawn.state,
            }
        ),
    ),
    defect(
        "state-of-hexadecimal-text (AGENT-04): The state is base64url of the hexadecimal text of 8 random "
        "octets.",
        **attempt_by(
            lambda drawn: {"verifier": drawn.verifier, "state": encoded(os.urandom(8).hex().encode())}
        ),
    ),
    defect(
        "state-of-marked-hexadecimal-text (AGENT-04): The state is `v1.`, followed by base64url of the "
        "hexadecimal text of 12 random octets.",
        **attempt_by(
            lambda drawn: {
                "verifier": drawn.verifier,
                "state": f"v1.{encoded(os.urandom(12).hex().encode())}",
            }
        ),
    ),
    defect(
        "state-in-any-case (AGENT-05): The agent compares the state case-insensitively.",
        is_ours=lambda query, attempt: (
            attempt.state.lower() in [each.lower() for each in query.get("state", ())]
        ),
    ),
    defect(
        "state-by-its-end (AGENT-05): The agent accepts any suffix of its state.",
        is_ours=lambda query, attempt: any(
            each and attempt.state.endswith(each) for each in query.get("state", ())
        ),
    ),
    defect(
        "state-somewhere-in-it (AGENT-05): The agent accepts any state that contains its own.",
        is_ours=lambda query, attempt: any(attempt.state in each for each in query.get("state", ())),
    ),
    defect(
        "state-of-any-run (AGENT-05): The agent accepts the state of an earlier run.", is_ours=any_of_ours
    ),
)
