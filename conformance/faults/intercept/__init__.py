"""The intercepting proxy: mitmproxy in its own process and environment, controlled by data."""
