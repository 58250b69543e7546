"""The intercepting proxy: mitmproxy in a process and an environment of its own, told what to do as data."""
