"""The gateway's clock. Tests move it forward; the offset is in the database, so that it holds in every worker."""

import time

from .database import Database

_OFFSET = "clock_offset_s"


class Clock:
    def __init__(self, database: Database) -> None:
        self._database = database

    def offset(self) -> float:
        return float(self._database.setting(_OFFSET) or 0)

    def now(self) -> float:
        return time.time() + self.offset()

    def advance(self, seconds: float) -> None:
        with self._database.transaction():
            self._database.set_setting(_OFFSET, str(self.offset() + seconds))
