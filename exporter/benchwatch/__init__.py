"""benchwatch shows a database or storage benchmark while it runs, as Prometheus metrics."""

from importlib.metadata import version

__version__ = version("benchwatch")
