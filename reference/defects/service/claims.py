"""Services that check the issuer, the audience or the expiry of a token wrongly."""

from __future__ import annotations

import re
from collections.abc import Callable
from posixpath import normpath
from typing import Any
from urllib.parse import unquote, urlsplit

from gateproof.reference.defects.defect import instead, without
from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.policy import validation
from gateproof.reference.service.policy.validation import CLAIM_CHECKS, ClaimCheck, ClaimFacts

ISSUER, AUDIENCE, EXPIRY = CLAIM_CHECKS


def checks(honest: ClaimCheck, wrong: ClaimCheck) -> dict[str, Any]:
    return {"claim_checks": instead(CLAIM_CHECKS, honest, wrong)}


def issuer(wrong: Callable[[Any, ClaimFacts], object]) -> dict[str, Any]:
    """The issuer is checked by this function."""
    return checks(ISSUER, lambda facts: bool(wrong(facts.claims.get("iss"), facts)))


def audience(wrong: Callable[[Any, ClaimFacts], object]) -> dict[str, Any]:
    """Each audience is checked by this function; one that passes is enough."""
    return checks(AUDIENCE, lambda facts: any(wrong(each, facts) for each in validation.audiences(facts)))


def expiring(wrong: Callable[[float | None, ClaimFacts], object]) -> dict[str, Any]:
    """The expiry is checked by this function."""
    return checks(EXPIRY, lambda facts: bool(wrong(validation.expiry(facts), facts)))


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def accepted_once() -> dict[str, Any]:
    """The expiry of a token that was accepted once is not checked again."""
    seen: set[str] = set()

    def check(facts: ClaimFacts) -> bool:
        if facts.token in seen or validation.not_expired(facts):
            seen.add(facts.token)
            return True
        return False

    return checks(EXPIRY, check)


def checked_once() -> dict[str, Any]:
    """The claims of a token are checked once, and accepted afterwards whatever the result was."""
    seen: set[str] = set()

    def check(facts: ClaimFacts) -> bool:
        known = facts.token in seen
        seen.add(facts.token)
        return known or all(honest(facts) for honest in CLAIM_CHECKS)

    return {"claim_checks": (check,)}


def id_tokens_too() -> dict[str, Any]:
    """A token with a nonce is accepted for any audience."""
    return checks(
        AUDIENCE, lambda facts: "nonce" in facts.claims or validation.meant_for_the_merchant_api(facts)
    )


def as_browsers_read(url: Any) -> str:
    """Scheme, host and path of a URL, normalized like in a browser; empty without a host."""
    parts = urlsplit(text(url).strip())
    host, path = parts.netloc.lower().removesuffix(":443"), unquote(parts.path)
    return f"{parts.scheme.lower()}://{host}{normpath(path)}" if host else ""


def as_libraries_read(url: Any) -> tuple[object, ...] | None:
    """Scheme, host, port and path of a URL; None if the port is invalid."""
    parts = urlsplit(text(url))
    try:
        return parts.scheme, parts.hostname, parts.port, parts.path
    except ValueError:
        return None


def with_normalized_path(url: Any) -> str:
    """The URL without dot segments, needless escapes and repeated slashes; a trailing slash stays."""
    parts = urlsplit(text(url))
    path = unquote(parts.path)
    plain = normpath(re.sub("/+", "/", path)) + ("/" if path.endswith("/") else "")
    return parts._replace(path=plain).geturl()


