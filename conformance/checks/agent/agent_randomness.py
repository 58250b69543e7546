"""Length, randomness and uniqueness of all verifiers and states that were seen."""

from __future__ import annotations

import string
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import chain

from gateproof.conformance.checks.agent._interrupted_runs import interrupted_at_sign_in
from gateproof.conformance.checks.agent._shared_runs import (
    TOKEN_ENDPOINT_FAILS,
    all_tokens_refused,
    pending_runs,
    recovered,
    refused_code_runs,
)
from gateproof.conformance.kit.agent.agent import (
    Agents,
    Attempt,
    Install,
    attempts_of,
    require_all_in_time,
    require_done,
)
from gateproof.conformance.kit.agent.digests import digests_among, readings_of
from gateproof.conformance.kit.agent.launch import Ended
from gateproof.conformance.kit.agent.linear_generator import linear_among
from gateproof.conformance.kit.agent.seeds import seeded_among
from gateproof.conformance.kit.inputs.entropy import (
    apparent_bits,
    bits_within,
    decoded,
    has_fewer_bits_than,
    steady_steps,
)
from gateproof.conformance.suite.check import check
from gateproof.conformance.suite.claims import LeftOut, expect, observe, require
from gateproof.conformance.wire.exchange import Exchange

# With this many samples, a position that does not vary is visible.
SAMPLES = 6
VERIFIER_LENGTHS = range(43, 129)
# Estimates for 32 and 16 random octets from few samples: in some positions, letters repeat by chance.
VERIFIER_BITS, STATE_BITS = 240.0, 118.0
# With this many samples no position stays constant by chance: even a few missing bits are detected.
MANY_SAMPLES = 14
_IN_FULL = {VERIFIER_BITS: 256, STATE_BITS: 128}
# RFC 7636 section 4.1 allows no others. The last one is the padding of base64url, which the specification
# names.
_OF_VERIFIERS = frozenset(f"{string.ascii_letters}{string.digits}-._~=")
# A common part of this length is no coincidence.
_SHARED = 12
# How many small numbers are tried (16 bits), and how long before the request a value may have been generated.
_SMALL_NUMBERS, _DRAWN_BEFORE_S = 1 << 16, 60
# In milliseconds, only those shortly before the authorization are tried.
_JUST_BEFORE_S = 3.0
# Processes started between the launched one and the one that generates values, also by other programs.
_STARTED_MEANWHILE = 64
# Two of three installs start in the same second, at whatever moment they are started.
_AT_ONCE, _FEWEST_AT_ONCE = 3, 2


@check("AGENT-04")
def verifier_is_long_and_random(agents: Agents) -> None:
    """The verifier has 43 to 128 of the characters of a verifier, with the randomness of 32 octets.

    Characters that RFC 7636 allows but base64url does not have, and padding, are recorded.
    """
    attempts = _exchanged(agents)
    verifiers = [attempt.verifier or "" for attempt in attempts]
    lengths = sorted(map(len, verifiers))
    observe(shortest=lengths[0], written_as_the_spec_has_it=all(map(_is_base64url, verifiers)))
    expect.that(
        all(length in VERIFIER_LENGTHS for length in lengths),
        "length of the verifier",
        expected="43 to 128 characters",
        got=f"{lengths[0]} to {lengths[-1]}",
        exchange=_one_of(agents, attempts),
    )
    others = sorted(set().union(*verifiers) - _OF_VERIFIERS)
    expect.that(
        not others,
        "characters of the verifier",
        expected="base64url, or others of RFC 7636 section 4.1",
        got=f"{' '.join(others)} as well",
        exchange=_one_of(agents, attempts),
    )
    _random(verifiers, VERIFIER_BITS, "the verifier", _one_of(agents, attempts))


@check("AGENT-04")
def state_is_long_and_random(agents: Agents) -> None:
    """The state has the randomness of 16 octets, in any form."""
    attempts = _samples(agents)
    states = [attempt.state or "" for attempt in attempts]
    observe(shortest=min(map(len, states)))
    _random(states, STATE_BITS, "the state", _one_of(agents, attempts))


