"""Gateways that take an address for the registered redirect URI that is not quite it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from urllib.parse import unquote, urlsplit

from gateproof.reference.defects.defect import Defect, instead
from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policies import Policies
from gateproof.reference.gateway.policy.authorization import (
    PAGE_CHECKS,
    REDIRECT_CHECKS,
    AuthorizationCheck,
    AuthorizationFacts,
    client_is_known,
    redirect_uri_is_registered,
)
from gateproof.reference.outcomes import Refusal

Alike = Callable[[str, str], bool]


def registered_by(alike: Alike) -> AuthorizationCheck:
    """A check by which an address is registered when it is like one that is."""

    def check(facts: AuthorizationFacts) -> Refusal | None:
        given = facts.value("redirect_uri")
        uris = facts.agent.redirect_uris if facts.agent else ()
        if given and any(given == uri or alike(given, uri) for uri in uris):
            return None
        return redirect_uri_is_registered(facts)

    return check


def taken(name: str, what: str, alike: Alike) -> Defect[Policies]:
    checks = instead(PAGE_CHECKS, redirect_uri_is_registered, registered_by(alike))
    return defect(f"{name} (AUTHZ-06): {what}", page_checks=checks)


def both(change: Callable[[str], str]) -> Alike:
    """Compared after the same change to both."""
    return lambda given, uri: change(given) == change(uri)


def host(url: str) -> str:
    return urlsplit(url).hostname or ""


def without_port(url: str) -> str:
    return re.sub(r":\d+(?=/|$)", "", url)


def resolved(url: str) -> str:
    parts = urlsplit(url)
    return parts._replace(path=posixpath.normpath(parts.path or "/")).geturl()


def any_host_and_any_path(facts: AuthorizationFacts) -> Refusal | None:
    given = urlsplit(facts.value("redirect_uri"))
    known = [urlsplit(uri) for uri in (facts.agent.redirect_uris if facts.agent else ())]
    if any(given[:2] == uri[:2] for uri in known) and any(given[2:] == uri[2:] for uri in known):
        return None
    return redirect_uri_is_registered(facts)


DEFECTS = (
    taken("redirect-by-prefix", "A longer address passes.", lambda given, uri: given.startswith(uri)),
    taken(
        "redirect-below-the-registered-one",
        "An address below the registered one passes.",
        lambda given, uri: given.startswith(uri.rstrip("/") + "/"),
    ),
    taken("redirect-by-suffix", "An address that ends alike passes.", lambda given, uri: given.endswith(uri)),
    taken("redirect-contains", "An address with the registered one in it passes.", lambda g, uri: uri in g),
    taken("redirect-shorter", "A beginning of the registered one passes.", lambda g, uri: uri.startswith(g)),
    taken("redirect-in-any-case", "The case of the path does not count.", both(str.casefold)),
    taken("redirect-trailing-slash", "A slash at the end does not count.", both(lambda url: url.rstrip("/"))),
    taken("redirect-trimmed", "White space around it does not count.", both(str.strip)),
    taken(
        "redirect-empty-query", "A question mark at the end does not count.", both(lambda u: u.rstrip("?"))
    ),
    taken("redirect-slashes-merged", "Slashes are merged.", both(lambda url: re.sub("/+", "/", url))),
    taken("redirect-dots-resolved", "Dot segments are resolved first.", both(resolved)),
    taken("redirect-decoded", "Percent-encoding is undone first.", both(unquote)),
    taken("redirect-decoded-and-resolved", "Both.", both(lambda url: resolved(unquote(url)))),
    taken("redirect-by-host", "Any address on the registered host passes.", both(host)),
    taken(
        "redirect-by-host-and-path",
        "Port, userinfo and query do not count.",
        both(lambda url: host(url) + urlsplit(url).path),
    ),
    taken(
        "redirect-on-sub-domains",
        "Sub-domains of the registered host pass.",
        lambda given, uri: host(given).endswith("." + host(uri)),
    ),
    taken(
        "redirect-on-hosts-that-end-alike",
        "Hosts that end like the registered one pass.",
        lambda given, uri: host(given).endswith(host(uri)),
    ),
    taken("redirect-on-any-port", "The port does not count.", both(without_port)),
    taken("redirect-with-any-query", "The query does not count.", both(lambda url: url.partition("?")[0])),
    taken(
        "redirect-query-in-any-order",
        "The order of the query does not count.",
        both(lambda url: "&".join(sorted(re.split("[?&]", url)))),
    ),
    taken("redirect-with-any-fragment", "A fragment does not count.", both(lambda u: u.partition("#")[0])),
    taken(
        "redirect-with-userinfo",
        "What stands before an @ does not count.",
        both(lambda url: re.sub("//[^/@]*@", "//", url)),
    ),
    taken(
        "redirect-as-a-pattern",
        "The registered address is taken for a regular expression.",
        lambda given, uri: re.fullmatch(uri, given) is not None,
    ),
    taken(
        "redirect-by-wildcard",
        "An asterisk in a registered address stands for anything.",
        lambda given, uri: re.fullmatch(".*".join(map(re.escape, uri.split("*"))), given) is not None,
    ),
    taken("redirect-by-any-scheme", "The scheme does not count.", both(lambda url: url.partition(":")[2])),
    taken("redirect-backslashes", "Back slashes are slashes.", both(lambda url: url.replace("\\", "/"))),
    taken("redirect-cut-at-a-null", "What stands behind %00 is cut off.", both(lambda u: u.split("%00")[0])),
    taken("redirect-path-parameters", "Path parameters do not count.", both(lambda url: url.split(";")[0])),
    taken(
        "redirect-in-a-list-by-commas",
        "A registered address with commas in it is a list of addresses.",
        lambda given, uri: given in uri.split(","),
    ),
    taken(
        "redirect-first-of-a-list",
        "Of two addresses the first one counts.",
        lambda g, uri: g.split()[0] == uri,
    ),
    defect(
        "redirect-mixed (AUTHZ-06): The host of one registered address goes with the path of another.",
        page_checks=instead(PAGE_CHECKS, redirect_uri_is_registered, any_host_and_any_path),
    ),
    defect(
        "redirect-anywhere-with-an-error (AUTHZ-06): The error about an unregistered address is sent to "
        "that address.",
        page_checks=(client_is_known,),
        redirect_checks=(redirect_uri_is_registered, *REDIRECT_CHECKS),
    ),
)
