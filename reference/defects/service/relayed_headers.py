"""Services that hand on headers: of gateway or merchant to the agent, or of the agent to the gateway."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gateproof.reference.defects.service.row import defect
from gateproof.reference.service.policy import answers, redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Outcome, Outgoing, Reply

PROXY_TOKEN = "x-proxy-token"  # noqa: S105 - a header
# Those that describe the body or the connection.
_OF_THE_BODY = ("content-length", "content-type", "transfer-encoding", "date", "server", "connection")


def refusal_relayed(outcome: Outcome) -> Reply:
    """`res.status(401).set("WWW-Authenticate", upstream.headers["www-authenticate"])`."""
    reply, trouble = answers.answer_of(outcome), outcome.trouble
    answer = trouble.answer if trouble is not None else None
    if answer is None or answer.status != 401:
        return reply
    return replace(
        reply,
        status=401,
        headers=(*reply.headers, ("www-authenticate", answer.headers.get("www-authenticate", "Bearer"))),
    )


def without_trouble(reply: Reply, outcome: Outcome) -> bool:
    """The service adds its own challenge, except to a refusal of another party."""
    return reply.status == 401 and outcome.trouble is None


def headers_relayed(outcome: Outcome) -> Reply:
    """The error has all headers of the failed answer, as a reverse proxy has them."""
    reply, trouble = answers.answer_of(outcome), outcome.trouble
    answer = trouble.answer if trouble is not None else None
    own = {name for name, _ in reply.headers} | {*_OF_THE_BODY, "www-authenticate"}
    more = [(name, value) for name, value in answer.headers.items() if name not in own] if answer else []
    return replace(reply, headers=(*reply.headers, *more))


def sent_with(own: Callable[[str, str], str]) -> Callable[[CallFacts], Outgoing]:
    """The Proxy token header is made from the agent's, if it sent one, and the service's own."""

    def request(facts: CallFacts) -> Outgoing:
        asked = redemption.redemption_request(facts)
        given = facts.asked.headers_named(PROXY_TOKEN)
        if not given:
            return asked
        return replace(asked, headers={**asked.headers, PROXY_TOKEN: own(given[0], facts.proxy_token)})

    return request


DEFECTS = (
    defect(
        "challenge-of-the-other-party (CHAL-02): If gateway or merchant answers 401, the agent gets the "
        "challenge of that party.",
        answer_of=refusal_relayed,
        challenged=without_trouble,
    ),
    defect(
        "error-headers-relayed (SECRET-06 SECRET-02 SECRET-03 SECRET-04): The error to the agent has all "
        "headers of the answer of gateway or merchant.",
        answer_of=headers_relayed,
    ),
    defect(
        "callers-proxy-token (BACK-04): The service redeems with the X-Proxy-Token of the agent's request, "
        "if there is one.",
        redemption_request=sent_with(lambda given, _: given),
    ),
    defect(
        "callers-proxy-token-joined (BACK-04): The service adds its Proxy token to the headers of the "
        "agent's request, so that two are joined by a comma.",
        redemption_request=sent_with(lambda given, own: f"{given}, {own}"),
    ),
)
