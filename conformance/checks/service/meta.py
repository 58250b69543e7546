"""The protected resource metadata document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from gateproof.conformance.checks.service._failing_parties import all_fail
from gateproof.conformance.checks.service._other_hosts import FORWARDED
from gateproof.conformance.kit.inputs.odd_requests import with_header
from gateproof.conformance.kit.service.service import Service, document, require_served
from gateproof.conformance.kit.service.world import USERS, ServiceWorld
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import expect, observe, require
from gateproof.conformance.wire.documents import holds_url, in_any_order, same_url
from gateproof.conformance.wire.exchange import Headers
from gateproof.conformance.wire.route import parts_of

KEPT = ("resource", "authorization_servers")


@check("META-01")
def metadata_is_a_json_object(service: Service) -> None:
    """The metadata is served with 200 as a JSON object, over HTTPS if the service uses it."""
    document(service.metadata())
    secure = service.metadata_url.startswith("https:")
    observe(https=secure)
    plain_service = service.service_url.startswith("http:")
    expect.that(
        secure or plain_service, "address of the metadata", expected="https", got=service.metadata_url
    )


@check("META-01")
def metadata_come_to_whoever_takes_anything(service: Service) -> None:
    """A request with `Accept: */*` gets the document and no web page."""
    usual = service.metadata()
    require(require(usual).status(200)).json_object()

    document(service.wire.send("metadata", with_header(usual.request, "Accept", "*/*")))


@check("META-02")
def resource_is_the_service_itself(service: Service, world: ServiceWorld) -> None:
    """`resource` names the operator's service, not the merchant's API and not the gateway."""
    resource = expect.text(document(service.metadata()).get("resource"), "resource")
    gateway, own = world.gateway, service.service_url
    others = {
        gateway.setup.indicator: "the Resource indicator of the merchant's API",
        gateway.setup.resource_id: "the Resource's identifier at the gateway",
        gateway.addresses.merchant_api_url: "the address of the merchant's API",
        gateway.authorization_server: "the Resource's authorization server",
        gateway.addresses.base_url: "the gateway's base URL",
        gateway.addresses.core_url: "the gateway's core",
    }

    found = next((what for other, what in others.items() if _is_same_identifier(resource, other)), None)
    expect.that(
        found is None or _is_same_identifier(resource, own),
        "resource",
        expected="the service's own identifier",
        got=found,
    )


def _is_same_identifier(resource: str, other: str) -> bool:
    """True if both are the same identifier in any spelling."""
    return resource == other or same_url(resource.rstrip("/"), other.rstrip("/"))


@check("META-03")
def authorization_servers_name_the_resources_own(service: Service, world: ServiceWorld) -> None:
    """`authorization_servers` contains the Resource's authorization server URL from the Console."""
    servers = document(service.metadata()).get("authorization_servers")

    expect.that(
        isinstance(servers, list) and all(isinstance(server, str) for server in servers),
        "authorization_servers",
        expected="an array of strings",
        got=servers,
    )
    wanted = world.gateway.authorization_server
    expect.that(
        holds_url(servers, wanted), "authorization_servers", expected=f"{wanted} among them", got=servers
    )


@check("META-04")
def metadata_stay_the_same(service: Service, world: ServiceWorld) -> None:
    """The document is available and the same at every fetch, before and after the service is used.

    Only a fetch at the start of the run can show whether the document exists before the first call.
    """
    gateway, first = world.gateway, service.first_metadata
    # A service with errors at the start of the run may not have been ready.
    told = first is not None and first.status is not None and first.status < 500
    before = [document(first)] if first is not None and told else []
    before += [document(service.metadata()) for _ in range(3)]
    require_served(service.serve(gateway.access_token(USERS[0])), gateway.orders_of(USERS[0]))
    service.operate()
    after = [document(service.metadata()) for _ in range(2)]

    _same([*before, *after])


@check("META-04", needs=["faults"])
def metadata_stay_while_the_gateway_fails(service: Service, world: ServiceWorld) -> None:
    """The document is unchanged while the gateway answers 500 to every request."""
    gateway = world.gateway
    before = require(require(service.metadata()).status(200)).json_object()
    require_served(service.serve(gateway.access_token(USERS[0])), gateway.orders_of(USERS[0]))

    all_fail(world)
    _same([before, document(service.metadata())])


@check("META-04", cases=FORWARDED)
def metadata_are_not_of_a_host_that_another_caller_named(
    service: Service, world: ServiceWorld, case: Headers
) -> None:
    """After a request that names another host, the next fetch returns the same document as before.

    The answer to that request itself is not judged: a service may trust a proxy.
    """
    require_served(service.serve(world.gateway.access_token(USERS[0])), world.gateway.orders_of(USERS[0]))
    usual = service.metadata()
    before = require(require(usual).status(200)).json_object()
    named = usual.request
    for name, value in case:
        named = with_header(named, name, value)
    service.wire.send("metadata", named)

    _same([before, document(service.metadata())])


def _same(documents: Sequence[Mapping[str, Any]]) -> None:
    """Expects that the members that agents use have not changed."""
    for name in KEPT:
        values = [in_any_order(each.get(name)) for each in documents]
        expect.that(
            all(value == values[0] for value in values),
            f"{name} in {len(documents)} fetches",
            expected="the same in all",
            got="it changed",
        )


@check("META-05")
def metadata_are_json_by_their_label(service: Service) -> None:
    """The document has the Content-Type application/json."""
    answer = require(service.metadata()).status(200)
    require(answer).json_object()
    said = answer.header("Content-Type") or ""

    expect.that(
        said.partition(";")[0].strip().lower() == "application/json",
        "Content-Type of the metadata",
        expected="application/json",
        got=said or "no header",
    )


@check("META-05")
def resource_is_where_its_metadata_are(service: Service) -> None:
    """`resource` is the URL to which the URL of the metadata belongs (RFC 9728 section 3)."""
    resource = expect.text(document(service.metadata()).get("resource"), "resource")
    where, what = urlsplit(service.metadata_url), parts_of(resource)

    same = (what.scheme, what.netloc.lower()) == (where.scheme, where.netloc.lower())
    expect.that(same, "resource", expected=f"a URL on {where.scheme}://{where.netloc}", got=resource)
    path = what.path if what.path != "/" else ""
    wanted = f"/.well-known/oauth-protected-resource{path}"
    expect.that(
        where.path.rstrip("/") == wanted.rstrip("/"),
        "address of the metadata",
        expected=f"{wanted} for the resource {resource}",
        got=where.path,
    )
