"""Tokens in malformed Authorization headers must not be in the log."""

from __future__ import annotations

from gateproof.conformance.checks.service._log import require_log, settled_log
from gateproof.conformance.kit.service.received import in_the_log
from gateproof.conformance.kit.service.service import Service, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect
from gateproof.conformance.wire.secret import Secret

USER = USERS[0]
# Authorization headers with a small mistake, as some agents send them.
FORMS = ("Token {}", "JWT {}", "Bearer: {}", 'Bearer "{}"', "{}")


@check("SECRET-05")
def token_under_another_scheme_is_not_in_the_logs(service: Service, world: ServiceWorld) -> None:
    """The service's log contains no good access token from an Authorization header that it cannot use."""
    gateway = world.gateway
    require_served(service.serve(gateway.access_token(USER)), gateway.orders_of(USER))
    sent = {form: gateway.access_token(USER) for form in FORMS}
    for form, token in sent.items():
        service.keyring.add(Secret("access_token", token))
        service.operate(form.format(token))

    log = settled_log(world)
    logged = [form.format("⟨token⟩") for form, token in sent.items() if in_the_log([token], log)]
    expect.that(
        not logged,
        f"the log, {len(log)} characters",
        expected="no gateway access token in plain text",
        got=f"that of Authorization: {', '.join(logged)}",
    )
    require_log(world, log)
