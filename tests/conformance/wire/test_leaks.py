"""A secret is found in whatever form it came, and nothing else is taken for one."""

from __future__ import annotations

import base64
import gzip
import html
import json
import secrets
import tracemalloc
import zlib
from urllib.parse import quote

import pytest

from gateproof.conformance.wire.leaks import Canary, CanarySet, canary, digest, name

SECRET = "wJ8vQ2mZ0pXk4TgL7rNc1sYb/+~.Aa9"
RAW = SECRET.encode()

FORMS = {
    "raw": SECRET,
    "percent": quote(SECRET, safe=""),
    "percent twice": quote(quote("".join(f"%{octet:02x}" for octet in RAW))),
    "base64": base64.b64encode(RAW).decode(),
    "base64 after one": base64.b64encode(b"x" + RAW).decode(),
    "base64 after two": base64.urlsafe_b64encode(b"xy" + RAW).decode().rstrip("="),
    "base64 behind letters": "abcde" + base64.b64encode(RAW).decode(),
    "hex": RAW.hex(),
    "hex in capitals": RAW.hex().upper(),
    "a list of numbers": json.dumps(list(RAW)),
    "a list of numbers without commas": str(list(RAW)).replace(",", ""),
    "octets with colons": RAW.hex(":"),
    "octets of a program": ", ".join(f"{octet:#04x}" for octet in RAW),
    "JSON": "".join(f"\\u{ord(char):04x}" for char in SECRET),
    "HTML": "".join(f"&#{ord(char)};" for char in SECRET),
    "HTML named": html.escape(f"<{SECRET}>"),
    "upper case": SECRET.upper(),
    "lower case": SECRET.lower(),
    "backwards": SECRET[::-1],
    "gzip in base64": base64.b64encode(gzip.compress(RAW)).decode(),
    "deflate in base64": base64.b64encode(zlib.compress(RAW)).decode(),
    "octets in a list": json.dumps(list(RAW)),
    "octets in lines": json.dumps({"type": "Buffer", "data": list(RAW)}, indent=2),
    "octets with an index": json.dumps({str(place): octet for place, octet in enumerate(RAW)}),
    "octets with spaces": " ".join(map(str, RAW)),
    "octets in a list in JSON": json.dumps(json.dumps({str(at): octet for at, octet in enumerate(RAW)})),
    "hex with colons": RAW.hex(":"),
    "hex with dashes": RAW.hex("-").upper(),
    "hex with spaces": RAW.hex(" "),
    "hex of a program": ", ".join(f"0x{octet:02x}" for octet in RAW),
    "in a JWT": "eyJhbGciOiJub25lIn0."
    + base64.urlsafe_b64encode(json.dumps({"a": 1, "b": SECRET}).encode()).decode().rstrip("=")
    + ".c2ln",
    "spread": " ".join(SECRET[at : at + 4] for at in range(0, len(SECRET), 4)),
    "in lines": base64.encodebytes(RAW * 3).decode(),
    "sixteen of it": SECRET[5:21],
    "sixteen of it in base64": base64.b64encode(b"--" + RAW[3:19]).decode(),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_secret_is_found_in_every_form(form: str) -> None:
    canary_set = CanarySet([canary("proxy_token", SECRET), canary("other", "Zz" * 20)])
    assert [found.value for found in canary_set.search(f'{{"x": "{form}", "y": [1, 2]}}')] == [SECRET]


def test_fifteen_characters_are_no_leak() -> None:
    assert CanarySet([canary("proxy_token", SECRET)]).search(f"-{SECRET[5:20]}-") == []


def test_numbers_that_are_no_octets_are_no_leak() -> None:
    numbers = json.dumps({"prices": [999, 256, 1000] * 20, "days": list(range(300)), "at": "00:11:22:33" * 9})
    assert CanarySet([canary("proxy_token", SECRET)]).search(numbers) == []


def test_of_a_jwt_the_signature_counts() -> None:
    head = base64.urlsafe_b64encode(b'{"alg":"ES256","kid":"a","typ":"at+jwt"}').decode().rstrip("=")
    claims = base64.urlsafe_b64encode(b'{"iss":"https://core.example","aud":"a"}').decode().rstrip("=")
    token = f"{head}.{claims}.{'sIgNaTuRe0123456789abcdefXYZ'}"
    canary_set = CanarySet([canary("proxy_token", token)])
    assert canary_set.search(f"{head}.{claims}.AnotherSignature9876543210") == []
    assert canary_set.search(token)
    assert canary_set.search("…sIgNaTuRe0123456789…")


def test_names_inside_a_secret_are_no_secret() -> None:
    project = "prj_0123456789abcdef0123"
    token = f"pt.{project}.Q8w7E6r5T4y3U2i1O0pA"
    canary_set = CanarySet([canary("proxy_token", token, public=[project])])
    assert canary_set.search(f'{{"project_id": "{project}"}}') == []
    assert canary_set.search(token)


def test_an_identifier_is_looked_for_as_a_whole() -> None:
    found = name("proxy_client_id", "proxy_17")
    assert isinstance(found, Canary)
    canary_set = CanarySet([found])
    assert canary_set.search("proxy_171") == []
    assert canary_set.search('{"id": "proxy_17"}')
    assert name("proxy_client_id", "backend") is None


@pytest.mark.parametrize("text", ["Via: 1.1 orders_proxy_1", "proxy_1-eu", "proxy_1.example", "my-proxy_1"])
def test_short_identifier_is_not_taken_for_a_part_of_another_name(text: str) -> None:
    found = name("proxy_client_id", "proxy_1")
    assert isinstance(found, Canary)
    assert CanarySet([found]).search(text) == []


@pytest.mark.parametrize(
    "text",
    ["client=proxy_1&x", "no client proxy_1.", "/clients/proxy_1/", '"PROXY_1"', "proxy_1:s", "- proxy_1 -"],
)
def test_short_identifier_is_found_by_itself(text: str) -> None:
    found = name("proxy_client_id", "proxy_1")
    assert isinstance(found, Canary)
    assert [each.value for each in CanarySet([found]).search(text)] == ["proxy_1"]


def test_long_identifier_is_found_in_another_name() -> None:
    found = name("proxy_client_id", "proxy_0123456789")
    assert isinstance(found, Canary)
    assert CanarySet([found]).search("Via: 1.1 orders_proxy_0123456789")


def test_long_identifiers_are_looked_for_by_their_ends() -> None:
    beginning = "client-of-a-gateway-"
    found = [name("proxy_client_id", f"{beginning}{number:016x}") for number in range(9)]
    canary_set = CanarySet(each for each in found if each is not None)
    of_beginning = {digest(beginning[place : place + 8]) for place in range(len(beginning) - 7)}
    of_end = {digest(f"{7:016x}"[-8:])}
    assert (canary_set.may_find_in(of_beginning), canary_set.may_find_in(of_end)) == (False, True)
    assert [each.value for each in canary_set.search(f'"{beginning}{7:016x}"')] == [f"{beginning}{7:016x}"]


def test_words_are_not_taken_for_secrets() -> None:
    canary_set = CanarySet([canary("proxy_client_secret", "token_endpoint_auth_method_9Z8Y7X6W5V4U3T2S")])
    assert canary_set.search('{"token_endpoint_auth_method": "client_secret_post"}') == []


@pytest.mark.parametrize(
    "secret", ["my-proxy-client-secret", "proxy-secret-1234", "something.of.some.length"]
)
def test_secret_that_is_made_of_words_is_found_whole(secret: str) -> None:
    canary_set = CanarySet([canary("proxy_client_secret", secret)])
    for text in (
        f'{{"sent": "{secret}"}}',
        f"id=a&client_secret={secret}",
        f"proxy_1:{secret}",
        base64.b64encode(secret.encode()).decode(),
    ):
        assert [found.value for found in canary_set.search(text)] == [secret]
    assert canary_set.search(secret.replace("-", " ").replace(".", " ")) == []


def test_short_secret_is_found_where_it_is_a_value() -> None:
    canary_set = CanarySet([canary("proxy_client_secret", "secret1")])
    for text in ('{"a": {"b": "secret1"}}', "id=a&secret=secret1", "X-Debug: secret1", "proxy_1:secret1"):
        assert [found.value for found in canary_set.search(text)] == ["secret1"]
    for text in ("see secret1 in the manual", "secret12", "/secret1/", '"secret1-or-more"', '"Secret1"'):
        assert canary_set.search(text) == []


def test_word_is_not_looked_for() -> None:
    canary_set = CanarySet([canary("proxy_client_secret", "password"), canary("proxy_client_secret", "abc1")])
    assert canary_set.search('<input type="password" name="abc1">') == []


def test_secret_takes_little_memory() -> None:
    canaries = [canary("merchant_access_token", secrets.token_urlsafe(64)) for _ in range(1000)]
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        kept = CanarySet(canaries)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept.search(canaries[0].value)
    assert (after - before) / len(canaries) < 21_000


@pytest.mark.parametrize("beginning", range(9))
@pytest.mark.parametrize("length", [15, 16, 17])
def test_run_is_found_wherever_it_begins(beginning: int, length: int) -> None:
    secret = "0f1e2d3c4b5a69788796a5b4c3d2e1f00123456789abcdef"
    canary_set = CanarySet([canary("proxy_token", secret)])
    for place in range(len(secret) - length + 1):
        text = f"{'~' * beginning}{secret[place : place + length]}~"
        assert bool(canary_set.search(text)) == (length >= 16), text


def test_window_with_words_in_one_secret_is_looked_up_for_another() -> None:
    wordy, other = "session_cookie_a9Z8Y7X6W5", "SeSsIoN_CoOkIe_a9Q1Q2Q3"
    canary_set = CanarySet([canary("proxy_client_secret", wordy), canary("proxy_token", other)])
    # Both have these 16 characters; only in the second one are they no words.
    assert [each.value for each in canary_set.search("~session_cookie_a9~")] == [other]
