"""What every test may rely on, however the tests were started and however busy the machine is."""

from __future__ import annotations

import signal

from hypothesis import HealthCheck, settings

from conformance.generating import steady_hypothesis

# Who is started in the background of a script ignores Ctrl-C, and so would everything that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same inputs each time, so that a change is refused for what it changed. Whoever looks for more
# than these asks for the other profile: pytest --hypothesis-profile=seeking.
steady_hypothesis()
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None)
settings.register_profile("steady", PATIENT, derandomize=True)
settings.register_profile("seeking", PATIENT, derandomize=False, max_examples=2000)
settings.load_profile("steady")
