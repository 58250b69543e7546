"""Random values pass for random, and what only looks long does not."""

from __future__ import annotations

import random
import secrets
import uuid
from base64 import b32encode, b85encode, urlsafe_b64encode
from collections.abc import Callable, Sequence

import pytest

from gateproof.conformance.checks.agent.agent_randomness import MANY_SAMPLES, STATE_BITS, VERIFIER_BITS
from gateproof.conformance.checks.gateway.authz_browser import SAMPLES, SAMPLES_ELSEWHERE
from gateproof.conformance.kit.inputs.entropy import (
    apparent_bits,
    bits_within,
    decoded,
    has_fewer_bits_than,
    max_bits,
    steady_steps,
)

GOOD: dict[str, Callable[[], str]] = {
    "hex of 16 bytes": lambda: secrets.token_hex(16),
    "base64url of 16 bytes": lambda: secrets.token_urlsafe(16),
    "base64url of 32 bytes with a prefix": lambda: "secret_" + secrets.token_urlsafe(32),
}
BAD: dict[str, Callable[[], str]] = {
    "hex of 15 bytes": lambda: secrets.token_hex(15),
    "UUID version 4": lambda: str(uuid.uuid4()),
    "a long prefix and a counter": lambda: "c" * 40 + f"{secrets.randbelow(10**9):09}",
    "a constant": lambda: "the-same-secret-for-everybody-who-asks",
}


@pytest.mark.parametrize("make", GOOD.values(), ids=GOOD)
def test_random_values_look_random(make: Callable[[], str]) -> None:
    assert all(apparent_bits([make() for _ in range(32)]) > 127 for _ in range(20))


@pytest.mark.parametrize("make", BAD.values(), ids=BAD)
def test_guessable_values_do_not(make: Callable[[], str]) -> None:
    assert all(apparent_bits([make() for _ in range(32)]) <= 127 for _ in range(20))


def base32(generator: random.Random) -> str:
    return b32encode(generator.randbytes(16)).decode().rstrip("=")


def base36(generator: random.Random) -> str:
    """As JavaScript writes numbers: one that is small has a digit less."""
    number, digits = generator.getrandbits(128), ""
    while number:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits


# Seeded generators of no more than 128 bits, and of a few bits less.
TIGHT: dict[str, Callable[[random.Random], str]] = {
    "hex": lambda generator: generator.randbytes(16).hex(),
    "base64url": lambda generator: urlsafe_b64encode(generator.randbytes(16)).decode().rstrip("="),
    "base32": base32,
    "base36": base36,
    "decimal": lambda generator: f"{generator.randrange(10**39):039}",
}
SHORT: dict[str, Callable[[random.Random], str]] = {
    "hex of 15 bytes": lambda generator: generator.randbytes(15).hex(),
    "base64url of 15 bytes": lambda generator: urlsafe_b64encode(generator.randbytes(15)).decode(),
    "UUID version 4": lambda generator: str(uuid.UUID(int=generator.getrandbits(128), version=4)),
    "64 bits": lambda generator: generator.randbytes(8).hex(),
    "the time and four digits": lambda g: f"17{g.randrange(10**12):017}{g.randrange(10**4):04}",
}
# By how many samples a judge of codes looks, and how.
JUDGES: dict[str, tuple[int, Callable[[Sequence[str]], float]]] = {
    "many samples": (SAMPLES, apparent_bits),
    "few samples": (SAMPLES_ELSEWHERE, max_bits),
}


@pytest.mark.parametrize(("count", "bits"), JUDGES.values(), ids=JUDGES)
@pytest.mark.parametrize("make", TIGHT.values(), ids=TIGHT)
def test_codes_of_128_bits_are_never_blamed_for_bad_luck(
    make: Callable[[random.Random], str], count: int, bits: Callable[[Sequence[str]], float]
) -> None:
    generator = random.Random(12)
    assert all(bits([make(generator) for _ in range(count)]) > 127 for _ in range(1000))


