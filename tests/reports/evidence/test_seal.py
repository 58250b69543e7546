"""The seal says what the record says, in the forms in which others read such statements."""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gateproof.reports import seal
from gateproof.reports.record import FILE, read, result_of
from gateproof.reports.signing import KeyProblem, SigningKey, key_id, public_key, signing_key
from gateproof.reports.variables import SIGN_KEY
from gateproof.reports.verdicts import Verdict

ROOT = Path(__file__).resolve().parents[3]
READERS = ROOT / ".venv-readers" / "bin" / "python"
OFFICIAL = Path(__file__).with_name("official_seal.py")
PASSED, FAILED, ERROR = Verdict.PASSED, Verdict.FAILED, Verdict.ERROR
UNTESTED, OBSERVED = Verdict.NOT_TESTABLE, Verdict.OBSERVED


def statement(folder: Path, name: str) -> dict[str, Any]:
    envelope = json.loads((folder / name).read_bytes())
    found: dict[str, Any] = json.loads(base64.b64decode(envelope["payload"]))
    return found


def private_pem(key: Any, *, password: bytes | None = None) -> bytes:
    encryption = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
    return bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption))


def test_both_statements_are_about_the_bytes_of_the_record(kit: Any) -> None:
    bundle = kit.bundle()
    digest = hashlib.sha256(bundle.evidence.read_bytes()).hexdigest()
    for name, kind in ((seal.TEST_RESULT, seal.TEST_RESULT_TYPE), (seal.VERDICTS, seal.VERDICTS_TYPE)):
        found = statement(bundle.folder, name)
        assert found["_type"] == "https://in-toto.io/Statement/v1"
        assert found["predicateType"] == kind
        assert found["subject"] == [{"name": FILE, "digest": {"sha256": digest}}]


def test_signature_is_ed25519_over_the_pre_authentication_encoding(kit: Any) -> None:
    """Written out once more, as a verifier would who has nothing of this package."""
    bundle = kit.bundle()
    key = serialization.load_pem_public_key((bundle.folder / seal.PUBLIC_KEY).read_bytes())
    der = key.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    for name in (seal.TEST_RESULT, seal.VERDICTS):
        envelope = json.loads((bundle.folder / name).read_bytes())
        kind, payload = envelope["payloadType"], base64.b64decode(envelope["payload"])
        assert kind == "application/vnd.in-toto+json"
        (signature,) = envelope["signatures"]
        signed = f"DSSEv1 {len(kind)} {kind} {len(payload)} ".encode() + payload
        key.verify(base64.b64decode(signature["sig"]), signed)  # type: ignore[union-attr, call-arg]
        assert signature["keyid"] == hashlib.sha256(der).hexdigest()


def test_test_result_lists_every_rule_once_and_nothing_untested_as_passed(kit: Any) -> None:
    predicate = statement(kit.bundle().folder, seal.TEST_RESULT)["predicate"]
    assert predicate["result"] == "FAILED"
    assert predicate["passedTests"] == ["DISC-01"]
    assert predicate["failedTests"] == ["REDEEM-05", "CHAL-01"]
    assert predicate["warnedTests"] == ["REG-03", "CODE-02", "META-02", "KEYS-09"]
    assert {item["name"]: item["digest"]["sha256"][0] for item in predicate["configuration"]} == {
        "specification": "5",
        "catalogue": "c",
        "dependencies": "d",
        "target-configuration": "9",
    }


@pytest.mark.parametrize(
    ("rules", "options", "expected"),
    [
        ((("A-01", "spec", PASSED),), {}, "PASSED"),
        ((("A-01", "spec", PASSED), ("A-02", "silent", OBSERVED)), {}, "WARNED"),
        ((("A-01", "spec", PASSED), ("A-02", "spec", UNTESTED)), {}, "WARNED"),
        ((("A-01", "spec", PASSED), ("A-02", "rfc", FAILED)), {}, "WARNED"),
        ((("A-01", "spec", PASSED), ("A-02", "rfc", FAILED)), {"strict": True}, "FAILED"),
        ((("A-01", "spec", PASSED), ("A-02", "spec", UNTESTED)), {"certify": True}, "FAILED"),
        ((("A-01", "spec", PASSED), ("A-02", "spec", FAILED)), {}, "FAILED"),
        ((("A-01", "spec", PASSED), ("A-02", "spec", ERROR)), {}, "FAILED"),
        ((("A-01", "spec", UNTESTED),), {}, "FAILED"),
        ((("A-01", "spec", PASSED),), {"ended": False}, "FAILED"),
        ((("A-01", "spec", PASSED),), {"only": ("A-*",)}, "WARNED"),
    ],
)
def test_result_for_a_policy_is_passed_only_where_everything_passed(
    kit: Any, rules: Any, options: dict[str, Any], expected: str
) -> None:
    checks = [
        replace(kit.checks()[0], id=f"{rule}/c", rule=rule, verdict=verdict) for rule, _, verdict in rules
    ]
    planned = kit.plan([(rule, level, ("c",)) for rule, level, _ in rules])
    bundle = kit.bundle(planned=planned, checks=checks, **options)
    assert statement(bundle.folder, seal.TEST_RESULT)["predicate"]["result"] == expected


def test_baselined_failure_warns_and_is_named_with_its_reason(kit: Any) -> None:
    entry = kit.entry(rule="REDEEM-05", reason="known", expires="2030-01-01")
    folder = kit.bundle(baseline=(entry,)).folder
    predicate = statement(folder, seal.TEST_RESULT)["predicate"]
    assert "REDEEM-05" in predicate["warnedTests"]
    rules = statement(folder, seal.VERDICTS)["predicate"]["rules"]
    assert rules[1] == {"id": "REDEEM-05", "level": "spec", "verdict": "failed", "baselined": "known"}