def of_an_agent(wrong: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """A token is also refused if its `ext.agent` is `wrong`."""

    def check(facts: ClaimFacts) -> bool:
        agent = facts.claims.get("ext", {}).get("agent", {})
        return AUDIENCE(facts) and not wrong(agent)

    return checks(AUDIENCE, check)


def _is_a_word(value: object) -> bool:
    return isinstance(value, str) and not value.strip().lstrip("-").isdigit()


DEFECTS = (
    defect(
        "issuer-unread (CHAL-05): The service does not check the issuer.",
        claim_checks=without(CLAIM_CHECKS, ISSUER),
    ),
    defect(
        "issuer-by-its-beginning (CHAL-05): The service accepts an issuer that begins with the core issuer.",
        **issuer(lambda iss, facts: text(iss).startswith(facts.issuer)),
    ),
    defect(
        "issuer-contained (CHAL-05): The service accepts an issuer that is a substring of the core issuer.",
        **issuer(lambda iss, facts: iss is not None and isinstance(iss, str) and iss in facts.issuer),
    ),
    defect(
        "issuer-without-its-slash (CHAL-05): The service ignores trailing slashes when it compares the "
        "issuer.",
        **issuer(lambda iss, facts: text(iss).rstrip("/") == facts.issuer.rstrip("/")),
    ),
    defect(
        "issuer-in-any-case (CHAL-05): The service compares the issuer case-insensitively.",
        **issuer(lambda iss, facts: text(iss).lower() == facts.issuer.lower()),
    ),
    defect(
        "issuer-by-its-host (CHAL-05): The service compares only host and port of the issuer.",
        **issuer(lambda iss, facts: urlsplit(text(iss)).netloc == urlsplit(facts.issuer).netloc),
    ),
    defect(
        "issuer-compared-as-a-url (CHAL-05): The service compares only scheme, host, port and path of the "
        "issuer.",
        **issuer(lambda iss, facts: as_libraries_read(iss) == as_libraries_read(facts.issuer)),
    ),
    defect(
        "issuer-with-its-path-tidied-up (CHAL-05): The service ignores dot segments, needless escapes and "
        "repeated slashes when it compares the issuer.",
        **issuer(lambda iss, facts: with_normalized_path(iss) == with_normalized_path(facts.issuer)),
    ),
    defect(
        "issuer-if-there-is-one (CHAL-05): The service accepts a token without an issuer.",
        **issuer(lambda iss, facts: iss is None or iss == facts.issuer),
    ),
    defect(
        "authorization-server-is-an-issuer-too (CHAL-05): The service also accepts the Resource's "
        "authorization server as the issuer.",
        **issuer(lambda iss, facts: iss in (facts.issuer, facts.settings.authorization_server)),
    ),
    defect(
        "issuer-trimmed (CHAL-05): The service ignores whitespace around the issuer.",
        **issuer(lambda iss, facts: text(iss).strip() == facts.issuer),
    ),
    defect(
        "audience-unread (CHAL-06 CHAL-08): The service does not check the audience.",
        claim_checks=without(CLAIM_CHECKS, AUDIENCE),
    ),
    defect(
        "audience-may-be-the-service (CHAL-06): The service also accepts a token whose audience is its own "
        "URL.",
        **audience(lambda aud, facts: aud in (facts.settings.indicator, facts.settings.service_url)),
    ),
    defect(
        "audience-by-its-beginning (CHAL-06): The service accepts an audience that begins with the Resource "
        "indicator.",
        **audience(lambda aud, facts: text(aud).startswith(facts.settings.indicator)),
    ),
    defect(
        "audience-contained (CHAL-06): The service accepts a token if the text of its aud claim contains the "
        "Resource indicator.",
        **checks(AUDIENCE, lambda facts: facts.settings.indicator in str(facts.claims.get("aud"))),
    ),
    defect(
        "audience-without-its-slash (CHAL-06): The service ignores trailing slashes when it compares the "
        "audience.",
        **audience(lambda aud, facts: text(aud).rstrip("/") == facts.settings.indicator.rstrip("/")),
    ),
    defect(
        "audience-in-any-case (CHAL-06): The service compares the audience case-insensitively.",
        **audience(lambda aud, facts: text(aud).lower() == facts.settings.indicator.lower()),
    ),
    defect(
        "audience-if-there-is-one (CHAL-06): The service accepts a token without an audience.",
        **audience(lambda aud, facts: aud in (None, facts.settings.indicator)),
    ),
    defect(
        "audience-somewhere-in-a-string (CHAL-06): If aud is one string, the service accepts a token whose "
        "aud contains the Resource indicator.",
        **checks(AUDIENCE, lambda facts: facts.settings.indicator in (facts.claims.get("aud") or ())),
    ),
    defect(
        "audience-split-at-spaces (CHAL-06): If aud is one string, the service splits it at spaces, as for "
        "scopes.",
        **checks(
            AUDIENCE,
            lambda facts: (
                facts.settings.indicator in text(facts.claims.get("aud")).split()
                or validation.meant_for_the_merchant_api(facts)
            ),
        ),
    ),
    defect(
        "audience-tidied-up (CHAL-06): The service normalizes audience and Resource indicator as URLs before "
        "it compares them.",
        **audience(lambda aud, facts: as_browsers_read(aud) == as_browsers_read(facts.settings.indicator)),
    ),
    defect(
        "audience-without-its-query (CHAL-06): The service ignores query and fragment when it compares the "
        "audience.",
        **audience(lambda aud, facts: re.split("[?#]", text(aud))[0] == facts.settings.indicator),
    ),
    defect(
        "audience-trimmed (CHAL-06): The service ignores whitespace around the audience.",
        **audience(lambda aud, facts: text(aud).strip() == facts.settings.indicator),
    ),
    defect(
        "audience-or-authorized-party (CHAL-06): The service accepts the Resource indicator in azp, "
        "client_id or resource in place of aud.",
        **checks(
            AUDIENCE,
            lambda facts: (
                facts.settings.indicator
                in (facts.claims.get(name) for name in ("azp", "client_id", "resource"))
                or validation.meant_for_the_merchant_api(facts)
            ),
        ),
    ),
    defect(
        "audience-by-its-host (CHAL-06): The service compares only the host of the audience.",
        **audience(
            lambda aud, facts: urlsplit(text(aud)).hostname == urlsplit(facts.settings.indicator).hostname
        ),
    ),
    defect(
        "audience-may-be-the-resource-id (CHAL-06): The service also accepts a token whose audience is the "
        "Resource ID.",
        **audience(
            lambda aud, facts: (
                aud in (facts.settings.indicator, facts.settings.authorization_server.rpartition("/")[2])
            )
        ),
    ),
    defect(
        "expiry-unread (CHAL-07): The service does not check the expiry.",
        claim_checks=without(CLAIM_CHECKS, EXPIRY),
    ),
    defect(
        "expiry-if-there-is-one (CHAL-07): The service accepts a token without a numeric expiry.",
        **expiring(lambda exp, facts: exp is None or facts.now < exp),
    ),
    defect(
        "expiry-of-zero-is-none (CHAL-07): The service accepts a token whose expiry is 0.",
        **expiring(lambda exp, facts: exp is not None and (not exp or facts.now < exp)),
    ),
    defect(
        "expiry-as-text-never-comes (CHAL-07): The service accepts a token whose expiry is a string.",
        **checks(
            EXPIRY,
            lambda facts: isinstance(facts.claims.get("exp"), str) or validation.not_expired(facts),
        ),
    ),
    defect(
        "expiry-that-is-no-number-never-comes (CHAL-07): The service compares the expiry as JavaScript does, "
        "so one that is no number never comes.",
        **checks(EXPIRY, lambda facts: _is_a_word(facts.claims.get("exp")) or validation.not_expired(facts)),
    ),
    defect(
        "expiry-null-is-never (CHAL-07): The service accepts a token whose expiry is null.",
        **checks(
            EXPIRY,
            lambda facts: facts.claims.get("exp", 0) is None or validation.not_expired(facts),
        ),
    ),
    defect(
        "leeway-of-an-hour (CHAL-07): The service accepts a token until 3500 seconds after its expiry.",
        **expiring(lambda exp, facts: exp is not None and facts.now < exp + 3500),
    ),
    defect(
        "leeway-of-five-minutes (CHAL-07): The service accepts a token until five minutes after its expiry.",
        **expiring(lambda exp, facts: exp is not None and facts.now < exp + 300),
    ),
    defect(
        "accepted-for-ever (CHAL-07): The service does not check the expiry of a token that it has accepted "
        "before.",
        **accepted_once(),
    ),
    defect(
        "claims-looked-at-once (CHAL-05 CHAL-06 CHAL-07 CHAL-08): The service checks the claims of a token "
        "once and accepts them afterwards, even if the check failed.",
        **checked_once(),
    ),
    defect(
        "id-token-taken (CHAL-08): The service accepts a token with a nonce for any audience.",
        **id_tokens_too(),
    ),
    defect(
        "tokens-of-an-hour-at-most (SERVE-01): The service refuses a token that expires more than 61 minutes "
        "from now.",
        **expiring(lambda end, facts: end is not None and facts.now < end < facts.now + 3660),
    ),
    defect(
        "agents-with-names-in-ascii (SERVE-01): The service refuses a token whose agent has a name that is "
        "not ASCII.",
        **of_an_agent(lambda agent: not str(agent.get("name", "")).isascii()),
    ),
    defect(
        "agents-with-few-verifications (SERVE-01): The service refuses a token whose ext.agent is longer "
        "than 2048 characters.",
        **of_an_agent(lambda agent: len(str(agent)) > 2048),
    ),
)
