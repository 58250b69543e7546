"""What a rule, a check, a claim, a party and a fault are."""
