"""The web configuration file of `--web.config.file`: TLS and users, in the format of Prometheus' own programs.

https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md

    tls_server_config:
      cert_file: server.crt               # paths are relative to this file
      key_file: server.key
      client_auth_type: NoClientCert      # or VerifyClientCertIfGiven, RequireAndVerifyClientCert
      client_ca_file: clients.crt
    basic_auth_users:
      prometheus: $2y$10$...              # bcrypt, as `htpasswd -nB` prints it

Other keys of that format are refused by name, never ignored: a proxy in front does what they do (deploy/Caddyfile). The
file and the certificates are read again when they change. Adding or removing TLS or all users takes a restart, and so
does another `client_auth_type`.

bcrypt is slow on purpose: it runs in a thread, one password at a time. Correct passwords are remembered permanently, as
keyed digests, so that a scrape pays only once; of wrong ones, the last thousand. The check takes as long for an unknown
user as for a known one.
"""

import asyncio
import hashlib
import logging
import os
import re
import ssl
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec
from aiohttp import BasicAuth

from ..values.errors import ConfigError
from ..values.suggestion import either
from ..values.yaml import read_yaml

_log = logging.getLogger("benchwatch.server")

_CLIENT_AUTH_TYPES = {
    "NoClientCert": ssl.CERT_NONE,
    "VerifyClientCertIfGiven": ssl.CERT_OPTIONAL,
    "RequireAndVerifyClientCert": ssl.CERT_REQUIRED,
}
_HASH = re.compile(r"\$2[aby]\$(0[4-9]|[12][0-9]|3[01])\$[./A-Za-z0-9]{53}")
_WRONG_REMEMBERED = 1000
_LONGEST = 72
"""bcrypt ignores further bytes of a password."""


