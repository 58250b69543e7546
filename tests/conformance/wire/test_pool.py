"""Which connection a request gets, and what becomes of it afterwards."""

from __future__ import annotations

import threading
from typing import Any

import httpcore
import pytest

from gateproof.conformance.wire import pool as pools
from gateproof.conformance.wire.pool import End, Line, Pool

HERE, THERE = End("127.0.0.1", 1, None), End("127.0.0.1", 2, None)


class Stream(httpcore.NetworkStream):
    def __init__(self) -> None:
        self.is_closed = False
        self.is_readable = False

    def close(self) -> None:
        self.is_closed = True

    def get_extra_info(self, _: str) -> Any:
        return self.is_readable


class Network(httpcore.NetworkBackend):
    def __init__(self) -> None:
        self.opened: list[Stream] = []
        self.fails = False

    def connect_tcp(self, *_: object) -> httpcore.NetworkStream:
        if self.fails:
            raise httpcore.ConnectError
        self.opened.append(Stream())
        return self.opened[-1]


@pytest.fixture
def network() -> Network:
    return Network()


@pytest.fixture
def pool(network: Network) -> Pool:
    return Pool(None, network, keep_s=60.0)


def taken(pool: Pool, end: End = HERE, *, wait_s: float = 10.0) -> Line:
    return pool.take(end, connect_s=10.0, wait_s=wait_s)


def test_connection_that_became_idle_last_is_taken_first(pool: Pool) -> None:
    first, second = taken(pool), taken(pool)
    second.give_back(keep=True)
    first.give_back(keep=True)
    assert [taken(pool), taken(pool)] == [first, second]
    assert not first.is_new


def test_connection_to_another_end_is_not_taken(pool: Pool, network: Network) -> None:
    taken(pool).give_back(keep=True)
    assert taken(pool, THERE).is_new
    assert not taken(pool).is_new
    assert len(network.opened) == 2


def test_connection_that_is_not_to_be_kept_is_closed(pool: Pool, network: Network) -> None:
    taken(pool).give_back(keep=False)
    assert network.opened[0].is_closed
    assert taken(pool).is_new


def test_connection_that_the_server_ended_is_closed(pool: Pool, network: Network) -> None:
    taken(pool).give_back(keep=True)
    network.opened[0].is_readable = True
    assert taken(pool).is_new
    assert network.opened[0].is_closed


def test_connections_that_were_idle_for_too_long_are_closed(pool: Pool, network: Network) -> None:
    for line in (taken(pool), taken(pool, THERE)):
        line.give_back(keep=True)
        line.expires_at = 0.0
    assert taken(pool).is_new
    assert [stream.is_closed for stream in network.opened] == [True, True, False]


def test_pool_without_keeping_closes_all(network: Network) -> None:
    pool = Pool(None, network, keep_s=0.0)
    taken(pool).give_back(keep=True)
    assert network.opened[0].is_closed


def test_closed_pool_keeps_no_connection_from_before(pool: Pool, network: Network) -> None:
    idle, in_use = taken(pool), taken(pool)
    idle.give_back(keep=True)
    pool.close()
    assert [stream.is_closed for stream in network.opened] == [True, False]
    in_use.give_back(keep=True)
    assert network.opened[1].is_closed
    taken(pool).give_back(keep=True)
    assert not taken(pool).is_new


def test_number_of_connections_has_a_bound(
    pool: Pool, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "AT_ONCE", 2)
    first, second = taken(pool), taken(pool)
    with pytest.raises(httpcore.PoolTimeout):
        taken(pool, wait_s=0.0)
    # One that is idle makes room, also for a connection to another end.
    first.give_back(keep=True)
    third = taken(pool, THERE)
    assert network.opened[0].is_closed

    waiting: list[Line] = []
    thread = threading.Thread(target=lambda: waiting.append(taken(pool)))
    thread.start()
    second.give_back(keep=True)
    thread.join(10)
    assert len(waiting) == 1
    third.give_back(keep=False)


def test_connection_that_could_not_be_made_takes_no_room(
    pool: Pool, network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pools, "AT_ONCE", 1)
    network.fails = True
    for _ in range(2):
        with pytest.raises(httpcore.ConnectError):
            taken(pool)
    network.fails = False
    assert taken(pool, wait_s=0.0).is_new
