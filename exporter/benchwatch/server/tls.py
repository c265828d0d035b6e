"""TLS of the server, with certificates that can change while it runs.

As in Prometheus' own programs, each connection checks the files and reads them again if they have changed, so a renewed
certificate needs no restart. Each connection has one context from its start: if a context is replaced within the
handshake, OpenSSL takes over its certificate, but neither its versions nor whether clients need a certificate.
"""

import logging
import ssl
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ..values.errors import ConfigError
from .webconfig import OPEN, Renewable, Tls

_log = logging.getLogger("benchwatch.server")

_VERSIONS = {"TLS12": ssl.TLSVersion.TLSv1_2, "TLS13": ssl.TLSVersion.TLSv1_3}
_VERIFY = {
    "NoClientCert": ssl.CERT_NONE,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}


def server_contexts(tls: Tls, config: Renewable = OPEN) -> Callable[[], ssl.SSLContext]:
    """A function that returns the context for the next connection; `config` may bring other settings later.

    Raises ConfigError if certificate, key or CA cannot be used. Later, the previous one then stays in use.
    """
    current = _context(tls)
    stamp = tls, _stamp(tls)

    def renewed() -> ssl.SSLContext:
        nonlocal current, stamp
        present = config.renewed().tls or tls
        now = present, _stamp(present)
        if now != stamp:
            stamp = now
            try:
                current = _context(present)
            except ConfigError as error:
                _log.error("%s; the previous certificate stays in use", error)
        return current

    return renewed


def may_pass(certificate: dict[str, Any] | None, tls: Tls) -> bool:
    """Whether a client with that (verified) certificate has access."""
    if not tls.client_allowed_sans:
        return True
    names: Iterable[tuple[str, str]] = (certificate or {}).get("subjectAltName", ())
    return any(name in tls.client_allowed_sans for _, name in names)


def _context(tls: Tls) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = _VERSIONS[tls.min_version]
    context.maximum_version = _VERSIONS[tls.max_version]
    context.verify_mode = _VERIFY[tls.client_auth_type]
    if tls.cipher_suites:
        context.set_ciphers(":".join(tls.cipher_suites))
    if not tls.prefer_server_cipher_suites:
        context.options &= ~ssl.OP_CIPHER_SERVER_PREFERENCE
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


def _stamp(tls: Tls) -> list[tuple[int, int, int]]:
    """Changes when a file is written, replaced or removed."""
    stamps = []
    for path in _files(tls):
        try:
            found = path.stat()
        except OSError:
            stamps.append((0, 0, 0))
        else:
            stamps.append((found.st_ino, found.st_size, found.st_mtime_ns))
    return stamps