@check("AGENT-04")
def verifier_is_random_within_an_install(agents: Agents) -> None:
    """The verifiers of one install have the randomness of 32 octets apart from their common part."""
    attempts = _exchanged(agents)
    verifiers = [attempt.verifier or "" for attempt in attempts]
    _random_within(agents, attempts, verifiers, VERIFIER_BITS, "the verifier")


@check("AGENT-04")
def state_is_random_within_an_install(agents: Agents) -> None:
    """The states of one install have the randomness of 16 octets apart from their common part."""
    attempts = _samples(agents)
    states = [attempt.state or "" for attempt in attempts]
    _random_within(agents, attempts, states, STATE_BITS, "the state")


@check("AGENT-04")
def nothing_is_used_twice(agents: Agents) -> None:
    """Every authorization has a new state and a new challenge, in all runs and installs."""
    samples = _samples(agents)
    kinds: dict[str, Callable[[Attempt], str | None]] = {
        "state": lambda attempt: attempt.state,
        "code_challenge": lambda attempt: attempt.challenge,
        "code_verifier": lambda attempt: attempt.verifier,
    }
    for name, of in kinds.items():
        drawn = [each for each in samples if name != "code_verifier" or each.verifier is not None]
        times = Counter(map(of, drawn))
        twice = [each for each in drawn if times[of(each)] > 1 or not of(each)]
        expect.that(
            not twice,
            f"{name} of {len(drawn)} authorizations",
            expected="a new one each time",
            got=f"{len(times)} different ones",
            exchange=_one_of(agents, twice),
        )


@check("AGENT-04")
def interrupted_authorization_is_not_resumed(agents: Agents) -> None:
    """After an interruption during the sign-in, the next run has a new state and a new challenge."""
    require_done(agents.normal())
    _, cut_short, after = interrupted_at_sign_in(agents).runs
    require_all_in_time([cut_short, after])
    before, later = attempts_of(cut_short), attempts_of(after)
    if cut_short.ended is not Ended.ASKED_TO or not before or not later:
        raise LeftOut("the agent was not interrupted at a sign-in, or does not authorize after that")
    kinds: dict[str, Callable[[Attempt], str | None]] = {
        "state": lambda attempt: attempt.state,
        "code_challenge": lambda attempt: attempt.challenge,
    }
    for name, of in kinds.items():
        again = [each for each in later if of(each) in set(map(of, before))]
        expect.that(
            not again,
            f"{name} of {after.what}",
            expected="another one than before the interruption",
            got="the same one",
            exchange=again[0].request if again else None,
        )


@check("AGENT-04")
def verifier_and_state_have_nothing_in_common(agents: Agents) -> None:
    """The verifier is not part of the state, nor computed from it: the state passes through the browser."""
    attempts = _exchanged(agents)
    plain = decoded([attempt.verifier or "" for attempt in attempts])
    for attempt, spelled in zip(attempts, plain, strict=True):
        verifier, state = attempt.verifier or "", attempt.state or ""
        matcher = SequenceMatcher(None, verifier, state, autojunk=False)
        shared = matcher.find_longest_match().size
        expect.that(
            shared < _SHARED,
            "what verifier and state have in common",
            expected="nothing",
            got="all of the state" if shared == len(state) else f"{shared} characters in a row",
            exchange=attempt.request,
        )
        known = [guess for text in (state, attempt.client_id) if text for guess in readings_of(text)]
        digest = next(iter(digests_among({verifier, spelled}, known).values()), None)
        expect.that(
            digest is None,
            "what the verifier is made of",
            expected="nothing that is in the address as well",
            got=f"a digest of the state or the client ID, by {digest}",
            exchange=attempt.request,
        )


@check("AGENT-04")
def neither_is_a_digest_of_what_is_easily_guessed(agents: Agents) -> None:
    """Verifier and state are no digests of the time or of a small number, which can be guessed."""
    attempts = _samples(agents)
    values = {
        "state": _as_written([attempt.state for attempt in attempts if attempt.state]),
        "verifier": _as_written([attempt.verifier for attempt in attempts if attempt.verifier]),
    }
    found = digests_among(set().union(*values.values()), _easily_guessed(attempts))
    for name, drawn in values.items():
        made = {drawn[text]: digest for text, digest in found.items() if text in drawn}
        expect.that(
            not made,
            f"the {name} of {len(attempts)} authorizations",
            expected="no digest of the time or of a small number",
            got=f"{len(made)} that are one, by {' and '.join(sorted(set(made.values())))}",
            exchange=_one_of(
                agents, [each for each in attempts if {each.state, each.verifier} & made.keys()]
            ),
        )


