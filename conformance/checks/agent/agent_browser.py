"""Which URLs an agent opens in its user's browser, and how it starts the browser."""

from __future__ import annotations

from collections.abc import Mapping

from gateproof.conformance.kit.agent.agent import Agents, Install, end_tokens, require_done, require_ended
from gateproof.conformance.kit.agent.launch import Run
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require
from gateproof.conformance.wire.route import parts_of
from gateproof.fakes.gateway.script import Answer, Endpoint

# The plain HTTP URL is not on this machine: some clients allow plain HTTP to local hosts.
_PLAIN = "http://gateway.example/authorize"
NOT_HTTPS: Mapping[str, str] = {
    "plain HTTP": _PLAIN,
    "a script": "javascript:alert(1)//authorize",
    "a file": "file:///gateproof/authorize",
    "data": "data:text/html,authorize",
    "a scheme of an application": "gateproof-agent://gateway.example/authorize",
    "a scheme that begins alike": "httpsx://gateway.example/authorize",
    "https in the text alone": "javascript://https://gateway.example/authorize",
    "no scheme": "//gateway.example/authorize",
    "an option": "--gateproof",
}
# Texts in a URL that make a shell create `{file}`, quoted or not. A space would end the URL. Whoever escapes
# quotes and dollar signs, but no backslash, is found by the one that needs no dollar sign.
SHELL: Mapping[str, str] = {
    "command substitution": "$(touch$IFS{file})",
    "backquotes": "`touch$IFS{file}`",
    "a double quote": '";touch$IFS{file};"',
    "a double quote after a backslash": '\\";>{file};\\"',
    "a single quote": "';touch$IFS{file};'",
    "semicolons": ";touch$IFS{file};",
    "pipes": "|touch$IFS{file}|",
}


@check("AGENT-19", cases=tuple(NOT_HTTPS))
def endpoint_that_is_not_https_is_not_opened(agents: Agents, case: str) -> None:
    """The agent opens no authorization endpoint that is not https. Other pages are not judged."""
    _opens_its_browser(agents)
    install = agents.install()
    _names(install, case)
    run = require_ended(install.launch(f"a run with an authorization endpoint that is {_said(case)}"))
    require.that(
        bool(run.calls(Endpoint.DISCOVERY)),
        run.what,
        expected="an agent that reads the discovery document",
        got="none that does",
    )

    _has_opened_https_alone(run, NOT_HTTPS[case])


@check("AGENT-19")
def endpoint_that_is_no_more_https_is_not_opened(agents: Agents) -> None:
    """An install that had tokens opens no authorization endpoint that has changed to plain HTTP."""
    _opens_its_browser(agents)
    install = agents.install()
    require_done(install.launch("a run that gets tokens"))
    end_tokens(install.world)
    _names(install, "plain HTTP")
    run = require_ended(install.launch("a later run with an authorization endpoint that is plain HTTP"))
    if not run.calls(Endpoint.DISCOVERY):
        raise LeftOut("the agent keeps what the document said, and does not read it again")

    _has_opened_https_alone(run, _PLAIN)


@check("AGENT-19", cases=tuple(SHELL))
def address_is_no_command(agents: Agents, case: str) -> None:
    """No shell runs a command that is in the path and query of the authorization endpoint.

    The agent may open, encode or refuse this URL.
    """
    _opens_its_browser(agents)
    install = agents.install()
    ran = install.folder / "ran-by-a-shell"
    command = SHELL[case].format(file=ran)
    endpoint = f"{install.world.gateway_endpoints.site.authorization_endpoint}/{command}?from={command}"
    install.world.gateway_endpoints.script.always(
        Endpoint.DISCOVERY, Answer(members={"authorization_endpoint": endpoint})
    )
    run = require_ended(install.launch(f"a run with {case} in the authorization endpoint"))
    require.that(
        bool(run.calls(Endpoint.DISCOVERY)),
        run.what,
        expected="an agent that reads the discovery document",
        got="none that does",
    )

    observe(opened=bool(_opened(run)))
    expect.that(
        not ran.exists(),
        f"{case} in the authorization endpoint",
        expected="an address that is opened or refused",
        got="a command that was run",
    )


def _opens_its_browser(agents: Agents) -> None:
    """The positive twin: the normal run opens the https URL of the document; LeftOut if it opens none."""
    run = require_done(agents.normal())
    if not any(visit.how == "opened" for visit in run.visits):
        raise LeftOut("the agent opens no browser: its user types the address that it prints")
    _has_opened_https_alone(run)


def _names(install: Install, case: str) -> None:
    members = {"authorization_endpoint": NOT_HTTPS[case]}
    install.world.gateway_endpoints.script.always(Endpoint.DISCOVERY, Answer(members=members))


def _has_opened_https_alone(run: Run, named: str = "") -> None:
    """Expects that all opened authorization requests, and URLs at the `named` endpoint, are https."""
    requests = [visit.url for visit in run.visits if visit.how == "opened"]
    at_the_endpoint = [url for url in run.others if named and url.strip().lower().startswith(named.lower())]
    schemes = [parts_of(url.strip()).scheme.lower() for url in (*requests, *at_the_endpoint)]
    others = [scheme or "none" for scheme in schemes if scheme != "https"]
    expect.that(
        not others,
        "the scheme of an authorization endpoint that was opened in the browser",
        expected="https",
        got=", ".join(dict.fromkeys(others)),
    )


def _opened(run: Run) -> list[str]:
    return [*(visit.url for visit in run.visits if visit.how == "opened"), *run.others]


def _said(case: str) -> str:
    return f"given as {case}" if case in {"no scheme", "https in the text alone"} else case
