"""Gateways whose token answers do not list the granted scopes in the format of OAuth."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from gateproof.reference.defects.gateway.row import defect
from gateproof.reference.gateway.policy.token_claims import TokenFacts, Tokens, token_answer
from gateproof.reference.outcomes import JsonObject


def written(form: Callable[[Sequence[str]], str]) -> Callable[[TokenFacts, Tokens], JsonObject]:
    return lambda facts, tokens: {**token_answer(facts, tokens), "scope": form(facts.scopes)}


DEFECTS = (
    defect(
        "scopes-joined-by-commas (CODE-11): The scope in a token answer separates the scopes with commas.",
        token_answer=written(",".join),
    ),
    defect(
        "scopes-joined-by-commas-and-blanks (CODE-11): The scope in a token answer separates the scopes "
        "with commas and spaces.",
        token_answer=written(", ".join),
    ),
    defect(
        "scopes-printed-as-a-list (CODE-11): The scope in a token answer is a list in brackets, as a "
        "program prints it.",
        token_answer=written(lambda scopes: f"[{', '.join(scopes)}]"),
    ),
    defect(
        "scopes-as-json-in-a-string (CODE-11): The scope in a token answer is a string that contains a JSON "
        "array.",
        token_answer=written(json.dumps),
    ),
    defect(
        "scope-is-a-constant (CODE-11): The scope in a token answer is always the word default.",
        token_answer=written(lambda _scopes: "default"),
    ),
)
