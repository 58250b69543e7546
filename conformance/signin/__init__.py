"""How a user signs in at a target: by reading its pages, by a command, by hand, or in a browser."""
