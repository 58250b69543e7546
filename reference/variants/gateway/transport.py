"""Other legal ways to be reached, to refuse what cannot be read, and to keep a log."""

from __future__ import annotations

import hashlib
import json
import ssl
from dataclasses import replace

from gateproof.reference.deviations.altered_answers import Answered, Asked, meddling
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.variants.variant import variant

ROUTE = "balancer"


def _problems(_: Asked, answered: Answered, __: Gateway) -> Answered:
    """RFC 9457 in place of an OAuth error where OAuth does not ask for one."""
    if answered.status not in {404, 405, 413} or b"error" not in answered.body:
        return answered
    kept = tuple(header for header in answered.headers if header[0] != "content-type")
    members = json.loads(answered.body) | {"title": "This did not work", "status": answered.status}
    return replace(answered, headers=kept, body=json.dumps(members).encode()).with_header(
        "content-type", "application/problem+json"
    )


def _path_in_the_page(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    """A page that says which path there is not."""
    if answered.status != 404 or "html" not in asked.headers.get("accept", ""):
        return answered
    kept = tuple(header for header in answered.headers if header[0] != "content-type")
    page = f"<!doctype html><title>Not found</title><pre>Cannot {asked.method} {asked.path.encode()!r}</pre>"
    return replace(answered, headers=kept, body=page.encode()).with_header("content-type", "text/html")


def _with_charset(_: Asked, answered: Answered, __: Gateway) -> Answered:
    """JSON has one encoding, and says so all the same."""
    if answered.header("content-type") != "application/json":
        return answered
    kept = tuple(header for header in answered.headers if header[0] != "content-type")
    return replace(answered, headers=kept).with_header("content-type", 'Application/JSON; Charset="UTF-8"')


def _with_unknown_members(_: Asked, answered: Answered, __: Gateway) -> Answered:
    """Every object has members that nobody knows, and the known ones the other way round."""
    try:
        members = json.loads(answered.body)
    except ValueError:
        return answered
    if not isinstance(members, dict):
        return answered
    turned = {"x-trace": [None, {"nested": True}], **dict(reversed(members.items())), "\u00fc": 1.5e300}
    return replace(answered, body=json.dumps(turned, indent="\t").encode())


def _for_browsers_that_keep_cookies(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """A load balancer gives a cookie on the first hop, and sends nobody to a page without it."""
    if asked.path.endswith("/oauth2/auth"):
        balanced = f"{ROUTE}=node-7; Path={gateway.base_path or '/'}; Max-Age=600; SameSite=Lax; HttpOnly"
        gone = "old=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT"
        return answered.with_header("set-cookie", balanced).with_header("set-cookie", gone)
    if "/sign-in/" in asked.path and f"{ROUTE}=node-7" not in asked.headers.get("cookie", ""):
        return Answered(status=400, headers=(("content-type", "text/plain"),), body=b"no such node")
    return answered


def _says_who_asked(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    """A client that asked under a name hears the name again."""
    name = asked.headers.get("x-request-id") or hashlib.sha256(asked.body).hexdigest()
    return answered.with_header("x-request-id", name[:64])


def _lets_pages_ask_first(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    """Every OPTIONS is a preflight and is answered like one."""
    if asked.method != "OPTIONS":
        return answered
    headers = (("access-control-allow-origin", "*"), ("access-control-allow-headers", "authorization"))
    return replace(answered, status=204, headers=headers, body=b"")


def _knows_who_asks(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    """A firewall takes whoever does not say what it is for a scanner."""
    if asked.headers.get("user-agent"):
        return answered
    return Answered(status=403, headers=(("content-type", "text/plain"),), body=b"forbidden")


def _shows_people_in(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """The pages of the core want a user, and the token endpoint is a page to whoever comes by GET."""
    if asked.method != "GET" or not asked.path.endswith("/oauth2/token"):
        return answered
    return Answered(status=302, headers=(("location", f"{gateway.core_url}/login"),), body=b"")


def _explains_elsewhere(_: Asked, answered: Answered, __: Gateway) -> Answered:
    """Whoever cannot go on, for a bad request or a Pending agent, reads why on the operator's own site."""
    stuck = b"<form" not in answered.body and answered.header("content-type").startswith("text/html")
    if not stuck or answered.status in range(300, 400):
        return answered
    return Answered(status=303, headers=(("location", "https://help.operator.example/why"),), body=b"")


def _explains_by_code(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """The same, with what is wrong in a parameter that has the name of another."""
    explained = _explains_elsewhere(asked, answered, gateway)
    if explained is answered:
        return answered
    page = "https://help.operator.example/error?code=agent_pending"
    return replace(explained, headers=(("location", page),))


def _logs_fingerprints(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """The log tells credentials apart without holding them."""
    sent = [asked.headers.get(name, "") for name in ("authorization", "x-proxy-token")]
    marks = [hashlib.sha256(value.encode()).hexdigest()[:12] for value in sent if value]
    gateway.log.write(
        f"{asked.method} {answered.status} {len(asked.body)} octets by {' '.join(marks) or '-'}"
    )
    return answered


def _logs_little(_: Asked, answered: Answered, gateway: Gateway) -> Answered:
    gateway.log.drain()
    gateway.log.write("asked and answered")
    return answered


def _with_a_language(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """A cookie that scripts read, and that says nothing of who is signed in."""
    if not asked.path.endswith("/oauth2/auth"):
        return answered
    return answered.with_header("set-cookie", f"language=en; Path={gateway.base_path or '/'}")


VARIANTS = (
    variant(
        "language-in-a-cookie: scripts may read a cookie with the language", around=meddling(_with_a_language)
    ),
    variant("tls-1.3-alone: nothing older than TLS 1.3 is spoken", oldest_tls=ssl.TLSVersion.TLSv1_3),
    variant("errors-as-problems: 404, 405 and 413 are problem documents", around=meddling(_problems)),
    variant(
        "path-on-the-error-page: a page for a missing path names the path",
        around=meddling(_path_in_the_page),
    ),
    variant("charset-everywhere: JSON answers name their charset", around=meddling(_with_charset)),
    variant(
        "unknown-members-everywhere: every JSON object has unknown members, in another order",
        around=meddling(_with_unknown_members),
    ),
    variant(
        "cookie-on-the-first-hop: sign-in takes a cookie that the first redirect gave",
        around=meddling(_for_browsers_that_keep_cookies),
    ),
    variant(
        "reasons-on-another-site: a browser that cannot go on is sent to the operator's own site",
        around=meddling(_explains_elsewhere),
    ),
    variant(
        "reasons-by-code-on-another-site: a browser that cannot go on is sent to the operator's own site "
        "with an error's code in `code`",
        around=meddling(_explains_by_code),
    ),
    variant("request-id-repeated: every answer repeats the request's ID", around=meddling(_says_who_asked)),
    variant(
        "tokens-by-get-after-a-sign-in: a GET at the token endpoint is sent to a sign-in page",
        around=meddling(_shows_people_in),
    ),
    variant(
        "nobody-without-a-name: a request without a User-Agent is answered with 403",
        around=meddling(_knows_who_asks),
    ),
    variant(
        "preflight-everywhere: every OPTIONS is answered with 204", around=meddling(_lets_pages_ask_first)
    ),
    variant(
        "fingerprints-in-the-log: the log has digests of credentials", around=meddling(_logs_fingerprints)
    ),
    variant(
        "access-log-with-queries: the log has the request lines, queries included",
        logged_path=lambda path, query: f"{path}?{query}" if query else path,
    ),
    variant("terse-log: the log says of a request that there was one", around=meddling(_logs_little)),
)