@check("AGENT-04")
def neither_comes_from_a_guessable_seed(agents: Agents) -> None:
    """Verifier and state are no output of a generator that is seeded with the time or a process ID.

    Only Python's generator is tested, which many agents use.
    """
    attempts = _samples(agents)
    values = {each for attempt in attempts for each in (attempt.state, attempt.verifier) if each}
    found = seeded_among(values, _easy_seeds(attempts))
    expect.that(
        not found,
        f"verifiers and states of {len(attempts)} authorizations",
        expected="values that no guessable seed gives",
        got=f"{len(found)} that come from the time or from a number of a process",
        exchange=_one_of(agents, [each for each in attempts if {each.state, each.verifier} & found.keys()]),
    )


@check("AGENT-04")
def neither_comes_from_a_linear_generator(agents: Agents) -> None:
    """Verifier and state are no output of java.util.Random, whose state has 48 bits whatever its seed.

    Generators with a larger state, such as that of Math.random, are not recognized.
    """
    attempts = _samples(agents)
    values = {each for attempt in attempts for each in (attempt.state, attempt.verifier) if each}
    found = linear_among(values)
    expect.that(
        not found,
        f"verifiers and states of {len(attempts)} authorizations",
        expected="values of a cryptographic generator",
        got=f"{len(found)} that a generator with 48 bits of state gives",
        exchange=_one_of(agents, [each for each in attempts if {each.state, each.verifier} & found]),
    )


@check("AGENT-04")
def installs_that_start_at_once_draw_different_values(agents: Agents) -> None:
    """New installs that start at the same moment have different states and challenges.

    Any value that depends only on the time in seconds is the same in two of them.
    """
    require_done(agents.normal())
    runs = agents.at_once(_AT_ONCE, f"a run that starts together with {_AT_ONCE - 1} others")
    attempts = [attempt for run in runs for attempt in attempts_of(run)[:1]]
    if len(attempts) < _FEWEST_AT_ONCE:
        raise LeftOut("the agent does not authorize in two installs that start at once")
    asked_at = [each.request.at_s for each in attempts if each.request is not None]
    observe(seconds_apart=round(max(asked_at) - min(asked_at), 1) if asked_at else None)
    for name, drawn in (
        ("state", [each.state for each in attempts]),
        ("code_challenge", [each.challenge for each in attempts]),
    ):
        expect.that(
            len(set(drawn)) == len(drawn),
            f"{name} of {len(drawn)} installs that started at once",
            expected="a different one in each",
            got=f"{len(set(drawn))} different ones",
            exchange=attempts[-1].request,
        )


def _easy_seeds(attempts: Sequence[Attempt]) -> set[int]:
    """The times at which values may have been generated, and IDs of processes that may have done it."""
    numbers = {attempt.process + more for attempt in attempts for more in range(_STARTED_MEANWHILE)}
    return numbers.union(_seconds(attempts), _milliseconds(attempts))


def _as_written(values: Sequence[str]) -> dict[str, str]:
    """Maps each text that may be a digest (the value itself and its decodings) to the value."""
    plain = decoded(values) if values else []
    return dict(zip((*plain, *values), (*values, *values), strict=True))


def _easily_guessed(attempts: Sequence[Attempt]) -> Iterator[bytes]:
    """Small numbers, and the seconds and milliseconds in which the value may have been generated."""
    for number in chain(range(_SMALL_NUMBERS), _seconds(attempts), _milliseconds(attempts)):
        yield str(number).encode()


def _seconds(attempts: Sequence[Attempt]) -> set[int]:
    to_the_clock = time.time() - time.monotonic()
    asked_at = [int(each.request.at_s + to_the_clock) for each in attempts if each.request is not None]
    return {second for at in asked_at for second in range(at - _DRAWN_BEFORE_S, at + 2)}


