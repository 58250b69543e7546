"""Other legal ways for a service to handle requests of other sites, by their Host and Origin."""

from __future__ import annotations

from gateproof.reference.deviations.altered_answers import Answered, Asked, altering_answers
from gateproof.reference.service.backend import Backend
from gateproof.reference.service.policy.origins import refusal_of_another_site
from gateproof.reference.service.wire import Asked as AskedService
from gateproof.reference.variants.variant import mcp_variant, variant


def _with_a_token(asked: AskedService) -> int | None:
    return refusal_of_another_site(asked) if asked.headers_named("authorization") else None


def _refused_everywhere(asked: Asked, answered: Answered, _backend: Backend) -> Answered:
    """Refuses a foreign Host or Origin at every path, so also for the metadata and with plain HTTP."""
    given = AskedService(method=asked.method, path=asked.path, headers=tuple(asked.headers.items()))
    status = refusal_of_another_site(given)
    return answered if status is None else Answered(status=status, headers=(), body=b"")


VARIANTS = (
    mcp_variant(
        "other-sites-served: the service accepts every Origin and Host, because each call needs a token "
        "anyway",
        refusal_of_another_site=lambda _asked: None,
    ),
    mcp_variant(
        "other-sites-challenged: the service answers with the challenge to a request of another site "
        "without a token, and refuses it with a token",
        refusal_of_another_site=_with_a_token,
    ),
    variant(
        "other-sites-refused-everywhere: the service refuses a foreign Origin or Host at every path",
        around=altering_answers(_refused_everywhere),
    ),
)
