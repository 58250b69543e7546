"""Starts the workers, and stops all of them when one ends or a signal comes.

Workers are processes of their own. They share the addresses (SO_REUSEPORT) and the database, and nothing else.
"""

import multiprocessing
import multiprocessing.connection
import signal
import sys

from . import certificates, worker
from .clock import Clock
from .database import Database
from .keys import CoreKeys
from .settings import Settings

PATIENCE_S = 5


def run(settings: Settings) -> int:
    settings.data.mkdir(parents=True, exist_ok=True)
    if settings.base_url.startswith("https:"):
        certificates.ensure(settings.tls)
    _prepare(settings)
    context = multiprocessing.get_context("spawn")
    # A worker sees the end of this pipe when the launcher dies without a word.
    alive, keep_open = context.Pipe(duplex=False)
    processes = [context.Process(target=worker.main, args=(settings, alive)) for _ in range(settings.workers)]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        for process in processes:
            process.start()
        multiprocessing.connection.wait([process.sentinel for process in processes])
        return 1
    except (KeyboardInterrupt, SystemExit):
        return 0
    finally:
        keep_open.close()
        for process in processes:
            if process.pid is not None:
                process.terminate()
        for process in processes:
            if process.pid is not None:
                process.join(PATIENCE_S)
                process.kill()


def _prepare(settings: Settings) -> None:
    database = Database(settings.database)
    database.create_tables()
    keys = CoreKeys(database, Clock(database))
    if not keys.exist():
        keys.rotate()
    database.close()
