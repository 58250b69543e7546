"""What every test may rely on, however the tests were started and however busy the machine is."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

# Who is started in the background of a script ignores Ctrl-C, and so would everything that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("patient", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("patient")