def test_verdicts_name_every_file_that_was_drawn_with_its_digest(kit: Any) -> None:
    bundle = kit.bundle()
    predicate = statement(bundle.folder, seal.VERDICTS)["predicate"]
    assert [(file["format"], file["name"]) for file in predicate["files"]] == [
        ("json", "report.json"),
        ("notes", "notes.txt"),
        ("notes", "notes/verdict.txt"),
    ]
    for file in predicate["files"]:
        raw = (bundle.folder / file["name"]).read_bytes()
        assert file["digest"] == {"sha256": hashlib.sha256(raw).hexdigest()}
    assert predicate["verdict"] == "not-conformant"
    assert predicate["counts"]["not-testable"] == 2
    assert len(predicate["rules"]) == 7


def test_seal_of_the_same_run_by_the_same_key_is_the_same(kit: Any) -> None:
    result = result_of(read(kit.record()))
    drawn = {"json": kit.render("json", result)}
    assert seal.seal(result, drawn, kit.key) == seal.seal(result, drawn, kit.key)


def test_ephemeral_key_is_called_what_it_is(kit: Any) -> None:
    key = signing_key(None, {})
    folder = kit.bundle(key=key).folder
    signer = statement(folder, seal.VERDICTS)["predicate"]["signer"]
    assert key.ephemeral
    assert signer["kind"] == "ephemeral: made for this run; it shows integrity, not identity"
    assert signer["keyid"] == key_id(key.public)
    assert signer["public_key"].encode() == (folder / seal.PUBLIC_KEY).read_bytes()
    assert kit.bundle(key=key).first() == ""


def test_key_comes_from_the_file_before_the_environment(tmp_path: Path) -> None:
    one, other = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    file = tmp_path / "sign.pem"
    file.write_bytes(private_pem(one))
    environment = {SIGN_KEY: private_pem(other).decode()}
    for found, expected in ((signing_key(file, environment), one), (signing_key(None, environment), other)):
        assert not found.ephemeral
        assert key_id(found.public) == key_id(expected.public_key())


def test_two_ephemeral_keys_are_two() -> None:
    assert key_id(signing_key(None, {}).public) != key_id(signing_key(None, {SIGN_KEY: ""}).public)


def bad_keys() -> dict[str, tuple[bytes, str]]:
    own = Ed25519PrivateKey.generate()
    pem = private_pem(own)
    public = own.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    return {
        "empty": (b"", "found no private key"),
        "garbage": (b"\x00\xff hush hush", "found no private key"),
        "cut": (pem[:60], "found no private key"),
        "public": (public, "found no private key"),
        "password": (private_pem(own, password=b"hush"), "found a key with a password"),
        "rsa": (private_pem(rsa.generate_private_key(65537, 2048)), "found a key of another algorithm"),
    }


BAD_KEYS = bad_keys()


@pytest.mark.parametrize("kind", BAD_KEYS)
def test_key_that_cannot_be_used_is_named_in_one_line_and_not_shown(tmp_path: Path, kind: str) -> None:
    pem, said = BAD_KEYS[kind]
    file = tmp_path / "sign.pem"
    file.write_bytes(pem)
    with pytest.raises(KeyProblem) as problem:
        signing_key(file, {})
    text = str(problem.value)
    expected = "expected an Ed25519 private key in PEM (PKCS #8) without a password"
    assert text == f"--sign-key {file}: {said}; {expected}"
    assert problem.value.__cause__ is None
    if kind not in {"empty", "garbage"}:
        with pytest.raises(KeyProblem, match=f"{SIGN_KEY}: {said}"):
            signing_key(None, {SIGN_KEY: pem.decode()})


def test_key_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(KeyProblem, match=r"nowhere\.pem: No such file or directory; expected an Ed25519"):
        signing_key(tmp_path / "nowhere.pem", {})


def test_key_shows_nothing_of_itself() -> None:
    key = signing_key(None, {})
    raw = key.private.private_bytes_raw()
    assert raw.hex() not in repr(key)
    assert repr(key) == "SigningKey(ephemeral=True)"
    assert isinstance(key, SigningKey)


def test_public_key_of_another_algorithm_is_refused() -> None:
    pem = (
        rsa.generate_private_key(65537, 2048)
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    with pytest.raises(KeyProblem, match=r"k\.pem: found a key of another algorithm"):
        public_key(pem, "k.pem")


@pytest.mark.needs("readers")
def test_official_readers_accept_envelopes_statements_and_predicate(kit: Any) -> None:
    bundle = kit.bundle()
    command = [str(READERS), "-I", str(OFFICIAL), str(bundle.folder), *seal.FILES]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == ["FAILED", "1", "4", "2"]


@pytest.mark.needs("readers")
def test_official_reader_refuses_what_was_changed(kit: Any) -> None:
    bundle = kit.bundle()
    path = bundle.folder / seal.VERDICTS
    values = json.loads(path.read_bytes())
    payload = base64.b64decode(values["payload"]).replace(b"not-conformant", b"conformant")
    path.write_text(json.dumps({**values, "payload": base64.b64encode(payload).decode()}))
    command = [str(READERS), "-I", str(OFFICIAL), str(bundle.folder), *seal.FILES]
    found = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert found.returncode != 0
    assert "VerificationError" in found.stderr
