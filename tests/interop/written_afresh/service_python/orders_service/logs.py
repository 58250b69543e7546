"""Structured logs: one JSON object a line, made of known fields only."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

# Libraries may put requests, answers or input into their messages, so only their warnings are kept, by name alone.
OWN_LOGGER = "orders_service"


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        own = record.name.startswith(OWN_LOGGER)
        line: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage() if own else "library_message",
            "line": f"{record.module}:{record.lineno}",
        }
        line.update(getattr(record, "fields", {}))
        if record.exc_info and record.exc_info[0]:
            # The type alone: an exception's text may quote what was sent.
            line["error"] = record.exc_info[0].__name__
        return json.dumps(line)


def configure(level: str = "INFO") -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger(OWN_LOGGER).setLevel(level)
    for name in ("fastmcp", "mcp", "uvicorn", "uvicorn.error", "httpx", "httpcore"):
        logger = logging.getLogger(name)
        logger.handlers[:] = []
        logger.propagate = True
        logger.setLevel(logging.WARNING)


def log(level: int, event: str, **fields: object) -> None:
    """Log an event with fields. Callers pass codes, counts and durations, never a credential."""
    logging.getLogger(OWN_LOGGER).log(level, event, extra={"fields": fields}, stacklevel=2)
