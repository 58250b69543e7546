"""The version of the specification on which the rules are based."""

IDENTITY = "Agent Authorization Gateway and MCP/UCP Service Protection"
VERSION = "checked against Console 0.10.1 and 0.14.1 on 2026-10-19"
# SHA-256 of the text, so that readers can compare their copy.
DIGEST = "b4e8f4d6b7a23eb1a650d8eb02be18ca2c166f1f494260eedb16405a7cd4e280"
