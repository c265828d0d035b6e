"""Ports for servers that are started by address, as none of them says which port it found.

Kernels give other programs ports of the ephemeral range (32768 and up), so one that is found free there may be taken
before its server binds it. These are below that range, and another process of tests begins elsewhere. A port stays
claimed by an abstract unix socket of its name until this process ends, so that no other process of tests is given it
before its server binds it, or while that is started again. Such names belong to a network namespace, as ports do. The
demo claims its ports by the same names (scripts/demo_ports.py).
"""

import itertools
import os
import socket

_FIRST, _LAST = 10000, 32000
_next = itertools.count(os.getpid() * 997)
_claims: list[socket.socket] = []


def free_port() -> int:
    """A port of this machine that nothing listens on; never the same one twice."""
    for number in _next:
        port = _FIRST + number % (_LAST - _FIRST)
        claim = socket.socket(socket.AF_UNIX)
        with socket.socket() as listener:
            try:
                claim.bind(f"\0benchwatch-port-{port}")
                listener.bind(("", port))
            except OSError:
                claim.close()
                continue
        _claims.append(claim)
        return port
    raise AssertionError("unreachable")


def free_address(host: str = "127.0.0.1") -> str:
    """An address with such a port, as `host:port`."""
    return f"{host}:{free_port()}"
