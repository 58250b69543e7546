"""A run with every kind of verdict, written down, sealed, and ready to be tampered with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gateproof.reports import seal
from gateproof.reports.baseline import Entry
from gateproof.reports.chain import START, decode, encode, link
from gateproof.reports.evidence import EvidenceWriter
from gateproof.reports.exchanges import Shown
from gateproof.reports.header import Harness, Header, Options, Planned, Spec, Target
from gateproof.reports.record import FILE, read, result_of
from gateproof.reports.report_json import render as report_json
from gateproof.reports.signing import SigningKey, public_pem
from gateproof.reports.verdicts import CheckResult, Reason, RunResult, Verdict
from gateproof.reports.verify import Verified, verify

PUBLIC_NAME = "agent_9f8e7d6c5b4a39281706f5e4d3c2b1a0"
_RULES = (
    ("DISC-01", "spec", ("kept", "kept_too")),
    ("REDEEM-05", "spec", ("broken",)),
    ("REG-03", "rfc", ("broken_rfc",)),
    ("CODE-02", "entailed", ("unmet",)),
    ("CHAL-01", "spec", ("crashed",)),
    ("META-02", "silent", ("seen",)),
    ("KEYS-09", "spec", ()),
)
FORMATS = ("json", "notes")


def plan(rules: Iterable[tuple[str, str, Sequence[str]]] = _RULES) -> tuple[Planned, ...]:
    return tuple(
        Planned(
            id=rule,
            place=place,
            level=level,
            title=f"What {rule} says",
            section="4.2",
            holds="It holds.",
            why="It matters.",
            standard="RFC 6749" if level == "rfc" else "",
            checks=tuple(f"{rule}/{check}" for check in checks),
        )
        for place, (rule, level, checks) in enumerate(rules)
    )


def make_header(**changes: Any) -> Header:
    whole = Header(
        role="gateway",
        spec=Spec(identity="agent-authorization-gateway", version="2026-01", digest="5" * 64),
        catalogue_digest="c" * 64,
        harness=Harness(version="0.1.0", commit="a" * 40, dirty=False),
        dependencies="d" * 64,
        python="3.11.7",
        os="Linux",
        target=Target(
            name="acme-gateway",
            version="2.1.0",
            base_url="https://127.0.0.1:8443",
            core_url="https://127.0.0.1:8444",
            tls_key_digest="7" * 64,
            discovery_digest="8" * 64,
            configuration_digest="9" * 64,
        ),
        options=Options(
            profile="ci",
            seed=7,
            strict=False,
            certify=False,
            workers=2,
            only=(),
            skip=(),
            shard="",
            baseline=(),
            faults=True,
            examples=20,
        ),
        clock_skew_s=0.25,
        run_id="0badcafe",
        started="2026-11-21T10:00:00+00:00",
        command="gateproof run --target acme.toml --seed 7",
        planned=plan(),
    )
    options = replace(whole.options, **{key: changes.pop(key) for key in list(changes) if key in OPTIONS})
    return replace(whole, options=options, **changes)


OPTIONS = set(Options.__dataclass_fields__)


def exchange(step: str = "redeem", **changes: Any) -> Shown:
    shown = Shown(
        step=step,
        method="POST",
        url="https://127.0.0.1:8444/redeem",
        request_headers=(("Content-Type", "application/json"), ("X-Agent", PUBLIC_NAME)),
        request_body='{"token": "⟨access_token#1⟩"}',
        status=200,
        answer_headers=(("Content-Type", "application/json"),),
        answer_body='{"access_token": "⟨merchant_access_token#1⟩", "x": "</script>\x85\u202e"}',
        at_s=12.5,
        elapsed_s=0.01,
    )
    return replace(shown, **changes)


def make_checks() -> tuple[CheckResult, ...]:
    passed = CheckResult(id="DISC-01/kept", rule="DISC-01", verdict=Verdict.PASSED, duration_s=0.125)
    return (
        passed,
        CheckResult(
            id="REDEEM-05/broken",
            rule="REDEEM-05",
            verdict=Verdict.FAILED,
            message="status: expected 401, got 200",
            expected="401",
            got="200",
            duration_s=0.5,
            exchanges=(exchange("sign in"), exchange()),
            public=(PUBLIC_NAME, "never_shown_0123456789abcdef"),
        ),
        replace(passed, id="DISC-01/kept_too"),
        CheckResult(
            id="REG-03/broken_rfc",
            rule="REG-03",
            verdict=Verdict.FAILED,
            message="header: expected no-store, got nothing",
            expected="no-store",
            got="nothing",
            exchanges=(exchange("register", status=None, failure="the connection was reset"),),
            public=(PUBLIC_NAME,),
        ),
        CheckResult(
            id="CODE-02/unmet",
            rule="CODE-02",
            verdict=Verdict.NOT_TESTABLE,
            reason=Reason.CONTROL_UNSUPPORTED,
            message="the control does not support advance_clock",
        ),
        CheckResult(
            id="CHAL-01/crashed", rule="CHAL-01", verdict=Verdict.ERROR, message="the harness broke: KeyError"
        ),
        CheckResult(
            id="META-02/seen",
            rule="META-02",
            verdict=Verdict.OBSERVED,
            observations={"lifetime": 3600, "scopes": ["a", "b"]},
        ),
    )


def no_leak(_: str) -> str | None:
    return None


def render(name: str, result: RunResult) -> Mapping[str, bytes]:
    """The real report.json, and a second format of two files, one of them in a folder."""
    if name == "json":
        return report_json(result)
    said = f"{result.verdict.value}: {result.reason}\n".encode()
    return {"notes/verdict.txt": said, "notes.txt": b"run\n" + said}


def write(path: Path, header: Header, checks: Iterable[CheckResult], *, ended: bool, cut_short: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with EvidenceWriter(path, scan=no_leak) as writer:
        writer.header(header)
        for check in checks:
            writer.check(check)
        if ended:
            writer.footer(duration_s=3.5, cut_short=cut_short)
    return path


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """The folder of a run, and the key that sealed it."""

    folder: Path
    key: SigningKey

    @property
    def evidence(self) -> Path:
        return self.folder / FILE

    @property
    def pem(self) -> bytes:
        return public_pem(self.key.public)

    def verify(self, *, given: bool = True, **options: Any) -> Verified:
        known = {"render": render, "formats": FORMATS, **options}
        return verify(self.folder, self.pem if given else None, **known)

    def first(self, **options: Any) -> str:
        found = self.verify(**options).first
        return "" if found is None else found.sentence

    def lines(self) -> list[bytes]:
        return self.evidence.read_bytes().splitlines(keepends=True)

    def put(self, lines: Iterable[bytes]) -> None:
        self.evidence.write_bytes(b"".join(lines))

    def forge(self, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
        """Changes the record as somebody would who knows how it is chained."""
        prev, forged = START, []
        for number, values in enumerate(change([decode(line) for line in self.lines()])):
            line = encode({**values, "n": number, "prev": prev})
            forged.append(line)
            prev = link(line)
        self.put(forged)

    def draw(self, formats: Iterable[str] = FORMATS) -> RunResult:
        """Draws the projections from the record as it is now, and seals both."""
        result = result_of(read(self.evidence))
        drawn = {name: render(name, result) for name in formats}
        for content in (*drawn.values(), seal.seal(result, drawn, self.key)):
            for name, raw in content.items():
                path = self.folder / name
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(raw)
        return result


@dataclass(frozen=True, kw_only=True)
class Kit:
    """What the tests of this folder build runs from."""

    folder: Path
    key: SigningKey = field(
        default_factory=lambda: SigningKey(private=Ed25519PrivateKey.generate(), ephemeral=False)
    )
    header = staticmethod(make_header)
    plan = staticmethod(plan)
    exchange = staticmethod(exchange)
    checks = staticmethod(make_checks)
    render = staticmethod(render)
    no_leak = staticmethod(no_leak)
    formats = FORMATS
    public_name = PUBLIC_NAME
    entry = Entry

    def record(
        self,
        name: str = "run",
        *,
        checks: Iterable[CheckResult] | None = None,
        ended: bool = True,
        cut_short: str = "",
        **changes: Any,
    ) -> Path:
        found = make_checks() if checks is None else checks
        path = self.folder / name / FILE
        return write(path, make_header(**changes), found, ended=ended, cut_short=cut_short)

    def result(self, name: str = "run", **changes: Any) -> RunResult:
        return result_of(read(self.record(name, **changes)))

    def bundle(self, name: str = "run", *, key: SigningKey | None = None, **changes: Any) -> Bundle:
        bundle = Bundle(folder=self.record(name, **changes).parent, key=key or self.key)
        bundle.draw()
        return bundle

    def values(self, path: Path) -> list[dict[str, Any]]:
        return [json.loads(line) for line in path.read_bytes().splitlines()]


@pytest.fixture
def kit(tmp_path: Path) -> Kit:
    return Kit(folder=tmp_path)
