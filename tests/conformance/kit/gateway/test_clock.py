"""The target's clock."""

from types import SimpleNamespace

from gateproof.conformance.kit.gateway.clock import Clock


def test_a_clock_is_moved_by_whole_seconds():
    asked = []
    control = SimpleNamespace(call=lambda _action, **arguments: asked.append(arguments) or {})
    clock = Clock(control=control, offered=True)

    clock.advance(69.4)

    assert asked == [{"seconds": 70}]
    assert isinstance(asked[0]["seconds"], int)
    assert clock.offset_s == 70
