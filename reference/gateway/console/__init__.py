"""The pages of the Console, on their own origin, for a signed-in operator."""