class _Tls(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cert_file: str
    key_file: str
    client_auth_type: str = "NoClientCert"
    client_ca_file: str | None = None


class _Content(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tls_server_config: _Tls | None = None
    basic_auth_users: dict[str, str] | None = None


class Users:
    """The users by HTTP basic authentication (RFC 7617): bcrypt hashes by name, at least one."""

    def __init__(self, hashes: Mapping[str, str]) -> None:
        import bcrypt  # imported only where users are configured

        self._check = bcrypt.checkpw
        self.hashes = hashes
        self._hashes = {user.encode(): digest.encode() for user, digest in hashes.items()}
        self._stand_in = max(self._hashes.values(), key=lambda digest: digest.split(b"$")[2])  # the highest cost
        self._key = os.urandom(32)
        self._known: dict[bytes, bool] = {}  # whether each password that was checked is right
        self._one_at_a_time = asyncio.Lock()

    async def admitted(self, authorization: str | None) -> str:
        """The user whose name and password an Authorization header contains; empty if they are wrong."""
        try:
            given = BasicAuth.decode(authorization or "", "utf-8")
        except ValueError:
            return ""
        name: str = given.login
        user, password = name.encode(), given.password.encode()[:_LONGEST]
        seal = hashlib.blake2b(user + b":" + password, key=self._key).digest()
        if seal not in self._known:
            async with self._one_at_a_time:
                if seal not in self._known:  # another request with it may have waited too
                    self._known[seal] = await asyncio.to_thread(self._verify, user, password)
                    wrong = [known for known, right in self._known.items() if not right]
                    if len(wrong) > _WRONG_REMEMBERED:
                        del self._known[wrong[0]]
        return name if self._known.get(seal) else ""

    def _verify(self, user: bytes, password: bytes) -> bool:
        try:
            matches = self._check(password, self._hashes.get(user, self._stand_in))
        except ValueError:
            return False
        return matches and user in self._hashes


class WebConfig(NamedTuple):
    """The content of a web configuration file; without one, there is no TLS, and everybody has access."""

    tls: ssl.SSLContext | None = None
    users: Users | None = None
    """None: everybody has access."""
    files: Sequence[Path] = ()
    """What was read."""


CurrentConfig = Callable[[], WebConfig]
"""Returns the present configuration; cheap, because every request needs it."""


class WebConfigFile:
    """A web configuration file, read again when it has changed. Raises ConfigError if it cannot be used at first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._config = load_web_config(path)
        self._stamps = [_stamp(file) for file in self._config.files]

    def __call__(self) -> WebConfig:
        """See CurrentConfig; files that cannot be used, or whose change needs a restart, change nothing."""
        stamps = [_stamp(file) for file in self._config.files]
        if stamps != self._stamps:
            self._stamps = stamps
            try:
                config = load_web_config(self._path)
                for key, now, before in (
                    ("tls_server_config", config.tls, self._config.tls),
                    ("basic_auth_users", config.users, self._config.users),
                ):
                    if bool(now) != bool(before):  # also of a file that is half written
                        raise ConfigError(f"{self._path}: {key}: cannot be added or removed without a restart")
                if config.tls and self._config.tls and config.tls.verify_mode != self._config.tls.verify_mode:
                    where = f"{self._path}: tls_server_config.client_auth_type"
                    raise ConfigError(f"{where}: cannot be changed without a restart")
                self._config = config
                self._stamps = [_stamp(file) for file in config.files]
                _log.info("%s has changed; the new settings are in force", self._path)
            except ConfigError as error:
                _log.error("%s; the previous settings stay in force", error)
        return self._config


def _stamp(path: Path) -> tuple[int, int, int]:
    """Changes when the file is written, replaced or removed."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0, 0
    return found.st_ino, found.st_size, found.st_mtime_ns


def load_web_config(path: Path) -> WebConfig:
    """The content of the file. Raises ConfigError, which names the file, the key and what was expected."""
    content = read_yaml(path, _Content)
    users = content.basic_auth_users or {}
    for user, digest in users.items():
        if ":" in user or not user:
            raise ConfigError(f"{path}: basic_auth_users: expected a name without ':', got {user!r}")
        if not _HASH.fullmatch(digest):
            raise ConfigError(f"{path}: basic_auth_users.{user}: expected a bcrypt hash as `htpasswd -nB` prints it")
    tls = content.tls_server_config
    context, files = None, []
    if tls:
        files = [path.parent / file for file in (tls.cert_file, tls.key_file, tls.client_ca_file) if file]
        context = _context(f"{path}: tls_server_config", tls, *files)
    return WebConfig(context, Users(users) if users else None, [path, *files])


def _context(where: str, tls: _Tls, certificate: Path, key: Path, client_ca: Path | None = None) -> ssl.SSLContext:
    """`where` is the place of the settings, for messages. Raises ConfigError."""
    kind = tls.client_auth_type
    if kind not in _CLIENT_AUTH_TYPES:
        raise ConfigError(f"{where}.client_auth_type: expected {either(list(_CLIENT_AUTH_TYPES))}, got {kind!r}")
    verifies = kind != "NoClientCert"
    if verifies and not client_ca:
        raise ConfigError(f"{where}: client_auth_type {kind} requires a client_ca_file")
    if client_ca and not verifies:
        raise ConfigError(f"{where}.client_ca_file: requires a client_auth_type other than NoClientCert")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.verify_mode = _CLIENT_AUTH_TYPES[kind]
    try:
        for path in filter(None, (certificate, key, client_ca)):  # the errors of ssl do not name the file
            what = str(path)
            path.open("rb").close()
        what = f"{certificate} and {key}: expected a PEM certificate and its unencrypted key"
        # Without a password given, OpenSSL would ask for one on the terminal.
        context.load_cert_chain(certificate, key, password="")
        if client_ca:
            what = f"{client_ca}: expected PEM certificates"
            context.load_verify_locations(client_ca)
    except ssl.SSLError as error:
        raise ConfigError(f"{what}: {(error.reason or str(error)).lower().replace('_', ' ')}") from error
    except OSError as error:
        raise ConfigError(f"{what}: cannot be read: {error.strerror}") from error
    return context
