"""TLS of the server, with certificates that can change while it runs.

The files are read again if they have changed, so a renewed certificate needs no restart.
"""

import logging
import ssl
from collections.abc import Callable
from pathlib import Path

from ..values.errors import ConfigError
from .webconfig import OPEN, Renewable, Tls, stamp

_log = logging.getLogger("benchwatch.server")

_VERSIONS = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}
_VERIFY = {
    "NoClientCert": ssl.CERT_NONE,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}


def server_contexts(tls: Tls, config: Renewable = OPEN) -> Callable[[], ssl.SSLContext]:
    """A function that returns the present context, a new one after each change; `config` may bring other settings.

    Raises ConfigError if certificate, key or CA cannot be used. Later, the previous one then stays in use.
    """
    current = _context(tls)
    seen = tls, [stamp(path) for path in _files(tls)]

    def renewed() -> ssl.SSLContext:
        nonlocal current, seen
        present = config.renewed().tls or tls
        now = present, [stamp(path) for path in _files(present)]
        if now != seen:
            seen = now
            try:
                current = _context(present)
            except ConfigError as error:
                _log.error("%s; the previous certificate stays in use", error)
        return current

    return renewed


def _context(tls: Tls) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = _VERSIONS[tls.min_version]
    context.maximum_version = _VERSIONS[tls.max_version]
    context.verify_mode = _VERIFY[tls.client_auth_type]
    for path in _files(tls):
        _check_readable(path)
    try:
        # Without a password given, OpenSSL would ask for one on the terminal.
        context.load_cert_chain(tls.cert_file, tls.key_file, password="")
    except ssl.SSLError as error:
        what = f"{tls.cert_file} and {tls.key_file}: expected a PEM certificate and its unencrypted key"
        raise ConfigError(f"{what}: {_reason(error)}") from error
    if tls.client_ca_file:
        try:
            context.load_verify_locations(tls.client_ca_file)
        except ssl.SSLError as error:
            raise ConfigError(f"{tls.client_ca_file}: expected PEM certificates: {_reason(error)}") from error
    return context


def _reason(error: ssl.SSLError) -> str:
    return (error.reason or str(error)).lower().replace("_", " ")


def _files(tls: Tls) -> list[Path]:
    return [Path(file) for file in (tls.cert_file, tls.key_file, tls.client_ca_file) if file]


def _check_readable(path: Path) -> None:
    try:
        path.open("rb").close()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
