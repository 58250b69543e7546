"""Request handlers: they parse, call the policies, update the store, and render. They decide nothing."""