def _milliseconds(attempts: Sequence[Attempt]) -> set[int]:
    """Those of the first authorizations only: there are a thousand times as many as seconds."""
    to_the_clock = time.time() - time.monotonic()
    asked_at = [each.request.at_s + to_the_clock for each in attempts[:SAMPLES] if each.request is not None]
    return {
        number for at in asked_at for number in range(int(1000 * (at - _JUST_BEFORE_S)), int(1000 * at) + 2)
    }


def _samples(agents: Agents) -> list[Attempt]:
    """All authorizations so far, after more runs if there are too few."""
    require_done(agents.normal())
    _installs(agents)
    run = 2
    while len(agents.attempts) < SAMPLES and run < 2 + 2 * SAMPLES:
        run += 1
        require_done(agents.story(run))
    require.that(
        len(agents.attempts) >= SAMPLES,
        "runs after the end of the tokens",
        expected=f"{SAMPLES} authorizations",
        got=f"{len(agents.attempts)}",
    )
    return list(agents.attempts)


def _installs(agents: Agents) -> list[Install]:
    """Installs with authorizations after different results of the one before.

    It succeeded, a code was refused or missing, a token was refused, or the token endpoint failed.
    """
    scenes = [scene(agents) for scene in (refused_code_runs, pending_runs, all_tokens_refused)]
    return [agents.shared(), *scenes, recovered(agents, TOKEN_ENDPOINT_FAILS)]


def _exchanged(agents: Agents) -> list[Attempt]:
    """The authorizations whose verifier is known."""
    found = [attempt for attempt in _samples(agents) if attempt.verifier is not None]
    require.that(
        len(found) >= SAMPLES // 2, "the runs", expected="exchanges with a verifier", got=f"{len(found)}"
    )
    return found


def _one_of(agents: Agents, attempts: Sequence[Attempt]) -> Exchange | None:
    """The request of one of these authorizations that is in the record of this check."""
    runs = [run for install in _installs(agents) for run in install.runs]
    states = {visit.value("state") for run in runs for visit in run.visits}
    return next((each.request for each in reversed(attempts) if each.state in states), None)


def _random(values: Sequence[str], bits: float, what: str, shown: Exchange | None) -> None:
    texts = decoded(values) if all(values) else list(values)
    apparent = apparent_bits(texts) if all(values) else 0.0
    expect.that(
        apparent >= bits and not steady_steps(values) and not steady_steps(texts),
        f"random bits in {what}, estimated from {len(values)} samples",
        expected=f"about {_IN_FULL[bits]} random bits",
        got=_found(apparent, bits),
        exchange=shown,
    )
    expect.that(
        len(set(texts)) < MANY_SAMPLES or not has_fewer_bits_than(_IN_FULL[bits], texts),
        f"upper bound of the random bits in {what}, from {len(values)} samples",
        expected=f"{_IN_FULL[bits]} random bits",
        got="fewer, even if every position that varies is random",
        exchange=shown,
    )


def _random_within(
    agents: Agents, attempts: Sequence[Attempt], values: Sequence[str], bits: float, what: str
) -> None:
    """Expects this randomness apart from the install's common part, which any one of its values reveals."""
    installs: dict[str, list[str]] = {}
    for attempt, value in zip(attempts, decoded(values), strict=True):
        installs.setdefault(attempt.install, []).append(value)
    left = bits_within(list(installs.values()))
    if left is None:
        raise LeftOut("there are too few authorizations of one and the same install")
    expect.that(
        left >= bits and not any(map(steady_steps, installs.values())),
        f"random bits in {what} apart from the install's common part, from {len(values)} samples",
        expected=f"about {_IN_FULL[bits]} random bits",
        got=_found(left, bits),
        exchange=_one_of(agents, attempts),
    )


def _found(apparent: float, bits: float) -> str:
    return f"about {apparent:.0f}" if apparent < bits else "values in steps of one size"


def _is_base64url(text: str) -> bool:
    return all(char.isascii() and (char.isalnum() or char in "-_") for char in text)
