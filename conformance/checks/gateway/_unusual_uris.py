"""HTTPS redirect URIs that a gateway may refuse to register, and keeps unchanged if it registers them."""

from __future__ import annotations

# URIs that change if they are parsed and rebuilt: repeated or empty parameters, a value that contains encoded
# parameters, and escapes in a path.
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
