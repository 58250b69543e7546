"""Facts for operators whose users have different agents: recorded, never judged."""

from __future__ import annotations

from urllib.parse import urlsplit

from gateproof.conformance.kit.gateway.gateway import Gateway
from gateproof.conformance.kit.gateway.world import World
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import observe

WELL_KNOWN = ("openid-configuration", "oauth-authorization-server", "oauth-protected-resource")


@check("INTEROP-01")
def issuer_beside_the_authorization_servers_address(gateway: Gateway, world: World) -> None:
    """Records how the issuer differs from the requested address; clients of RFC 8414 compare the two."""
    resource = world.projects.home().resource
    server = f"{gateway.base_url}/{resource.id}"
    document = world.discovery(resource)
    issuer = document.get("issuer")

    observe(
        issuer_is_a_string=isinstance(issuer, str),
        issuer_is_the_authorization_server=issuer == server,
        issuer_is_the_core_url=issuer == gateway.core_url,
        issuer_has_a_slash_at_its_end=isinstance(issuer, str) and issuer.endswith("/"),
        announces_s256="S256" in _listed(document, "code_challenge_methods_supported"),
        announces_client_secret_post="client_secret_post"
        in _listed(document, "token_endpoint_auth_methods_supported"),
    )


@check("INTEROP-01")
def usual_well_known_paths(gateway: Gateway, world: World) -> None:
    """Records the answers at the well-known paths that clients try for an issuer with a path."""
    resource = world.projects.home().resource
    base, issuer = urlsplit(gateway.base_url), world.discovery(resource).get("issuer")
    origin, prefix = f"{base.scheme}://{base.netloc}", base.path
    facts: dict[str, object] = {}
    for name in WELL_KNOWN:
        short = name.replace("-", "_")
        inserted = f"{origin}/.well-known/{name}{prefix}/{resource.id}"
        appended = f"{gateway.base_url}/{resource.id}/.well-known/{name}"
        for form, url in (("inserted", inserted), ("appended", appended)):
            answer = gateway.fetch(url, f"{name}, {form}")
            facts[f"{short}_{form}"] = answer.status
            same = answer.status == 200 and answer.member("issuer") == issuer
            facts[f"{short}_{form}_names_the_issuer"] = same
        facts[f"{short}_of_the_core"] = gateway.fetch(
            f"{gateway.core_url}/.well-known/{name}", f"{name} of the core host"
        ).status

    observe(**facts)


@check("INTEROP-02")
def registration_repeats_what_was_sent(gateway: Gateway, world: World) -> None:
    """Records which members of a registration are in the answer with the same value."""
    sent = world.agents.metadata() | {"client_uri": "https://agent.example/", "software_id": "gateproof"}
    answer = gateway.register(sent)

    observe(
        status=answer.status,
        **{f"repeats_{name}": answer.member(name) == value for name, value in sent.items()},
    )


@check("INTEROP-02", cases=("web", "native", "unheard-of"))
def application_type(gateway: Gateway, world: World, case: str) -> None:
    """Records the answer to a registration with an `application_type`."""
    answer = gateway.register(world.agents.metadata() | {"application_type": case})

    observe(status=answer.status, repeated=answer.member("application_type") == case)


@check("INTEROP-02")
def refresh_token_grant_at_registration(gateway: Gateway, world: World) -> None:
    """Records the answers to registrations with, without and only with the refresh_token grant."""
    facts: dict[str, object] = {}
    grants = {
        "with_refresh": ["authorization_code", "refresh_token"],
        "without_refresh": ["authorization_code"],
        "refresh_alone": ["refresh_token"],
    }
    for name, asked in grants.items():
        answer = gateway.register(world.agents.metadata() | {"grant_types": asked})
        given = answer.member("grant_types")
        facts[f"{name}_status"] = answer.status
        facts[f"{name}_gets_refresh"] = isinstance(given, list) and "refresh_token" in given

    observe(**facts)


@check("INTEROP-02", cases={"127.0.0.1": "http://127.0.0.1:8931/cb", "localhost": "http://localhost:8931/cb"})
def loopback_redirect_over_plain_http(gateway: Gateway, world: World, case: str) -> None:
    """Records how a native agent's plain HTTP loopback URI is refused; REG-06 requires the refusal."""
    answer = gateway.register(world.agents.metadata(redirect_uris=[case]) | {"application_type": "native"})
    error = answer.member("error")

    observe(status=answer.status, error=error if isinstance(error, str) else "none")


def _listed(document: dict[str, object], name: str) -> list[object]:
    found = document.get(name)
    return found if isinstance(found, list) else []