@pytest.mark.parametrize(("count", "bits"), JUDGES.values(), ids=JUDGES)
@pytest.mark.parametrize("make", SHORT.values(), ids=SHORT)
def test_codes_of_fewer_bits_are_always_caught(
    make: Callable[[random.Random], str], count: int, bits: Callable[[Sequence[str]], float]
) -> None:
    generator = random.Random(12)
    assert all(bits([make(generator) for _ in range(count)]) <= 127 for _ in range(1000))


# How many authorizations there are of each install: the fewest that are judged, and about as many as usual.
INSTALLS = [(6,), (3, 3), (2, 2, 2, 2), (3, 2, 2), (4, 5, 3, 2, 1, 1), (4, 5, 3, 5, *[2] * 12, *[1] * 20)]


def drawn(
    make: Callable[[random.Random], str], generator: random.Random, installs: Sequence[int], kept: int = 0
) -> list[list[str]]:
    """Values of several installs, each with so many octets of its own in front, and as many behind."""
    mine = [generator.randbytes(kept).hex() for _ in installs]
    return [[f"{own}{make(generator)}{own}" for _ in range(n)] for own, n in zip(mine, installs, strict=True)]


@pytest.mark.parametrize("installs", INSTALLS, ids=str)
@pytest.mark.parametrize("make", TIGHT.values(), ids=TIGHT)
def test_states_of_128_bits_are_not_blamed_for_what_an_install_keeps(
    make: Callable[[random.Random], str], installs: tuple[int, ...]
) -> None:
    generator = random.Random(12)
    for kept in (0, 0, 0, 8):
        for _ in range(120):
            left = bits_within(drawn(make, generator, installs, kept))
            assert left is not None
            assert left >= STATE_BITS


@pytest.mark.parametrize("installs", INSTALLS, ids=str)
def test_verifiers_of_256_bits_are_not_blamed_for_what_an_install_keeps(installs: tuple[int, ...]) -> None:
    generator = random.Random(12)
    for make in (
        lambda g: urlsafe_b64encode(g.randbytes(32)).decode().rstrip("="),
        lambda g: g.randbytes(32).hex(),
    ):
        for kept in (0, 0, 0, 8):
            for _ in range(120):
                left = bits_within(drawn(make, generator, installs, kept))
                assert left is not None
                assert left >= VERIFIER_BITS


@pytest.mark.parametrize("installs", INSTALLS, ids=str)
def test_what_an_install_keeps_is_known_to_whoever_has_seen_it(installs: tuple[int, ...]) -> None:
    generator = random.Random(12)
    for make in (
        lambda g: f"{1_790_000_000_000 + g.randrange(10**6)}",
        lambda g: g.randbytes(8).hex(),
        lambda g: str(g.randrange(10_000)),
    ):
        for _ in range(120):
            left = bits_within(drawn(make, generator, installs, 16))
            assert left is not None
            assert left < STATE_BITS


@pytest.mark.parametrize("installs", [(1, 1, 1, 1, 1, 1, 1), (2, 2, 2), (4,), (3, 2)], ids=str)
def test_few_samples_of_an_install_tell_nothing(installs: tuple[int, ...]) -> None:
    assert bits_within(drawn(TIGHT["hex"], random.Random(12), installs)) is None


def test_counter_has_the_bits_of_its_last_digits() -> None:
    start = random.Random(7).randrange(10**6)
    assert apparent_bits([f"secret-{start + number:012}" for number in range(32)]) < 16


def test_scrambled_counter_takes_steady_steps() -> None:
    odd = 0x9E3779B97F4A7C15F39CC0605CEDC835
    values = [(count * odd) % (1 << 128) for count in range(1, 17)]

    assert steady_steps([f"code_{value:032x}" for value in values])
    assert steady_steps([urlsafe_b64encode(value.to_bytes(16, "big")).decode() for value in values])


@pytest.mark.parametrize("mark", ["", "v1", "code_", "v1.x-"])
def test_scrambled_counter_takes_steady_steps_behind_any_mark(mark: str) -> None:
    for octets in (8, 16, 32):
        odd, most = random.Random(octets).randrange(1, 1 << 8 * octets, 2), 1 << 8 * octets
        values = [((count + 7) * odd % most).to_bytes(octets, "big") for count in range(6)]
        assert steady_steps([mark + value.hex() for value in values])
        assert steady_steps([mark + urlsafe_b64encode(value).decode().rstrip("=") for value in values])


