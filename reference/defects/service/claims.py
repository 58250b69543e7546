"""Services that take tokens of another issuer, for another audience, or past their time."""

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
    """Something else is asked of the issuer."""
    return checks(ISSUER, lambda facts: bool(wrong(facts.claims.get("iss"), facts)))


def audience(wrong: Callable[[Any, ClaimFacts], object]) -> dict[str, Any]:
    """Something else is asked of each audience, one of which has to do."""
    return checks(AUDIENCE, lambda facts: any(wrong(each, facts) for each in validation.audiences(facts)))


def expiring(wrong: Callable[[float | None, ClaimFacts], object]) -> dict[str, Any]:
    """Something else is asked of the expiry."""
    return checks(EXPIRY, lambda facts: bool(wrong(validation.expiry(facts), facts)))


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def accepted_once() -> dict[str, Any]:
    """What was accepted a moment ago is kept as accepted."""
    seen: set[str] = set()

    def check(facts: ClaimFacts) -> bool:
        if facts.token in seen or validation.not_expired(facts):
            seen.add(facts.token)
            return True
        return False

    return checks(EXPIRY, check)


def looked_at_once() -> dict[str, Any]:
    """What was looked at, whatever came of it, is not looked at again."""
    seen: set[str] = set()

    def check(facts: ClaimFacts) -> bool:
        known = facts.token in seen
        seen.add(facts.token)
        return known or all(honest(facts) for honest in CLAIM_CHECKS)

    return {"claim_checks": (check,)}


def id_tokens_too() -> dict[str, Any]:
    """A token with a nonce is the user's, whatever its audience."""
    return checks(
        AUDIENCE, lambda facts: "nonce" in facts.claims or validation.meant_for_the_merchant_api(facts)
    )


def as_browsers_read(url: Any) -> str:
    """The parts of a URL that a browser compares, as it compares them; empty for what is none."""
    parts = urlsplit(text(url).strip())
    host, path = parts.netloc.lower().removesuffix(":443"), unquote(parts.path)
    return f"{parts.scheme.lower()}://{host}{normpath(path)}" if host else ""


def as_libraries_read(url: Any) -> tuple[object, ...] | None:
    """The parts of a URL that say where something is; None for what is none."""
    parts = urlsplit(text(url))
    try:
        return parts.scheme, parts.hostname, parts.port, parts.path
    except ValueError:
        return None


def with_a_tidy_path(url: Any) -> str:
    """Dot segments, needless escapes and slashes are gone, but for a slash at the end."""
    parts = urlsplit(text(url))
    path = unquote(parts.path)
    plain = normpath(re.sub("/+", "/", path)) + ("/" if path.endswith("/") else "")
    return parts._replace(path=plain).geturl()


