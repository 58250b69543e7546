"""Services that hand on headers of the merchant's API from answers without an error."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from gateproof.reference.defects.service.row import defect
from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy import answers, redemption
from gateproof.reference.service.policy.redemption import CallFacts
from gateproof.reference.service.wire import Answer, Outcome, Reply

# Headers of the body and the connection, which a proxy sets itself.
_OWN = frozenset(
    {
        "cache-control",
        "connection",
        "content-encoding",
        "content-length",
        "content-type",
        "date",
        "server",
        "transfer-encoding",
    }
)


def headers_of_the_orders() -> dict[str, Any]:
    """`for (const [name, value] of answer.headers) res.setHeader(name, value)`."""
    latest: ContextVar[Mapping[str, str]] = ContextVar("latest")

    def orders_in(facts: CallFacts, answer: Answer) -> list[Any] | None:
        latest.set(answer.headers)
        return redemption.orders_in(facts, answer)

    def change(_asked: Asked, answered: Answered, _backend: Backend) -> Answered:
        more = latest.get({}).items() if answered.status == 200 else ()
        return replace(answered, headers=(*answered.headers, *(pair for pair in more if pair[0] not in _OWN)))

    return {"orders_in": orders_in, "around": altering_answers(change)}


def redirect_relayed(outcome: Outcome) -> Reply:
    """A redirect of the merchant's API is the answer to the agent."""
    reply, trouble = answers.answer_of(outcome), outcome.trouble
    answer = trouble.answer if trouble is not None else None
    location = answer.headers.get("location") if answer is not None else None
    if answer is None or location is None:
        return reply
    return replace(reply, status=answer.status, headers=(*reply.headers, ("location", location)))


DEFECTS = (
    defect(
        "headers-of-the-orders-relayed (SECRET-02): The answer with the orders has all headers of the "
        "merchant's answer.",
        **headers_of_the_orders(),
    ),
    defect(
        "redirect-relayed (SECRET-06 SECRET-02): The service hands a redirect of gateway or merchant on to "
        "the agent.",
        answer_of=redirect_relayed,
    ),
)
