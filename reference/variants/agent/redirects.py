"""Other legal ways for an agent to handle redirects."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import SplitResult, urlsplit

from gateproof.reference.agent.wire import Answer, Outgoing, redirected
from gateproof.reference.variants.variant import variant

_OF_THE_CALL = ("authorization", "content-type", "content-length")


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port


def _within_its_origin(asked: Outgoing, answer: Answer) -> Outgoing | None:
    """Follows a redirect within the same origin with everything that was sent."""
    url = redirected(asked, answer)
    same = url is not None and _origin(urlsplit(url)) == _origin(urlsplit(asked.url))
    return replace(asked, url=url) if url and same and asked.method == "GET" else None


def _without_the_token(asked: Outgoing, answer: Answer) -> Outgoing | None:
    """Follows redirects to another origin without the Authorization header, as a browser's fetch does."""
    url = redirected(asked, answer)
    if url is None or asked.method != "GET":
        return None
    further = _within_its_origin(asked, answer)
    left = {name: value for name, value in asked.headers.items() if name.lower() not in _OF_THE_CALL}
    return further or replace(asked, url=url, headers=left)


VARIANTS = (
    variant(
        "follows-redirects-within-the-service: the agent follows redirects of a GET to the same origin",
        followed=_within_its_origin,
    ),
    variant(
        "follows-redirects-without-the-token: the agent follows every redirect of a GET, to another origin "
        "without the token",
        followed=_without_the_token,
    ),
)
