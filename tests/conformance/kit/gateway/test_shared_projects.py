"""Projects that checks share: what a check gets again, and what it never gets."""

from __future__ import annotations

from typing import Any

import pytest

from gateproof.conformance.kit.gateway.project_pool import ControlledProjects
from gateproof.conformance.kit.gateway.shared_projects import MOST, MOST_CLIENTS
from gateproof.conformance.targets.control import ControlFailed


class Control:
    """Creates what it is asked for; at most so many Proxy clients in a Project."""

    def __init__(self, most_clients: int = 1_000) -> None:
        self._most = most_clients
        self.made = 0
        self.clients: dict[str, int] = {}

    def call(self, action: str, /, **arguments: Any) -> dict[str, Any]:
        if action == "create_proxy_client":
            project = arguments["project_id"]
            self.clients[project] = self.clients.get(project, 0) + 1
            if self.clients[project] > self._most:
                raise ControlFailed(action, "too many Proxy clients")
        self.made += 1
        return {
            "project_id": f"prj_{self.made}",
            "resource_id": f"res_{self.made}",
            "jwks_uri": f"https://gateway.test/{self.made}/jwks",
            "client_id": f"proxy_{self.made}",
            "client_secret": "secret-of-a-proxy-client",
        }


class Admin:
    """The admin API of a merchant that takes every Resource."""

    def register_client(self, client_id: str, **_more: Any) -> None: ...

    def set_jwks_uri(self, client_id: str, uri: str) -> None: ...


def pool(control: Control | None = None, **options: Any) -> ControlledProjects:
    admin: Any = Admin()
    return ControlledProjects(control or Control(), admin, {}, None, "run", **options)


def test_another_project_is_new_to_the_check_and_not_to_the_run() -> None:
    projects = pool()
    first = [projects.another().id for _ in range(2)]
    assert len({projects.home().id, *first}) == 3
    projects.begin()
    assert [projects.another().id for _ in range(2)] == first


def test_holding_projects_are_kept_and_two_are_two() -> None:
    projects = pool()
    one, other = projects.two_holding()
    assert one.project_id != other.project_id
    assert projects.holding() == one


@pytest.mark.parametrize(("place", "most"), MOST.items())
def test_isolated_users_take_turns_at_a_few_projects(place: Any, most: int) -> None:
    projects = pool()
    turns = [projects.isolating(place).id for _ in range(2 * most)]
    assert len(set(turns)) == most
    assert turns[:most] == turns[most:]


@pytest.mark.parametrize("place", ["strained", "troubled"])
def test_calm_users_meet_no_others(place: Any) -> None:
    projects = pool()
    worse = {projects.isolating(place).id for _ in range(MOST[place])}
    fallen = projects.isolating("calm").id
    projects.became(place, fallen)
    calm = {projects.isolating("calm").id for _ in range(2 * MOST["calm"])}
    assert not calm & {fallen, *worse, projects.home().id, projects.another().id}
    assert fallen in {projects.isolating(place).id for _ in range(MOST[place] + 1)}


def test_place_of_trouble_stays_one() -> None:
    projects = pool()
    troubled = projects.isolating("troubled").id
    projects.became("strained", troubled)
    strained = {projects.isolating("strained").id for _ in range(9)}
    assert troubled not in strained


def test_merchant_that_rejects_the_gateway_gets_a_project_of_its_own() -> None:
    projects = pool()
    own = [projects.isolating("own").id for _ in range(3)]
    shared = [projects.isolating(place).id for place in MOST for _ in range(9)]
    assert len(set(own)) == 3
    assert not set(own) & set(shared)


def test_users_of_the_target_file_get_new_projects() -> None:
    projects = pool(only_given_users=True)
    places: Any = ("calm", "troubled", "calm", "own")
    assert len({projects.isolating(place).id for place in places}) == len(places)
    assert len({projects.for_history(holds=False, number=0).id for _ in range(3)}) == 3


def test_project_is_left_after_some_proxy_clients() -> None:
    projects = pool()
    made = [projects.with_new_client() for _ in range(MOST_CLIENTS + 1)]
    assert len({client.id for _, client in made}) == MOST_CLIENTS + 1
    assert [project.id == made[0][0].id for project, _ in made] == [True] * MOST_CLIENTS + [False]
    assert all(client.id != project.proxy_client.id for project, client in made)


def test_project_is_left_when_it_takes_no_more_proxy_clients() -> None:
    projects = pool(Control(most_clients=2))
    (one, _), (other, client) = projects.with_new_client(), projects.with_new_client()
    assert one.id != other.id == client.project_id


def test_histories_share_projects_and_no_proxy_clients() -> None:
    projects = pool()
    one, again = (projects.for_history(holds=True, number=0) for _ in range(2))
    assert one.id == again.id
    assert one.proxy_client.id != again.proxy_client.id
    others = [projects.for_history(holds=holds, number=number) for holds, number in ((True, 1), (False, 0))]
    assert len({one.id, *(other.id for other in others)}) == 3
