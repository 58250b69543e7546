"""HTTPS redirect URIs that a gateway need not register, and keeps exactly if it does."""

from __future__ import annotations

# URIs that a rewritten copy is not: parameters twice or empty, a value that looks like an answer once it is
# decoded, and escapes in a path.
UNUSUAL = {
    "repeated-parameter": "https://agent.example/callback?tag=a&tag=b",
    "empty-parameter": "https://agent.example/callback?empty=&last=1",
    "nested-address": "https://agent.example/callback?next=%2Fx%3Fy%3D1%26code%3Dz",
    "plus-and-space": "https://agent.example/callback?name=a%2Bb%20c",
    "encoded-slash": "https://agent.example/call%2Fback",
    "encoded-letters": "https://agent.example/caf%C3%A9",
    "encoded-percent": "https://agent.example/100%2525",
    "long-path": f"https://agent.example/callback/{'gateproof-' * 56}end",
    "long-query": f"https://agent.example/callback?more={'gateproof-' * 56}end",
}
