"""Opening the stream of an MCP session, and ending the session, require the same token as a call."""

from __future__ import annotations

from urllib.parse import quote

from gateproof.conformance.checks.service._altered_tokens import USER, expired, for_another_audience
from gateproof.conformance.checks.service._ended_sessions import ends_nothing
from gateproof.conformance.kit.service.mcp_session import ServiceSession, is_a_stream, session_of
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect
from gateproof.conformance.wire.secret import Secret
from gateproof.fakes.gateway.keys import new_key, signed

STREAM, END = "stream", "end"
# Parameters for a token from clients that can set no header, such as a browser's EventSource.
_PARAMETERS = ("access_token", "token")


@check("CHAL-03", cases=(STREAM, END))
def token_in_the_address_opens_and_ends_nothing(service: Service, world: ServiceWorld, case: str) -> None:
    """A good token in the query opens no event stream of a session, and does not end the session."""
    token = world.gateway.misplaced_token(USER)
    service.keyring.add(Secret("access_token", token))
    for name in _PARAMETERS:
        _does_nothing(service, world, case, f"a good token in the parameter {name}", None, (name, token))


@check("CHAL-04", cases=(STREAM, END))
def forged_token_opens_and_ends_nothing(service: Service, world: ServiceWorld, case: str) -> None:
    """A token under an unknown key opens no event stream of a session, and does not end the session."""
    gateway = world.gateway
    forged = signed(gateway.claims(USER), new_key(gateway.algorithm), kid=gateway.core_key.kid)

    _does_nothing(service, world, case, "a forged token", forged)


@check("CHAL-06", cases=(STREAM, END))
def token_for_another_audience_opens_and_ends_nothing(
    service: Service, world: ServiceWorld, case: str
) -> None:
    """A token for the service itself opens no event stream of a session, and does not end the session."""
    foreign = for_another_audience(service, world)

    _does_nothing(service, world, case, "a token for another audience", foreign)


@check("CHAL-07", cases=(STREAM, END))
def expired_token_opens_and_ends_nothing(service: Service, world: ServiceWorld, case: str) -> None:
    """An expired token opens no event stream of a session, and does not end the session."""
    _does_nothing(service, world, case, "an expired token", expired(world))


def _does_nothing(
    service: Service,
    world: ServiceWorld,
    case: str,
    what: str,
    bad: str | None,
    parameter: tuple[str, str] | None = None,
) -> None:
    """Expects that this request in a session of a good token opens no stream, or does not end the session."""
    token = world.gateway.access_token(USER)
    session = session_of(service, token)
    require_served(session.call(token), world.gateway.orders_of(USER))
    asking = session
    if parameter is not None:
        asking = session.with_query(f"{parameter[0]}={quote(parameter[1])}")
    if bad is not None:
        service.keyring.add(Secret("access_token", bad))
    if case == STREAM:
        _opens_no_stream(session, asking, what, token, bad)
    else:
        ends_nothing(session, asking, what, world, token, bad)


def _opens_no_stream(
    session: ServiceSession, asking: ServiceSession, what: str, token: str, bad: str | None
) -> None:
    if not is_a_stream(session.listen_while(token, lambda: None)):
        raise LeftOut("the server has no stream to listen to")
    answer = asking.listen_while(bad, lambda: None)
    expect.that(
        not is_a_stream(answer),
        f"a stream asked for with {what}",
        expected="a refusal",
        got=answer.outcome(),
        exchange=answer,
    )
