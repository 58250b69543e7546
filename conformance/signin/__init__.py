"""Methods to sign in a user at a target: forms, Chromium, a command, a control action, or by hand."""
