"""A diagnosis lets an agent get further, decides nothing, and a plain run says which one helps."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from warm import WARM

from gateproof.conformance.cli import main
from gateproof.conformance.kit.agent.diagnosis import advice
from gateproof.conformance.kit.agent.launch import Ended, Run
from gateproof.conformance.kit.agent.world import GATEWAY, ReceivedRequest
from gateproof.conformance.run.drive.options import RunOptions
from gateproof.conformance.run.drive.session import carry_out
from gateproof.conformance.suite import rules
from gateproof.conformance.targets.file import load
from gateproof.conformance.targets.model import AgentTarget, OwnParties
from gateproof.fakes.gateway.deviations import DEVIATIONS
from gateproof.fakes.gateway.journal import Call
from gateproof.fakes.gateway.script import Endpoint

# The reference agent with one policy that wants more than the specification promises.
AGENT = """
import sys
from urllib.parse import urlsplit
from gateproof.reference.agent.command import main
from gateproof.reference.agent.policies import Policies
from gateproof.reference.agent.policy.registration import Client
from gateproof.reference.agent.wire import Failed

honest = Policies()

def same_issuer(server, document):
    if document["issuer"] != server:
        raise Failed("the issuer is not the address of the authorization server")
    return honest.endpoints(server, document)

def with_loopback(settings):
    record = honest.registration_record(settings)
    return {{**record, "redirect_uris": [*record["redirect_uris"], "http://127.0.0.1:9/x"]}}

def without_secret(answer):
    document = answer.document()
    if "client_secret" in document:
        raise Failed("no secret was asked for")
    return Client(client_id=document["client_id"], client_secret="")

def rfc8414(server):
    parts = urlsplit(server)
    return f"https://{{parts.netloc}}/.well-known/oauth-authorization-server{{parts.path}}"

sys.exit(main([], Policies({policy})))
"""
PUBLIC_RECORD = 'lambda s: {**honest.registration_record(s), "token_endpoint_auth_method": "none"}'
POLICIES = {
    "issuer-address": "endpoints=same_issuer",
    "loopback-redirect": "registration_record=with_loopback",
    "public-client": f"registration_record={PUBLIC_RECORD}, registered=without_secret",
    "rfc8414-metadata": "discovery_url=rfc8414",
}
CHECK = "AGENT-01/operation_is_carried_out"


def heard(endpoint: Endpoint, target: str = "/", body: Any = None, status: int = 200) -> ReceivedRequest:
    octets = b"" if body is None else json.dumps(body).encode()
    call = Call(
        ordinal=1,
        endpoint=endpoint,
        method="POST",
        target=target,
        headers=(),
        body=octets,
        at_s=0.0,
        status=status,
    )
    return ReceivedRequest(party=GATEWAY, url=f"https://127.0.0.1{target}", call=call)


def run(*calls: ReceivedRequest, served: bool = False) -> Run:
    return Run(
        what="a run",
        ended=Ended.BY_ITSELF,
        exit_code=0 if served else 1,
        took_s=1.0,
        limit_s=30.0,
        heard=calls,
        visits=(),
        served=served,
        output_file=Path("/dev/null"),
        dropped=0,
    )


DISCOVERED = heard(Endpoint.DISCOVERY)
LOOPBACK = heard(Endpoint.REGISTRATION, body={"redirect_uris": ["http://127.0.0.1:9/x"]}, status=400)
MIXED = heard(Endpoint.REGISTRATION, body={"redirect_uris": ["http://127.0.0.1:9/x", "a://b"]}, status=400)
NATIVE = {"redirect_uris": ["a://b"], "token_endpoint_auth_method": "none"}
REFUSED = heard(Endpoint.REGISTRATION, body=NATIVE, status=400)
PUBLIC = heard(Endpoint.REGISTRATION, body={"token_endpoint_auth_method": "none"}, status=201)


@pytest.mark.parametrize(
    ("calls", "name"),
    [
        ([DISCOVERED], "issuer-address"),
        ([DISCOVERED, LOOPBACK], "loopback-redirect"),
        ([DISCOVERED, PUBLIC], "public-client"),
        ([heard(Endpoint.ELSEWHERE, "/.well-known/oauth-authorization-server/res")], "rfc8414-metadata"),
        ([], ""),
        ([DISCOVERED, MIXED], ""),
        ([DISCOVERED, REFUSED], ""),
        ([DISCOVERED, LOOPBACK, heard(Endpoint.REGISTRATION, body={"redirect_uris": []}, status=201)], ""),
        ([DISCOVERED, heard(Endpoint.TOKEN, status=400)], ""),
        ([heard(Endpoint.ELSEWHERE, "/.well-known/oauth-protected-resource")], ""),
        ([DISCOVERED, heard(Endpoint.REGISTRATION, body=[], status=400)], ""),
        ([heard(Endpoint.ELSEWHERE, "/elsewhere")], ""),
    ],
)
def test_stopped_agent_is_told_what_would_get_it_further(calls: list[ReceivedRequest], name: str) -> None:
    assert (f"--deviate {name} (" in advice(run(*calls))) is bool(name)


def test_agent_that_got_through_is_told_nothing() -> None:
    assert advice(run(DISCOVERED, served=True)) == ""
    assert advice(replace(run(DISCOVERED), deviations=("issuer-address",))) == ""


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["agent", "--deviate", "issuer"], "did you mean issuer-address?"),
        (["agent", "--certify", "--deviate", "issuer-address"], "leave out --deviate"),
        (["service", "--deviate", "issuer-address"], "--deviate is for an agent"),
    ],
)
def test_wrong_usage_is_said(
    given: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = main(["run", *given, "--out", str(tmp_path / "out")])
    except SystemExit as ended:
        code = int(ended.code or 0)
    assert code == 2
    assert said in capsys.readouterr().err


def test_diagnosis_decides_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    given = ["run", "agent", "--only", "AGENT-02", "--deviate", "issuer-address", "--out", str(out)]

    assert main([*given, "--quiet", "--no-color"]) == 3
    assert capsys.readouterr().out.startswith("no-verdict")
    report = json.loads((out / "report.json").read_text())
    assert report["verdict"] == "no-verdict"
    assert report["run"]["deviate"] == ["issuer-address"]
    assert "--deviate issuer-address" in report["run"]["command"]
    assert report["counts"]["passed"] == 1
    assert main(["verify", str(out)]) == 0
    assert "which decides nothing" in capsys.readouterr().out


@pytest.mark.parametrize("name", DEVIATIONS)
def test_agent_gets_further_by_what_it_was_told(name: str, tmp_path: Path) -> None:
    command = json.dumps([*WARM, "-c", AGENT.format(policy=POLICIES[name])])
    file = tmp_path / "agent.toml"
    file.write_text(f'[target]\nrole = "agent"\nname = "wants more"\n[launch]\ncommand = {command}\n')
    target = load(file)
    assert isinstance(target, AgentTarget)

    plain, further = (
        carry_out(
            replace(target, own_parties=OwnParties(deviations=deviations)),
            rules.select(rules.load().for_role("agent"), ["AGENT-01"]),
            RunOptions(role="agent", chosen=frozenset({CHECK}), deviate=deviations),
            lambda _: None,
            tmp_path / f"report-{len(deviations)}",
        )
        for deviations in ((), (name,))
    )
    (failed,), (passed,) = (result.rules[0].checks for result in (plain, further))
    assert (plain.verdict.value, failed.verdict.value) == ("not-conformant", "failed")
    assert f"--deviate {name}" in failed.got
    assert (further.verdict.value, passed.verdict.value) == ("no-verdict", "passed")
