"""The seal of a run: two signed in-toto statements about its record, for policies and auditors."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from gateproof.reports import chain
from gateproof.reports.record import FILE
from gateproof.reports.signing import SigningKey, envelope, key_id, public_pem
from gateproof.reports.summary_texts import is_partial
from gateproof.reports.verdicts import RuleResult, RunResult, RunVerdict, Verdict, deciding_levels

TEST_RESULT = "seal.test-result.dsse.json"
VERDICTS = "seal.verdicts.dsse.json"
PUBLIC_KEY = "seal.pub.pem"
FILES = (TEST_RESULT, VERDICTS, PUBLIC_KEY)

STATEMENT = "https://in-toto.io/Statement/v1"
TEST_RESULT_TYPE = "https://in-toto.io/attestation/test-result/v0.1"
VERDICTS_TYPE = "urn:gateproof:verdicts:1"

EPHEMERAL = "ephemeral: made for this run; it shows integrity, not identity"
GIVEN = "given by whoever ran the harness"

# The files by format and name.
Projections = Mapping[str, Mapping[str, bytes]]


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def seal(
    result: RunResult, projections: Projections, key: SigningKey, before: Sequence[str] = ()
) -> dict[str, bytes]:
    """The files of the seal over the record and the output files.

    `before` are the digests of the seals that this one replaces.
    """
    payloads = statements(result, projections, key.public, ephemeral=key.ephemeral, before=before)
    sealed = {name: envelope(payload, key) for name, payload in payloads.items()}
    return {**sealed, PUBLIC_KEY: public_pem(key.public)}


def statements(
    result: RunResult,
    projections: Projections,
    key: Ed25519PublicKey,
    *,
    ephemeral: bool,
    before: Sequence[str] = (),
) -> dict[str, bytes]:
    """The statements by file name; they depend only on the result, the output files and the key."""
    subject = [{"name": FILE, "digest": {"sha256": result.run["evidence_digest"]}}]
    signer = {
        "kind": EPHEMERAL if ephemeral else GIVEN,
        "keyid": key_id(key),
        "public_key": public_pem(key).decode(),
    }
    predicates = {
        TEST_RESULT: (TEST_RESULT_TYPE, _test_result(result)),
        VERDICTS: (VERDICTS_TYPE, _verdicts(result, projections, signer) | _resealed(before)),
    }
    return {
        name: chain.encode({"_type": STATEMENT, "subject": subject, "predicateType": kind, "predicate": said})
        for name, (kind, said) in predicates.items()
    }


def _resealed(before: Sequence[str]) -> dict[str, Any]:
    """The digests of earlier seals of the folder, whoever signed them: the new seal names its own signer."""
    return {"resealed": [{"sha256": each} for each in before]} if before else {}


def _test_result(result: RunResult) -> dict[str, Any]:
    """The test-result predicate of in-toto. A warning is a rule that did not pass and does not decide.

    A run without a verdict is FAILED, so that policies refuse it. A run of a part of the rules is never
    PASSED.
    """
    decides = deciding_levels(strict=bool(result.run.get("strict")))
    named: dict[str, list[str]] = {"passedTests": [], "warnedTests": [], "failedTests": []}
    for rule in result.rules:
        named[_listed_as(rule, decides)].append(rule.id)
    if result.verdict is not RunVerdict.CONFORMANT:
        outcome = "FAILED"
    else:
        outcome = "WARNED" if named["warnedTests"] or is_partial(result) else "PASSED"
    return {"result": outcome, "configuration": _configuration(result), **named}


def _listed_as(rule: RuleResult, decides: frozenset[str]) -> str:
    if rule.verdict in {Verdict.PASSED, Verdict.OBSERVED}:
        return "passedTests" if rule.verdict is Verdict.PASSED else "warnedTests"
    broken = rule.verdict in {Verdict.FAILED, Verdict.ERROR} and not rule.baselined
    return "failedTests" if broken and rule.level in decides else "warnedTests"


def _configuration(result: RunResult) -> list[dict[str, Any]]:
    """Digests that a policy can pin: the specification, the rules, and the target's configuration."""
    digests = {
        "specification": result.run["spec"]["digest"],
        "catalogue": result.run["catalogue_digest"],
        "dependencies": result.run["dependencies"],
        "target-configuration": result.target.get("configuration_digest", ""),
    }
    return [{"name": name, "digest": {"sha256": digest}} for name, digest in digests.items() if digest]


def _verdicts(result: RunResult, projections: Projections, signer: Mapping[str, str]) -> dict[str, Any]:
    """Our own predicate: every verdict, and every output file."""
    rules = [
        {"id": rule.id, "level": rule.level, "verdict": rule.verdict.value}
        | ({"baselined": rule.baselined} if rule.baselined else {})
        for rule in result.rules
    ]
    files = [
        {"format": name, "name": path, "digest": {"sha256": digest(content)}}
        for name, drawn in sorted(projections.items())
        for path, content in sorted(drawn.items())
    ]
    return {
        "run_id": result.run["run_id"],
        "role": result.role,
        "target": {"name": result.target.get("name", ""), "version": result.target.get("version", "")},
        "verdict": result.verdict.value,
        "reason": result.reason,
        "complete": result.run["complete"],
        "selection": result.run.get("selection") or {},
        "strict": bool(result.run.get("strict")),
        "certify": bool(result.run.get("certify")),
        **{name: result.run[name] for name in ("faults", "examples") if name in result.run},
        "counts": result.counts,
        "rules": rules,
        "spec": result.run["spec"],
        "catalogue_digest": result.run["catalogue_digest"],
        "harness": {
            "version": result.run["harness_version"],
            "commit": result.run["harness_commit"],
            "dirty": result.run["harness_dirty"],
        },
        "parts": result.run["parts"],
        "files": files,
        "signer": signer,
    }
