"""What a check of a gateway is given: agents, users, Projects, redemptions, a merchant and a clock."""
