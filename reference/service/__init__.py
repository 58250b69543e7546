"""A small, honest operator's service: it shows a user's orders to agents that the gateway vouches for."""
