"""Gateways that compare the Resource indicator inexactly, or accept an invalid body for it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unicodedata import normalize
from urllib.parse import parse_qs, unquote, urlsplit

from gateproof.reference.defects.defect import Defect, without
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policies import Policies
from gateproof.reference.gateway.policy import redemption
from gateproof.reference.gateway.policy.redemption import REDEMPTION_CHECKS, RawBody, RedemptionFacts
from gateproof.reference.gateway.records import Resource
from gateproof.reference.outcomes import Refusal, json_in


def matching(
    same: Callable[[str, str], bool], *, among: Callable[[RedemptionFacts, Resource], bool] | None = None
) -> Callable[[RedemptionFacts], Resource | None]:
    """Finds a Resource by this comparison, by default only the Resource of the access token."""

    def found(facts: RedemptionFacts) -> Resource | None:
        asked = facts.indicator
        for resource in facts.resources:
            meant = (
                among(facts, resource) if among else facts.grant and resource.id == facts.grant.resource_id
            )
            if meant and isinstance(asked, str) and same(resource.indicator, asked):
                return resource
        return None

    return found


def alike(form: Callable[[str], str]) -> Callable[[RedemptionFacts], Resource | None]:
    return matching(lambda indicator, asked: form(indicator) == form(asked))


def as_url(text: str) -> str:
    """Scheme and host in lower case, without default port and fragment."""
    try:
        parts = urlsplit(text)
        port = "" if parts.port in (None, 443) else f":{parts.port}"
    except ValueError:
        return text
    return f"{parts.scheme.lower()}://{(parts.hostname or '').lower()}{port}{parts.path}?{parts.query}"


def host_without_user(text: str) -> str:
    return text.replace(urlsplit(text).netloc, urlsplit(text).netloc.rpartition("@")[2], 1)


def own_resource(facts: RedemptionFacts) -> Resource | None:
    return next(
        (each for each in facts.resources if facts.grant and each.id == facts.grant.resource_id), None
    )


def own_unless_named(facts: RedemptionFacts) -> Resource | None:
    """Without an indicator, the Resource of the access token."""
    return redemption.redeemed_resource(facts) if facts.indicator else own_resource(facts)


def by_id_too(facts: RedemptionFacts) -> Resource | None:
    own = own_resource(facts)
    return own if own and facts.indicator == own.id else redemption.redeemed_resource(facts)


def reading(read: Callable[[RawBody], Any]) -> Callable[[RawBody], Any]:
    """Reads the body with `read` if the correct way finds no indicator."""

    def body(raw: RawBody) -> Any:
        value = redemption.redemption_body(raw)
        named = isinstance(value, dict) and isinstance(value.get("resource"), str)
        return value if named else read(raw)

    return body


def first_of_a_list(raw: RawBody) -> Any:
    value = json_in(raw.octets)
    resource = value.get("resource") if isinstance(value, dict) else None
    return {"resource": resource[0]} if isinstance(resource, list) and resource else value


def from_a_form(raw: RawBody) -> Any:
    names = parse_qs(raw.octets.decode("utf-8", "replace")).get("resource")
    return {"resource": names[0]} if names and raw.media_type != "application/json" else None


def from_the_query(raw: RawBody) -> Any:
    return {"resource": dict(raw.query).get("resource")}


def whole_body(raw: RawBody) -> Any:
    value = json_in(raw.octets)
    return {"resource": value} if isinstance(value, str) else value


def up_to_the_brace(raw: RawBody) -> Any:
    return json_in(raw.octets.rstrip(b"}") + b"}")


def not_found(status: int) -> Callable[[], Refusal]:
    return lambda: replace(redemption.resource_not_found(), status=status)


BODY_UNREAD = without(REDEMPTION_CHECKS, redemption.resource_is_named)


def loosely(name: str, what: str, form: Callable[[str], str]) -> Defect[Policies]:
    return defect(f"indicator-{name} (REDEEM-09): {what}", redeemed_resource=alike(form))


DEFECTS = (
    loosely(
        "without-trailing-slash",
        "A trailing slash of the indicator is ignored.",
        lambda text: text.rstrip("/"),
    ),
    loosely("in-any-case", "Indicators are compared case-insensitively.", str.lower),
    loosely("as-a-url", "Indicators are compared as normalized URLs.", as_url),
    loosely("decoded", "Indicators are percent-decoded before they are compared.", unquote),
    loosely("trimmed", "Whitespace around the indicator is ignored.", str.strip),
    loosely("in-nfkc", "Indicators are compared in Unicode form NFKC.", lambda text: normalize("NFKC", text)),
    loosely("in-nfc", "Indicators are compared in Unicode form NFC.", lambda text: normalize("NFC", text)),
    loosely("without-query", "The indicator's query is ignored.", lambda text: text.partition("?")[0]),
    loosely("without-fragment", "The indicator's fragment is ignored.", lambda text: text.partition("#")[0]),
    loosely(
        "without-scheme", "The indicator's scheme is ignored.", lambda text: text.partition("://")[2] or text
    ),
    loosely("without-user", "User information in the indicator is ignored.", host_without_user),
    loosely(
        "up-to-a-null", "The indicator is cut at a null character.", lambda text: text.partition("\0")[0]
    ),
    loosely(
        "with-escapes-in-capitals",
        "Percent-escapes in the indicator are compared case-insensitively.",
        lambda text: re.sub("%[0-9a-fA-F]{2}", lambda found: found[0].upper(), text),
    ),
    loosely("cut-at-255", "Only the indicator's first 255 characters are compared.", lambda text: text[:255]),
    defect(
        "indicator-by-its-beginning (REDEEM-09): The gateway accepts every text that begins with the "
        "Resource indicator.",
        redeemed_resource=matching(lambda indicator, asked: asked.startswith(indicator)),
    ),
    defect(
        "indicator-by-a-part (REDEEM-09): The gateway accepts any part of the Resource indicator.",
        redeemed_resource=matching(lambda indicator, asked: bool(asked) and asked in indicator),
    ),
    defect(
        "indicator-not-looked-at (REDEEM-09 REDEEM-12 ROBUST-04): The gateway ignores the body and redeems "
        "the Resource of the access token.",
        redeemed_resource=own_resource,
    ),
    defect(
        "resource-by-its-id (REDEEM-09): The gateway also accepts the Resource ID instead of the Resource "
        "indicator.",
        redeemed_resource=by_id_too,
    ),
    defect(
        "unknown-resource-is-400 (REDEEM-09): The gateway answers 400 to an unknown Resource indicator.",
        resource_not_found=not_found(400),
    ),
    defect(
        "unknown-resource-is-403 (REDEEM-09): The gateway answers 403 to an unknown Resource indicator.",
        resource_not_found=not_found(403),
    ),
    defect(
        "empty-resource-is-the-tokens-own (REDEEM-09): An empty resource redeems the Resource of the access "
        "token.",
        redeemed_resource=own_unless_named,
        redemption_checks=REDEMPTION_CHECKS,
    ),
    defect(
        "no-resource-is-the-tokens-own (REDEEM-14 REDEEM-09): A body without resource redeems the Resource "
        "of the access token.",
        redemption_checks=BODY_UNREAD,
        redemption_rechecks=BODY_UNREAD,
        redeemed_resource=own_unless_named,
    ),
    defect(
        "first-resource-of-a-list (REDEEM-14): If resource is a list, the gateway uses its first element.",
        redemption_body=reading(first_of_a_list),
    ),
    defect(
        "redemption-by-form (REDEEM-14): The gateway also reads the Resource indicator from a form.",
        redemption_body=reading(from_a_form),
    ),
    defect(
        "redemption-by-query (REDEEM-14): The gateway also reads the Resource indicator from the query.",
        redemption_body=reading(from_the_query),
    ),
    defect(
        "bare-string-as-resource (REDEEM-14): The gateway also accepts a body that is only the Resource "
        "indicator as a JSON string.",
        redemption_body=reading(whole_body),
    ),
    defect(
        "broken-json-is-mended (REDEEM-14): The gateway repairs a JSON body that has no closing brace or "
        "too many.",
        redemption_body=reading(up_to_the_brace),
    ),
)
