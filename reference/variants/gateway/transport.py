"""Other legal TLS versions, errors, headers, cookies and logs."""

from __future__ import annotations

import hashlib
import json
import ssl
from dataclasses import replace

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.gateway.gateway import Gateway
from gateproof.reference.variants.variant import variant

ROUTE = "balancer"


def _problems(_: Asked, answered: Answered, __: Gateway) -> Answered:
    """Returns problem documents (RFC 9457) where OAuth does not prescribe an error."""
    if answered.status not in {404, 405, 413} or b"error" not in answered.body:
        return answered
    kept = tuple(header for header in answered.headers if header[0] != "content-type")
    members = json.loads(answered.body) | {"title": "This did not work", "status": answered.status}
    return replace(answered, headers=kept, body=json.dumps(members).encode()).with_header(
        "content-type", "application/problem+json"
    )


def _path_in_the_page(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    """Shows an error page that contains the unknown path."""
    if answered.status != 404 or "html" not in asked.headers.get("accept", ""):
        return answered
    kept = tuple(header for header in answered.headers if header[0] != "content-type")
    page = f"<!doctype html><title>Not found</title><pre>Cannot {asked.method} {asked.path.encode()!r}</pre>"
    return replace(answered, headers=kept, body=page.encode()).with_header("content-type", "text/html")


def _with_charset(_: Asked, answered: Answered, __: Gateway) -> Answered:
    """Adds a charset to JSON, which has only one encoding anyway."""
    if answered.header("content-type") != "application/json":
        return answered
    kept = tuple(header for header in answered.headers if header[0] != "content-type")
    return replace(answered, headers=kept).with_header("content-type", 'Application/JSON; Charset="UTF-8"')


def _with_unknown_members(_: Asked, answered: Answered, __: Gateway) -> Answered:
    """Adds unknown members to every object, and reverses the order of the known ones."""
    try:
        members = json.loads(answered.body)
    except ValueError:
        return answered
    if not isinstance(members, dict):
        return answered
    turned = {"x-trace": [None, {"nested": True}], **dict(reversed(members.items())), "\u00fc": 1.5e300}
    return replace(answered, body=json.dumps(turned, indent="\t").encode())


def _for_browsers_that_keep_cookies(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """Sets a load balancer's cookie at the first redirect, and refuses sign-in without it."""
    if asked.path.endswith("/oauth2/auth"):
        balanced = f"{ROUTE}=node-7; Path={gateway.base_path or '/'}; Max-Age=600; SameSite=Lax; HttpOnly"
        gone = "old=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT"
        return answered.with_header("set-cookie", balanced).with_header("set-cookie", gone)
    if "/sign-in/" in asked.path and f"{ROUTE}=node-7" not in asked.headers.get("cookie", ""):
        return Answered(status=400, headers=(("content-type", "text/plain"),), body=b"no such node")
    return answered


def _from_own_pages(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    """Accepts forms of its own pages only, as the browser says in Sec-Fetch-Site."""
    is_form = asked.method == "POST" and "/sign-in/" in asked.path and not asked.path.endswith("/callback")
    if is_form and asked.headers.get("sec-fetch-site") != "same-origin":
        return Answered(status=403, headers=(("content-type", "text/plain"),), body=b"cross-origin request")
    return answered


def _says_who_asked(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    """Returns the request ID of the client, or a hash of the body."""
    name = asked.headers.get("x-request-id") or hashlib.sha256(asked.body).hexdigest()
    return answered.with_header("x-request-id", name[:64])


def _lets_pages_ask_first(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    """Answers every OPTIONS as a CORS preflight."""
    if asked.method != "OPTIONS":
        return answered
    headers = (("access-control-allow-origin", "*"), ("access-control-allow-headers", "authorization"))
    return replace(answered, status=204, headers=headers, body=b"")


def _knows_who_asks(asked: Asked, answered: Answered, _: Gateway) -> Answered:
    """Refuses requests without a User-Agent, like a firewall that takes them for scanners."""
    if asked.headers.get("user-agent"):
        return answered
    return Answered(status=403, headers=(("content-type", "text/plain"),), body=b"forbidden")


def _shows_people_in(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """Redirects a GET at the token endpoint to a sign-in page."""
    if asked.method != "GET" or not asked.path.endswith("/oauth2/token"):
        return answered
    return Answered(status=302, headers=(("location", f"{gateway.core_url}/login"),), body=b"")


def _explains_elsewhere(_: Asked, answered: Answered, __: Gateway) -> Answered:
    """Redirects a browser that cannot continue to an explanation on the operator's own site."""
    stuck = b"<form" not in answered.body and answered.header("content-type").startswith("text/html")
    if not stuck or answered.status in range(300, 400):
        return answered
    return Answered(status=303, headers=(("location", "https://help.operator.example/why"),), body=b"")


def _explains_by_code(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """Redirects in the same way, with the error in a parameter that is called `code`."""
    explained = _explains_elsewhere(asked, answered, gateway)
    if explained is answered:
        return answered
    page = "https://help.operator.example/error?code=agent_pending"
    return replace(explained, headers=(("location", page),))


def _logs_fingerprints(asked: Asked, answered: Answered, gateway: Gateway) -> Answered:
    """Logs hashes of credentials instead of the credentials."""
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
    """Sets a cookie that scripts can read and that says nothing about the user."""
    if not asked.path.endswith("/oauth2/auth"):
        return answered
    return answered.with_header("set-cookie", f"language=en; Path={gateway.base_path or '/'}")


def _by_content_length(app: ASGIApp, _gateway: Gateway) -> ASGIApp:
    """Reads as much of a body as Content-Length announces: nothing of a chunked one."""

    async def read(scope: Scope, receive: Receive, send: Send) -> None:
        if b"transfer-encoding" not in dict(scope.get("headers", ())):
            await app(scope, receive, send)
            return
        while (await receive()).get("more_body"):
            pass
        await app(scope, _nothing, send)

    return read


async def _nothing() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


VARIANTS = (
    variant(
        "bodies-by-content-length: the gateway takes a chunked request for one without a body",
        around=_by_content_length,
    ),
    variant(
        "language-in-a-cookie: the gateway sets a language cookie that scripts can read",
        around=altering_answers(_with_a_language),
    ),
    variant("tls-1.3-alone: the gateway speaks only TLS 1.3", oldest_tls=ssl.TLSVersion.TLSv1_3),
    variant(
        "errors-as-problems: 404, 405 and 413 have problem documents (RFC 9457)",
        around=altering_answers(_problems),
    ),
    variant(
        "path-on-the-error-page: the error page for an unknown path contains the path",
        around=altering_answers(_path_in_the_page),
    ),
    variant("charset-everywhere: JSON responses have a charset", around=altering_answers(_with_charset)),
    variant(
        "unknown-members-everywhere: every JSON object has unknown members, in another order",
        around=altering_answers(_with_unknown_members),
    ),
    variant(
        "cookie-on-the-first-hop: sign-in requires a cookie that the first redirect sets",
        around=altering_answers(_for_browsers_that_keep_cookies),
    ),
    variant(
        "forms-by-sec-fetch-site: a form is accepted only with the header Sec-Fetch-Site: same-origin",
        around=altering_answers(_from_own_pages),
    ),
    variant(
        "reasons-on-another-site: the gateway redirects a browser that cannot continue to the operator's "
        "own site",
        around=altering_answers(_explains_elsewhere),
    ),
    variant(
        "reasons-by-code-on-another-site: the gateway redirects a browser that cannot continue to the "
        "operator's own site, with an error in the parameter `code`",
        around=altering_answers(_explains_by_code),
    ),
    variant(
        "request-id-repeated: every answer repeats the request's ID", around=altering_answers(_says_who_asked)
    ),
    variant(
        "tokens-by-get-after-a-sign-in: the gateway redirects a GET at the token endpoint to a sign-in page",
        around=altering_answers(_shows_people_in),
    ),
    variant(
        "nobody-without-a-name: a request without a User-Agent gets status 403",
        around=altering_answers(_knows_who_asks),
    ),
    variant(
        "preflight-everywhere: every OPTIONS request gets status 204",
        around=altering_answers(_lets_pages_ask_first),
    ),
    variant(
        "fingerprints-in-the-log: the gateway logs hashes of credentials",
        around=altering_answers(_logs_fingerprints),
    ),
    variant(
        "access-log-with-queries: the gateway logs queries, too",
        logged_path=lambda path, query: f"{path}?{query}" if query else path,
    ),
    variant(
        "terse-log: the gateway logs the same line for every request", around=altering_answers(_logs_little)
    ),
)
