"""The part of a target file that lists a gateway's Projects, for gateways without a control."""

PROJECT = """
[[projects]]
id = "prj_{n}"
agent_policy = "approve"
[[projects.resources]]
id = "res_{n}"
indicator = "https://api.merchant.example/v{n}"
scopes = ["orders:read"]
jwks_uri = "{url}/res_{n}/jwks"
[[projects.proxy_clients]]
id = "proxy_{n}"
secret_env = "PROXY_{n}_SECRET"
"""


def static_project(url: str, n: int = 1) -> str:
    """A Project with one Resource and one Proxy client."""
    return PROJECT.format(url=url, n=n)
