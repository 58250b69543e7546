"""gateproof tests agent authorization gateways, the services behind them, and agents.

In a checkout the four parts are links to the top-level folders; an installed package contains them.
"""

__version__ = "0.2.0"