def test_counter_beside_what_is_random_takes_no_steady_steps() -> None:
    generator = random.Random(12)
    for make in (lambda g: g.randbytes(16).hex(), lambda g: urlsafe_b64encode(g.randbytes(18)).decode()):
        assert not steady_steps([f"{make(generator)}{count:016}" for count in range(6)])
        texts = [
            f'{{"nonce":"{make(generator)}","at":{count}}}' for count in range(1_795_000_000, 1_795_000_006)
        ]
        assert not steady_steps(texts)
        assert not steady_steps([urlsafe_b64encode(text.encode()).decode() for text in texts])


def test_two_values_make_one_step_which_is_no_series() -> None:
    assert not steady_steps(["00", "01"])
    assert steady_steps(["00", "01", "02"])


def test_random_values_take_no_steady_steps() -> None:
    assert not steady_steps([secrets.token_hex(16) for _ in range(16)])
    assert not steady_steps([secrets.token_urlsafe(32) for _ in range(16)])


def test_encoded_text_is_as_random_as_the_text() -> None:
    def encoded(text: str) -> str:
        return urlsafe_b64encode(text.encode()).decode().rstrip("=")

    drawn = random.Random(12)  # by chance, six of them have too little in common
    short = [encoded(drawn.randbytes(8).hex()) for _ in range(6)]
    assert apparent_bits(short) > 100 > apparent_bits(decoded(short))
    for made in (secrets.token_urlsafe(32), secrets.token_hex(32), "with~what.is-no_base64", "x"):
        values = [made for _ in range(6)]
        assert decoded(values) == values
    named = [encoded(f"orders {secrets.token_urlsafe(16)}") for _ in range(6)]
    assert apparent_bits(decoded(named)) > 118


@pytest.mark.parametrize(
    "outer",
    [lambda text: urlsafe_b64encode(text).rstrip(b"="), lambda text: text.hex().encode(), b32encode],
    ids=["base64url", "hexadecimal", "base32"],
)
@pytest.mark.parametrize("made", [secrets.token_hex, secrets.token_urlsafe], ids=["hex", "base64url"])
def test_text_in_two_encodings_is_no_more_random(
    made: Callable[[int], str], outer: Callable[[bytes], bytes]
) -> None:
    texts = [made(16) for _ in range(8)]
    samples = [outer(urlsafe_b64encode(text.encode()).rstrip(b"=")).decode() for text in texts]

    assert decoded(samples) == texts


@pytest.mark.parametrize("mark", ["v1.", "state-", "https://orders.example/?a=b&n=", "~"])
def test_mark_in_front_of_an_encoding_hides_nothing(mark: str) -> None:
    texts = [secrets.token_hex(8) for _ in range(6)]

    assert decoded([mark + urlsafe_b64encode(text.encode()).decode() for text in texts]) == texts
    once_more = [mark + (f"2-{text}".encode()).hex() for text in texts]
    assert decoded(once_more) == [f"2-{text}" for text in texts]


# Legal states, of 16 octets and more; the install's part of a JWT is the same in all of them.
LEGAL: dict[str, Callable[[random.Random], str]] = {
    **TIGHT,
    "UUID and more": lambda g: f"{uuid.UUID(int=g.getrandbits(128), version=4)}-{g.randbytes(4).hex()}",
    "32 octets": lambda g: urlsafe_b64encode(g.randbytes(32)).decode().rstrip("="),
    "hex in base64url": lambda g: urlsafe_b64encode(g.randbytes(16).hex().encode()).decode(),
    "JSON": lambda g: urlsafe_b64encode(f'{{"n":"{g.randbytes(16).hex()}","to":"/a?b"}}'.encode()).decode(),
    "JWT": lambda g: (
        f"eyJhbGciOiJIUzI1NiJ9.eyJmb3IiOiJvcmRlcnMifQ.{urlsafe_b64encode(g.randbytes(32)).decode()}"
    ),
}


