"""Which secrets must not be in an agent's output, and the expectation about the output of one run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gateproof.conformance.kit.agent.launch import Run
from gateproof.conformance.kit.agent.output import printed_in
from gateproof.conformance.suite.claims import expect, require
from gateproof.conformance.wire import leaks

TOKENS = ("access_token", "id_token")
# Long-lived credentials, and short-lived ones that can be used once: printing the latter is only recorded.
LASTING, PASSING = ("client_secret", "refresh_token"), ("code", "code_verifier")
_MOST_PLACES = 4


def nothing_printed(
    run: Run, known: Mapping[str, Sequence[str]], beside: Mapping[str, Sequence[bytes]]
) -> None:
    """Expects none of these secrets in the output of the run, or in the texts `beside`."""
    texts = {"output": [run.output()], **beside}
    found = [
        f"{each.said()} in the {part}"
        for part, pieces in texts.items()
        for each in printed_in(pieces, known)
        if forbidden(each.kind, each.how)
    ]
    expect.that(
        not found,
        f"{' and '.join(texts)} of {run.what}",
        expected=none_of(tuple(known)),
        got=some(found),
    )
    octets = len(run.output()) + run.dropped
    require.that(
        run.dropped == 0,
        "what the agent prints",
        expected="no more than can be searched",
        got=f"{octets} octets",
    )


def forbidden(kind: str, how: str) -> bool:
    """True if the finding breaks the rule: for an access token only plain text, for others any encoding."""
    return kind != "access_token" or how in leaks.PLAIN


def none_of(kinds: tuple[str, ...]) -> str:
    return f"neither {' nor '.join(kind.replace('_', ' ') for kind in kinds)}"


def some(found: Sequence[str]) -> str:
    """A few of the places, each once, and how many more there are."""
    places = list(dict.fromkeys(found))
    more = f"; and {len(places) - _MOST_PLACES} more" if len(places) > _MOST_PLACES else ""
    return "; ".join(places[:_MOST_PLACES]) + more
