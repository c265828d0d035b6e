"""Loopback ports for the demo's servers: the usual ones, others where those are taken.

A port is taken from the moment that it is chosen, although its server binds it seconds later: each chosen port is
claimed by an abstract unix socket of its name. The kernel drops it with the process, and keeps it apart by network
namespace as it does ports. Tests claim their ports by the same names (tests/support/ports.py).
"""

import socket
import weakref
from collections.abc import Mapping
from contextlib import ExitStack


class Ports(dict[str, int]):
    """Port by name of the server. No other `Ports` on this machine chooses one of them until this is closed or gone."""

    def __init__(self, wanted: Mapping[str, int]) -> None:
        """Chooses a port for each name: the wanted one if it is free and not 0, else any."""
        self._claims = ExitStack()
        weakref.finalize(self, self._claims.close)
        with ExitStack() as listeners:
            for name, port in wanted.items():
                self[name] = self._choose(port, listeners) or self._choose(0, listeners)

    def close(self) -> None:
        """Gives the ports up."""
        self._claims.close()

    def _choose(self, wanted: int, listeners: ExitStack) -> int:
        """A port that is bound in `listeners` and claimed; 0 if the wanted one is taken."""
        while True:
            listener = listeners.enter_context(socket.socket())
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            claim = self._claims.enter_context(socket.socket(socket.AF_UNIX))
            try:
                listener.bind(("127.0.0.1", wanted))
                port: int = listener.getsockname()[1]
                claim.bind(f"\0benchwatch-port-{port}")
            except OSError:
                if wanted:
                    return 0
            else:
                return port
