"""The HTML pages: a sign-in form, in tidy or sloppy HTML that browsers accept."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from starlette.responses import Response

from gateproof.fakes.merchant.shape import Shape, path_of

PAGE_HEADERS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
}


def sign_in_page(shape: Shape, ticket: str, *, message: str | None = None, status: int = 200) -> Response:
    """The form: `username`, `password`, one submit button, and the ticket as a hidden field."""
    page = shape.page
    url = shape.endpoints.sign_in
    action = escape(url if page.absolute_action else path_of(url))
    hidden = (*page.extra_hidden, (page.ticket_name, ticket))
    write = _sloppy if page.sloppy else _tidy
    answer = Response(
        write(shape, action, hidden, escape(message or "")), status, PAGE_HEADERS, "text/html; charset=utf-8"
    )
    if shape.sets_cookie:
        secure = url.startswith("https:")
        answer.set_cookie("m.visit", "1", httponly=True, secure=secure, samesite="lax")
    return answer


def form_post_page(action: str, pairs: Iterable[tuple[str, str]]) -> Response:
    """The answer to the client as a form; its user presses the button, so no script is needed."""
    body = (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Signed in</title></head>\n'
        f'<body><form method="post" action="{escape(action)}">\n{_hidden(pairs)}\n'
        '<button type="submit">Continue</button></form></body></html>\n'
    )
    return Response(
        body.encode(errors="surrogateescape"), 200, PAGE_HEADERS, media_type="text/html; charset=utf-8"
    )


def problem_page(message: str) -> Response:
    """An error page, for a request that cannot be redirected back to the client."""
    body = f"<!doctype html><title>Problem</title><p>{escape(message)}</p>"
    return Response(body, 400, PAGE_HEADERS, "text/html; charset=utf-8")


def _hidden(pairs: Iterable[tuple[str, str]]) -> str:
    return "\n".join(
        f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">' for name, value in pairs
    )


def _tidy(shape: Shape, action: str, hidden: tuple[tuple[str, str], ...], message: str) -> str:
    text = escape(shape.page.button_text)
    button = (
        f'<button type="submit">{text}</button>'
        if shape.page.button_element
        else f'<input type="submit" value="{text}">'
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Merchant sign-in</title></head>
<body><h1>Sign in</h1>{f'<p role="alert">{message}</p>' if message else ""}
<form method="post" action="{action}" autocomplete="on" data-step="1">
{_hidden(hidden)}
<label>Login <input type="text" name="username" autocomplete="username" required></label>
<label>Password <input type="password" name="password" autocomplete="current-password" required></label>
{button}
</form></body></html>
"""


def _sloppy(shape: Shape, action: str, hidden: tuple[tuple[str, str], ...], message: str) -> str:
    """HTML that every browser accepts: upper case, no quotes, no end tags, no head."""
    fields = "".join(
        f"<INPUT NAME='{escape(name)}' TYPE=hidden VALUE='{escape(value)}'>" for name, value in hidden
    )
    text = escape(shape.page.button_text)
    button = (
        f"<BUTTON>{text}</BUTTON>" if shape.page.button_element else f"<INPUT TYPE=submit VALUE='{text}'>"
    )
    return f"""<TITLE>Merchant sign-in</TITLE>
<!-- two > one, and 'quotes" -->
<CENTER><P>Sign in{f"<P><FONT COLOR=red>{message}" if message else ""}
<FORM ACTION='{action}' METHOD=Post AUTOCOMPLETE=on>
<P>Login<BR><INPUT AUTOFOCUS NAME=username SIZE=40>
<P>Password<BR><INPUT NAME=password TYPE=PASSWORD SIZE=40>
{fields}<P>{button}</FORM>
"""
