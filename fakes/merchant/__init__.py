"""The fake merchant: OpenID Provider, OAuth authorization server and a small merchant API, for tests only."""
