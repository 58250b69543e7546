"""What happens on a request: parse, ask the policies, write the store, render. Nothing is decided here."""
