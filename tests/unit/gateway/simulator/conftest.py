"""The fixtures of `tests.simulated`."""

from tests.simulated import gateway, simulator

__all__ = ["gateway", "simulator"]
