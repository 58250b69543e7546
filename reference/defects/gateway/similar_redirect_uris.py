"""Gateways that accept a redirect URI which is only similar to a registered one."""

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


def accepted_if_alike(alike: Alike) -> AuthorizationCheck:
    """A check that also accepts a redirect URI if it is `alike` to a registered one."""

    def check(facts: AuthorizationFacts) -> Refusal | None:
        given = facts.value("redirect_uri")
        uris = facts.agent.redirect_uris if facts.agent else ()
        if given and any(given == uri or alike(given, uri) for uri in uris):
            return None
        return redirect_uri_is_registered(facts)

    return check


def taken(name: str, what: str, alike: Alike) -> Defect[Policies]:
    checks = instead(PAGE_CHECKS, redirect_uri_is_registered, accepted_if_alike(alike))
    return defect(f"{name} (AUTHZ-06): {what}", page_checks=checks)


def both(change: Callable[[str], str]) -> Alike:
    """Compares after the same change to both."""
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
    taken(
        "redirect-by-prefix",
        "A URI that begins with the registered one is accepted.",
        lambda given, uri: given.startswith(uri),
    ),
    taken(
        "redirect-cut-in-the-database",
        "The first 255 characters of a registered URI are accepted, because only they are stored.",
        lambda given, uri: given == uri[:255],
    ),
    taken(
        "redirect-below-the-registered-one",
        "A URI below the registered one is accepted.",
        lambda given, uri: given.startswith(uri.rstrip("/") + "/"),
    ),
    taken(
        "redirect-by-suffix",
        "A URI that ends with the registered one is accepted.",
        lambda given, uri: given.endswith(uri),
    ),
    taken(
        "redirect-contains", "A URI that contains the registered one is accepted.", lambda g, uri: uri in g
    ),
    taken(
        "redirect-shorter", "A prefix of the registered URI is accepted.", lambda g, uri: uri.startswith(g)
    ),
    taken("redirect-in-any-case", "The comparison is case-insensitive.", both(str.casefold)),
    taken("redirect-trailing-slash", "A trailing slash is ignored.", both(lambda url: url.rstrip("/"))),
    taken("redirect-trimmed", "Whitespace around the URI is ignored.", both(str.strip)),
    taken("redirect-empty-query", "A trailing question mark is ignored.", both(lambda u: u.rstrip("?"))),
    taken(
        "redirect-slashes-merged", "Consecutive slashes are merged.", both(lambda url: re.sub("/+", "/", url))
    ),
    taken("redirect-dots-resolved", "Dot segments are resolved before the comparison.", both(resolved)),
    taken("redirect-decoded", "URIs are percent-decoded before the comparison.", both(unquote)),
    taken(
        "redirect-decoded-and-resolved",
        "URIs are decoded, then dot segments resolved.",
        both(lambda url: resolved(unquote(url))),
    ),
    taken("redirect-by-host", "Only the host is compared.", both(host)),
    taken(
        "redirect-by-host-and-path",
        "Only host and path are compared.",
        both(lambda url: host(url) + urlsplit(url).path),
    ),
    taken(
        "redirect-on-sub-domains",
        "Sub-domains of the registered host are accepted.",
        lambda given, uri: host(given).endswith("." + host(uri)),
    ),
    taken(
        "redirect-on-hosts-that-end-alike",
        "Hosts that end with the registered host are accepted.",
        lambda given, uri: host(given).endswith(host(uri)),
    ),
    taken("redirect-on-any-port", "The port is ignored.", both(without_port)),
    taken("redirect-with-any-query", "The query is ignored.", both(lambda url: url.partition("?")[0])),
    taken(
        "redirect-query-in-any-order",
        "The order of query parameters is ignored.",
        both(lambda url: "&".join(sorted(re.split("[?&]", url)))),
    ),
    taken("redirect-with-any-fragment", "The fragment is ignored.", both(lambda u: u.partition("#")[0])),
    taken(
        "redirect-with-userinfo",
        "User information before an @ is ignored.",
        both(lambda url: re.sub("//[^/@]*@", "//", url)),
    ),
    taken(
        "redirect-as-a-pattern",
        "The registered URI is used as a regular expression.",
        lambda given, uri: re.fullmatch(uri, given) is not None,
    ),
    taken(
        "redirect-by-wildcard",
        "An asterisk in a registered URI is a wildcard.",
        lambda given, uri: re.fullmatch(".*".join(map(re.escape, uri.split("*"))), given) is not None,
    ),
    taken("redirect-by-any-scheme", "The scheme is ignored.", both(lambda url: url.partition(":")[2])),
    taken("redirect-backslashes", "Backslashes count as slashes.", both(lambda url: url.replace("\\", "/"))),
    taken("redirect-cut-at-a-null", "URIs are cut at %00.", both(lambda u: u.split("%00")[0])),
    taken("redirect-path-parameters", "Path parameters are ignored.", both(lambda url: url.split(";")[0])),
    taken(
        "redirect-in-a-list-by-commas",
        "A registered URI with commas is used as a list of URIs.",
        lambda given, uri: given in uri.split(","),
    ),
    taken(
        "redirect-first-of-a-list",
        "Of several URIs, only the first one is compared.",
        lambda g, uri: g.split()[0] == uri,
    ),
    defect(
        "redirect-mixed (AUTHZ-06): The gateway accepts the host of one registered URI with the path of "
        "another.",
        page_checks=instead(PAGE_CHECKS, redirect_uri_is_registered, any_host_and_any_path),
    ),
    defect(
        "redirect-anywhere-with-an-error (AUTHZ-06): The gateway redirects the error about an unregistered "
        "redirect URI to that URI.",
        page_checks=(client_is_known,),
        redirect_checks=(redirect_uri_is_registered, *REDIRECT_CHECKS),
    ),
)