@pytest.mark.parametrize("mark", ["", "v1.", "st_", "a.b-c_d."])
@pytest.mark.parametrize("make", LEGAL.values(), ids=LEGAL)
def test_legal_states_are_not_blamed_for_their_marks(make: Callable[[random.Random], str], mark: str) -> None:
    generator = random.Random(12)
    for count in (6, 8, 20):
        for _ in range(30):
            texts = decoded([mark + make(generator) for _ in range(count)])
            assert apparent_bits(texts) >= STATE_BITS
            assert not steady_steps(texts)


def test_random_octets_are_left_as_they_are_written() -> None:
    generator = random.Random(12)
    for make in (*TIGHT.values(), lambda g: g.randbytes(32).hex(), lambda g: str(g.getrandbits(256))):
        for mark in ("", "v1.", "of-it_"):
            for _ in range(100):
                samples = [mark + make(generator) for _ in range(6)]
                assert decoded(samples) == samples


BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


def in_letters(letters: str, octets: int) -> Callable[[random.Random], str]:
    """Random octets as a number with these digits, without leading zeros."""

    def make(generator: random.Random) -> str:
        number, digits = int.from_bytes(generator.randbytes(octets), "big"), ""
        while number:
            number, digit = divmod(number, len(letters))
            digits = letters[digit] + digits
        return digits

    return make


def of_octets(octets: int) -> dict[str, Callable[[random.Random], str]]:
    """Ways to write so many octets, none with a bit to spare by much."""
    return {
        "hex": lambda g: g.randbytes(octets).hex(),
        "base64url": lambda g: urlsafe_b64encode(g.randbytes(octets)).decode().rstrip("="),
        "base32": lambda g: b32encode(g.randbytes(octets)).decode().rstrip("="),
        "base85": lambda g: b85encode(g.randbytes(octets)).decode(),
        "decimal": in_letters("0123456789", octets),
        "base36": in_letters("0123456789abcdefghijklmnopqrstuvwxyz", octets),
        "base58": in_letters(BASE58, octets),
        "octal": lambda g: f"{int.from_bytes(g.randbytes(octets), 'big'):o}",
        "binary": lambda g: f"{int.from_bytes(g.randbytes(octets), 'big'):b}",
        "a list": lambda g: str(list(g.randbytes(octets))),
    }


@pytest.mark.parametrize("count", [MANY_SAMPLES, 20, 60])
@pytest.mark.parametrize("octets", [16, 32])
def test_octets_have_no_fewer_bits_than_they_have(octets: int, count: int) -> None:
    generator = random.Random(12)
    for name, make in of_octets(octets).items():
        for _ in range(300):
            texts = decoded([make(generator) for _ in range(count)])
            assert not has_fewer_bits_than(8 * octets, texts), name


@pytest.mark.parametrize("make", LEGAL.values(), ids=LEGAL)
def test_legal_states_have_no_fewer_bits_than_they_need(make: Callable[[random.Random], str]) -> None:
    generator = random.Random(12)
    for mark in ("", "v1.", "st_"):
        for _ in range(100):
            texts = decoded([mark + make(generator) for _ in range(MANY_SAMPLES)])
            assert not has_fewer_bits_than(128, texts)


# Verifiers of fewer than 256 bits, that are as long as they have to be.
SHORT_VERIFIERS: dict[str, Callable[[random.Random], str]] = {
    "two UUIDs": lambda g: "".join(uuid.UUID(int=g.getrandbits(128), version=4).hex for _ in range(2)),
    "hex of 31 bytes": lambda g: g.randbytes(31).hex(),
}


@pytest.mark.parametrize("count", [MANY_SAMPLES, 20, 60])
def test_values_of_fewer_bits_are_seen_for_that(count: int) -> None:
    generator = random.Random(12)
    letters = {"21 letters": lambda g: urlsafe_b64encode(g.randbytes(16)).decode()[:21]}
    for bits, known in ((128, {**SHORT, **letters}), (256, SHORT_VERIFIERS)):
        for name, make in known.items():
            for _ in range(300):
                assert has_fewer_bits_than(bits, decoded([make(generator) for _ in range(count)])), name


def test_values_without_bits_have_fewer_than_any() -> None:
    assert has_fewer_bits_than(2, ["the same"] * MANY_SAMPLES)
    assert has_fewer_bits_than(128, [])
