"""The parts of one worker, made once and handed to every endpoint."""

from .agents import Agents
from .authorizations import Authorizations
from .clock import Clock
from .database import Database
from .grants import Grants
from .keys import CoreKeys
from .merchants import Merchants
from .projects import Projects
from .settings import Settings
from .tokens import Tokens
from .users import Users
from .vault import Vault


class Services:
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.database = Database(settings.database)
        self.clock = Clock(self.database)
        self.core_keys = CoreKeys(self.database, self.clock)
        self.projects = Projects(self.database, self.clock)
        self.agents = Agents(self.database)
        self.users = Users(self.database)
        self.grants = Grants(self.database, self.clock)
        self.tokens = Tokens(settings.issuer, self.core_keys, self.clock)
        self.merchants = Merchants(self.clock)
        self.vault = Vault(self.database, self.clock, self.merchants, settings.vault_key)
        self.authorizations = Authorizations(self.database, self.clock)

    async def close(self) -> None:
        await self.merchants.close()
        self.database.close()
