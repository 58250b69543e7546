"""For checks of gateways: agents, users, Projects, redemptions, a merchant and a clock."""
