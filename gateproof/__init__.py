"""gateproof puts agent authorization gateways, the services behind them and agents to the test.

In a checkout its four packages are links to the folders at the top; an installed gateproof has them here.
"""

__version__ = "0.2.0"