def of_an_agent(wrong: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Something is asked of what the token says of the agent."""

    def check(facts: ClaimFacts) -> bool:
        agent = facts.claims.get("ext", {}).get("agent", {})
        return AUDIENCE(facts) and not wrong(agent)

    return checks(AUDIENCE, check)


DEFECTS = (
    defect(
        "issuer-unread (CHAL-05): The issuer is not looked at.", claim_checks=without(CLAIM_CHECKS, ISSUER)
    ),
    defect(
        "issuer-by-its-beginning (CHAL-05): An issuer that begins like the core's is taken.",
        **issuer(lambda iss, facts: text(iss).startswith(facts.issuer)),
    ),
    defect(
        "issuer-contained (CHAL-05): An issuer that is a part of the core's is taken.",
        **issuer(lambda iss, facts: iss is not None and isinstance(iss, str) and iss in facts.issuer),
    ),
    defect(
        "issuer-without-its-slash (CHAL-05): Slashes at the end of an issuer do not count.",
        **issuer(lambda iss, facts: text(iss).rstrip("/") == facts.issuer.rstrip("/")),
    ),
    defect(
        "issuer-in-any-case (CHAL-05): Upper and lower case are the same in an issuer.",
        **issuer(lambda iss, facts: text(iss).lower() == facts.issuer.lower()),
    ),
    defect(
        "issuer-by-its-host (CHAL-05): Only the host of the issuer is compared.",
        **issuer(lambda iss, facts: urlsplit(text(iss)).netloc == urlsplit(facts.issuer).netloc),
    ),
    defect(
        "issuer-compared-as-a-url (CHAL-05): Issuers are the same whose URLs have the same scheme, host, "
        "port and path.",
        **issuer(lambda iss, facts: as_libraries_read(iss) == as_libraries_read(facts.issuer)),
    ),
    defect(
        "issuer-with-its-path-tidied-up (CHAL-05): Dot segments, needless escapes and slashes in the path "
        "of an issuer do not count.",
        **issuer(lambda iss, facts: with_a_tidy_path(iss) == with_a_tidy_path(facts.issuer)),
    ),
    defect(
        "issuer-if-there-is-one (CHAL-05): A token without an issuer is taken.",
        **issuer(lambda iss, facts: iss is None or iss == facts.issuer),
    ),
    defect(
        "authorization-server-is-an-issuer-too (CHAL-05): The Resource's authorization server is taken for "
        "an issuer.",
        **issuer(lambda iss, facts: iss in (facts.issuer, facts.settings.authorization_server)),
    ),
    defect(
        "issuer-trimmed (CHAL-05): White space around an issuer does not count.",
        **issuer(lambda iss, facts: text(iss).strip() == facts.issuer),
    ),
    defect(
        "audience-unread (CHAL-06 CHAL-08): The audience is not looked at.",
        claim_checks=without(CLAIM_CHECKS, AUDIENCE),
    ),
    defect(
        "audience-may-be-the-service (CHAL-06): A token for the service's own URL is taken.",
        **audience(lambda aud, facts: aud in (facts.settings.indicator, facts.settings.service_url)),
    ),
    defect(
        "audience-by-its-beginning (CHAL-06): An audience that begins like the Resource indicator is taken.",
        **audience(lambda aud, facts: text(aud).startswith(facts.settings.indicator)),
    ),
    defect(
        "audience-contained (CHAL-06): The Resource indicator anywhere in a string of audiences will do.",
        **checks(AUDIENCE, lambda facts: facts.settings.indicator in str(facts.claims.get("aud"))),
    ),
    defect(
        "audience-without-its-slash (CHAL-06): Slashes at the end of an audience do not count.",
        **audience(lambda aud, facts: text(aud).rstrip("/") == facts.settings.indicator.rstrip("/")),
    ),
    defect(
        "audience-in-any-case (CHAL-06): Upper and lower case are the same in an audience.",
        **audience(lambda aud, facts: text(aud).lower() == facts.settings.indicator.lower()),
    ),
    defect(
        "audience-if-there-is-one (CHAL-06): A token without an audience is taken.",
        **audience(lambda aud, facts: aud in (None, facts.settings.indicator)),
    ),
    defect(
        "audience-somewhere-in-a-string (CHAL-06): The Resource indicator is looked for in aud, which finds "
        "it inside of a longer string as well.",
        **checks(AUDIENCE, lambda facts: facts.settings.indicator in (facts.claims.get("aud") or ())),
    ),
    defect(
        "audience-split-at-spaces (CHAL-06): An audience that is one string is split at its spaces, as "
        "scopes are.",
        **checks(
            AUDIENCE,
            lambda facts: (
                facts.settings.indicator in text(facts.claims.get("aud")).split()
                or validation.meant_for_the_merchant_api(facts)
            ),
        ),
    ),
    defect(
        "audience-tidied-up (CHAL-06): Audience and Resource indicator are compared as URLs, each tidied up.",
        **audience(lambda aud, facts: as_browsers_read(aud) == as_browsers_read(facts.settings.indicator)),
    ),
    defect(
        "audience-without-its-query (CHAL-06): What stands behind the path of an audience does not count.",
        **audience(lambda aud, facts: re.split("[?#]", text(aud))[0] == facts.settings.indicator),
    ),
    defect(
        "audience-trimmed (CHAL-06): White space around an audience does not count.",
        **audience(lambda aud, facts: text(aud).strip() == facts.settings.indicator),
    ),
    defect(
        "audience-or-authorized-party (CHAL-06): The Resource indicator in azp, client_id or resource will "
        "do in place of an audience.",
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
        "audience-by-its-host (CHAL-06): Only the host of the audience is compared.",
        **audience(
            lambda aud, facts: urlsplit(text(aud)).hostname == urlsplit(facts.settings.indicator).hostname
        ),
    ),
    defect(
        "audience-may-be-the-resource-id (CHAL-06): A token for the Resource ID is taken.",
        **audience(
            lambda aud, facts: (
                aud in (facts.settings.indicator, facts.settings.authorization_server.rpartition("/")[2])
            )
        ),
    ),
    defect(
        "expiry-unread (CHAL-07): The expiry is not looked at.", claim_checks=without(CLAIM_CHECKS, EXPIRY)
    ),
    defect(
        "expiry-if-there-is-one (CHAL-07): A token without an expiry never expires.",
        **expiring(lambda exp, facts: exp is None or facts.now < exp),
    ),
    defect(
        "expiry-of-zero-is-none (CHAL-07): An expiry of zero is taken for none.",
        **expiring(lambda exp, facts: exp is not None and (not exp or facts.now < exp)),
    ),
    defect(
        "expiry-as-text-never-comes (CHAL-07): An expiry that is text is not looked at.",
        **checks(
            EXPIRY,
            lambda facts: isinstance(facts.claims.get("exp"), str) or validation.not_expired(facts),
        ),
    ),
    defect(
        "expiry-null-is-never (CHAL-07): An expiry that is null is taken for never.",
        **checks(
            EXPIRY,
            lambda facts: facts.claims.get("exp", 0) is None or validation.not_expired(facts),
        ),
    ),
    defect(
        "leeway-of-an-hour (CHAL-07): A token is taken for most of an hour after its expiry.",
        **expiring(lambda exp, facts: exp is not None and facts.now < exp + 3500),
    ),
    defect(
        "leeway-of-five-minutes (CHAL-07): A token is taken for five minutes after its expiry.",
        **expiring(lambda exp, facts: exp is not None and facts.now < exp + 300),
    ),
    defect("accepted-for-ever (CHAL-07): A token that was accepted once never expires.", **accepted_once()),
    defect(
        "claims-looked-at-once (CHAL-05 CHAL-06 CHAL-07 CHAL-08): The claims of a token that comes again "
        "are not looked at, whatever came of the first time.",
        **looked_at_once(),
    ),
    defect("id-token-taken (CHAL-08): A token with a nonce is taken for any audience.", **id_tokens_too()),
    defect(
        "tokens-of-an-hour-at-most (SERVE-01): A token that lives for longer than an hour is refused.",
        **expiring(lambda end, facts: end is not None and facts.now < end < facts.now + 3660),
    ),
    defect(
        "agents-with-names-in-ascii (SERVE-01): An agent whose name is not ASCII is refused.",
        **of_an_agent(lambda agent: not str(agent.get("name", "")).isascii()),
    ),
    defect(
        "agents-with-few-verifications (SERVE-01): An agent of which much is said is refused.",
        **of_an_agent(lambda agent: len(str(agent)) > 2048),
    ),
)
