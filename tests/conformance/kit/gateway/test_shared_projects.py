"""Projects that checks share: what a check gets again, and what it never gets."""

from __future__ import annotations

from typing import Any

from gateproof.conformance.kit.gateway.project_pool import ControlledProjects
from gateproof.conformance.kit.gateway.shared_projects import FOR_USERS, MOST_CLIENTS
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


def test_isolated_users_take_turns_at_a_few_projects() -> None:
    projects = pool()
    turns = [projects.isolating().id for _ in range(2 * FOR_USERS)]
    assert len(set(turns)) == FOR_USERS
    assert turns[:FOR_USERS] == turns[FOR_USERS:]


def test_isolated_users_meet_no_trouble_of_others() -> None:
    projects = pool()
    troubled = projects.isolating().id
    projects.is_troubled(troubled)
    later = {projects.isolating().id for _ in range(2 * FOR_USERS)}
    assert not later & {troubled, projects.home().id, projects.another().id}


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
