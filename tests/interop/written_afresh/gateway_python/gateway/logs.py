"""The log: one line for each event, without credentials, in a file that all workers append to."""

import logging
import sys
import traceback
from pathlib import Path

from .database import Database

_POSITION = "log_position"


class WithoutMessages(logging.Formatter):
    """Shows where an exception came from, but not its message, which may quote what was sent."""

    def formatException(self, ei) -> str:
        kind, _, trace = ei
        return "".join(traceback.format_tb(trace)) + (kind.__name__ if kind else "")


def configure(path: Path) -> None:
    formatter = WithoutMessages("%(asctime)s %(process)d %(levelname)s %(name)s %(message)s")
    handlers: list[logging.Handler] = [logging.FileHandler(path), logging.StreamHandler(sys.stderr)]
    for handler in handlers:
        handler.setFormatter(formatter)
    logging.basicConfig(level=logging.INFO, handlers=handlers, force=True)
    for name in ("httpx", "httpcore", "uvicorn.error"):
        logging.getLogger(name).setLevel(logging.WARNING)


def since_last_call(database: Database, path: Path) -> str:
    with database.transaction():
        position = int(database.setting(_POSITION) or 0)
        with path.open("rb") as file:
            file.seek(position)
            text = file.read()
        database.set_setting(_POSITION, str(position + len(text)))
    return text.decode(errors="replace")
