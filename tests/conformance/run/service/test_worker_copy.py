"""The service of the first worker is started before those of the others."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from typing import Any, cast

import pytest

from gateproof.conformance.run.service import worker_copy
from gateproof.conformance.run.service.worker_copy import ServiceShare


def share(folder: Path) -> ServiceShare:
    return ServiceShare(copied_from=cast("Any", None), told={"folder": folder, "seed": 1})


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    order: list[str] = []

    def opened(_share: ServiceShare, stack: Any) -> None:
        order.append(stack)

    monkeypatch.setattr(ServiceShare, "_opened", opened)
    return order


def test_others_wait_until_the_first_is_ready(tmp_path: Path, started: list[Any]) -> None:
    other = Thread(target=lambda: share(tmp_path).opened(cast("Any", "other"), first=False))
    other.start()

    share(tmp_path).opened(cast("Any", "first"), first=True)
    other.join(timeout=30)

    assert started == ["first", "other"]


def test_others_start_all_the_same_if_the_first_never_does(
    tmp_path: Path, started: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_copy, "_AT_MOST_S", 0.1)

    share(tmp_path).opened(cast("Any", "other"), first=False)

    assert started == ["other"]


def test_others_do_not_wait_for_one_that_could_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(ServiceShare, "_opened", broken)
    with ExitStack() as stack, pytest.raises(RuntimeError):
        share(tmp_path).opened(stack, first=True)

    assert list(tmp_path.iterdir())
