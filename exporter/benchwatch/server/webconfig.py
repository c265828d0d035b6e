"""The web configuration file of `--web.config.file`: TLS, users and headers, in the format of Prometheus' own programs.

https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md

    tls_server_config:
      cert_file: server.crt               # paths are relative to this file
      key_file: server.key
      client_auth_type: NoClientCert      # or VerifyClientCertIfGiven, RequireAndVerifyClientCert
      client_ca_file: clients.crt
      min_version: TLS12
      max_version: TLS13
    http_server_config:
      headers: {Strict-Transport-Security: max-age=31536000}
    basic_auth_users:
      prometheus: $2y$10$...              # bcrypt, as `htpasswd -nB` prints it

Other keys of that format are refused by name, never ignored: a proxy in front does what they do (deploy/Caddyfile). The
file and the certificates are read again when they change. Adding or removing TLS or all users takes a restart.
"""

import logging
import re
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from ..values.errors import ConfigError
from ..values.suggestion import either
from ..values.yaml import read_yaml

_log = logging.getLogger("benchwatch.server")

VERSIONS = ("TLS12", "TLS13")
CLIENT_AUTH_TYPES = ("NoClientCert", "VerifyClientCertIfGiven", "RequireAndVerifyClientCert")
HEADERS = (
    "Content-Security-Policy",
    "Strict-Transport-Security",
    "X-Content-Type-Options",
    "X-Frame-Options",
    "X-XSS-Protection",
)
_HASH = re.compile(r"\$2[aby]\$(0[4-9]|[12][0-9]|3[01])\$[./A-Za-z0-9]{53}")
_PROXY = "a proxy in front can do that (deploy/Caddyfile)"
_UNSUPPORTED = {
    "tls_server_config": {
        "cert": "give the certificate as cert_file",
        "key": "give the key as key_file",
        "client_ca": "give the certificates as client_ca_file",
        "client_allowed_sans": _PROXY,
        "cipher_suites": f"OpenSSL's own choice applies; {_PROXY}",
        "prefer_server_cipher_suites": f"OpenSSL's own choice applies; {_PROXY}",
        "curve_preferences": f"OpenSSL's own choice applies; {_PROXY}",
    },
    "http_server_config": {"http2": f"the server speaks HTTP/1.1; {_PROXY}"},
    "": {"rate_limit": "limit requests in a firewall"},
}
"""The keys of that format that this server does not have, by the key that contains them, and what to do instead."""


class Tls(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of TLS. Once they are checked, paths are complete."""

    cert_file: str = ""
    key_file: str = ""
    client_auth_type: str = "NoClientCert"
    client_ca_file: str = ""
    min_version: str = "TLS12"
    max_version: str = "TLS13"
    cert: Any = None
    key: Any = None
    client_ca: Any = None
    client_allowed_sans: Any = None
    cipher_suites: Any = None
    prefer_server_cipher_suites: Any = None
    curve_preferences: Any = None


class _Http(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    headers: dict[str, str] = {}
    http2: Any = None


class _Content(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    tls_server_config: Tls | None = None
    http_server_config: _Http | None = None
    basic_auth_users: dict[str, str] | None = None
    rate_limit: Any = None


class WebConfig(NamedTuple):
    """The content of a web configuration file."""

    tls: Tls | None = None
    headers: dict[str, str] = {}
    """Added to every response."""
    users: dict[str, str] = {}
    """bcrypt hashes of passwords, by user; empty: everybody has access."""

    def renewed(self) -> "WebConfig":
        """See Renewable."""
        return self


class Renewable(Protocol):
    """A configuration that may change."""

    def renewed(self) -> WebConfig:
        """The present configuration; cheap, because every request needs it."""


class WebConfigFile:
    """A web configuration file, read again when it has changed. Raises ConfigError if it cannot be used at first."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp = stamp(path)
        self._config = load_web_config(path)

    def renewed(self) -> WebConfig:
        """See Renewable; a file that cannot be used, or whose change needs a restart, changes nothing."""
        if (present := stamp(self._path)) != self._stamp:
            self._stamp = present
            try:
                config = load_web_config(self._path)
                for key, now, before in (
                    ("tls_server_config", config.tls, self._config.tls),
                    ("basic_auth_users", config.users, self._config.users),
                ):
                    if bool(now) != bool(before):  # also of a file that is half written
                        raise ConfigError(f"{self._path}: {key}: cannot be added or removed without a restart")
                self._config = config
                _log.info("%s has changed; the new settings are in force", self._path)
            except ConfigError as error:
                _log.error("%s; the previous settings stay in force", error)
        return self._config


def stamp(path: Path) -> tuple[int, int, int]:
    """Changes when the file is written, replaced or removed."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0, 0
    return found.st_ino, found.st_size, found.st_mtime_ns


OPEN = WebConfig()
"""The configuration without such a file: no TLS, everybody has access."""


def load_web_config(path: Path) -> WebConfig:
    """The content of the file. Raises ConfigError, which names the file, the key and what was expected."""
    content = read_yaml(path, _Content)
    _refuse_unsupported(path, content)
    http = content.http_server_config or _Http()
    canonical = {name.lower(): name for name in HEADERS}
    headers = {}
    for name, value in http.headers.items():
        if name.lower() not in canonical:
            raise ConfigError(f"{path}: http_server_config.headers: expected {either(HEADERS)}, got {name!r}")
        if not value.isprintable():
            raise ConfigError(f"{path}: http_server_config.headers.{name}: expected one line of text, got {value!r}")
        if value.strip():
            headers[canonical[name.lower()]] = value
    users = content.basic_auth_users or {}
    for user, digest in users.items():
        if ":" in user or not user:
            raise ConfigError(f"{path}: basic_auth_users: expected a name without ':', got {user!r}")
        if not _HASH.fullmatch(digest):
            raise ConfigError(f"{path}: basic_auth_users.{user}: expected a bcrypt hash as `htpasswd -nB` prints it")
    tls = None if content.tls_server_config is None else _tls(path, content.tls_server_config)
    return WebConfig(tls, headers, users)


def _refuse_unsupported(path: Path, content: _Content) -> None:
    for section, keys in _UNSUPPORTED.items():
        given = getattr(content, section) if section else content
        for key, instead in keys.items():
            if getattr(given, key, None) is not None:
                where = f"{section}.{key}" if section else key
                raise ConfigError(f"{path}: {where}: not supported: {instead}")


def _tls(path: Path, given: Tls) -> Tls:
    where = f"{path}: tls_server_config"
    for key in ("cert_file", "key_file"):
        if not getattr(given, key):
            raise ConfigError(f"{where}: expected a {key}")
    for key, allowed in (
        ("client_auth_type", CLIENT_AUTH_TYPES),
        ("min_version", VERSIONS),
        ("max_version", VERSIONS),
    ):
        if getattr(given, key) not in allowed:
            raise ConfigError(f"{where}.{key}: expected {either(allowed)}, got {getattr(given, key)!r}")
    if given.min_version > given.max_version:
        raise ConfigError(f"{where}.min_version: expected at most max_version ({given.max_version})")
    verifies = given.client_auth_type != "NoClientCert"
    if verifies and not given.client_ca_file:
        raise ConfigError(f"{where}: client_auth_type {given.client_auth_type} requires a client_ca_file")
    if given.client_ca_file and not verifies:
        raise ConfigError(f"{where}.client_ca_file: requires a client_auth_type other than NoClientCert")
    files = {key: getattr(given, key) for key in ("cert_file", "key_file", "client_ca_file")}
    return msgspec.structs.replace(
        given,
        **{key: str(path.parent / file) for key, file in files.items() if file},
    )
