"""The web configuration file of `--web.config.file`: TLS, users and headers, in the format of Prometheus' own programs.

https://github.com/prometheus/exporter-toolkit/blob/master/docs/web-configuration.md

    tls_server_config:
      cert_file: server.crt               # paths are relative to this file
      key_file: server.key
      client_auth_type: NoClientCert      # or VerifyClientCertIfGiven, RequireAndVerifyClientCert
      client_ca_file: clients.crt
      client_allowed_sans: [prometheus]   # the certificate, which is required then, must name one of these
      min_version: TLS12
      max_version: TLS13
      cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]   # of TLS 1.2
      prefer_server_cipher_suites: true
    http_server_config:
      http2: true                         # no effect: the server speaks HTTP/1.1
      headers: {Strict-Transport-Security: max-age=31536000}
    basic_auth_users:
      prometheus: $2y$10$...              # bcrypt, as `htpasswd -nB` prints it
    rate_limit: {interval: 10ms, burst: 50}   # of requests, by all clients together; 0: none

A setting that this server does not support is an error, never ignored. The file and the certificates are read again
when they change. Adding or removing TLS or all users, or another rate limit, takes a restart.
"""

import logging
import re
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Protocol

import msgspec

from ..values.durations import Duration
from ..values.errors import ConfigError
from ..values.suggestion import either
from ..values.yaml import read_yaml

_log = logging.getLogger("benchwatch.server")

VERSIONS = ("TLS12", "TLS13")
CLIENT_AUTH_TYPES = ("NoClientCert", "VerifyClientCertIfGiven", "RequireAndVerifyClientCert")
_CERTIFICATE_REQUIRED = "RequireAndVerifyClientCert"
HEADERS = (
    "Content-Security-Policy",
    "Strict-Transport-Security",
    "X-Content-Type-Options",
    "X-Frame-Options",
    "X-XSS-Protection",
)
CIPHER_SUITES = {
    f"TLS_ECDHE_{kind}_WITH_{name}": f"ECDHE-{kind}-{cipher}"
    for kind in ("ECDSA", "RSA")
    for name, cipher in (
        ("AES_128_GCM_SHA256", "AES128-GCM-SHA256"),
        ("AES_256_GCM_SHA384", "AES256-GCM-SHA384"),
        ("CHACHA20_POLY1305_SHA256", "CHACHA20-POLY1305"),
        ("AES_128_CBC_SHA", "AES128-SHA"),
        ("AES_256_CBC_SHA", "AES256-SHA"),
    )
}
"""The suites of TLS 1.2 that can be chosen: registered name, OpenSSL's name."""
_FIXED_SUITES = frozenset({"TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"})
"""The suites of TLS 1.3, which are always enabled."""
_HASH = re.compile(r"\$2[aby]\$(0[4-9]|[12][0-9]|3[01])\$[./A-Za-z0-9]{53}")
_UNSUPPORTED = {
    "cert": "give the certificate as cert_file",
    "key": "give the key as key_file",
    "client_ca": "give the certificates as client_ca_file",
    "curve_preferences": "OpenSSL's own preferences apply",
}


class Tls(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of TLS. Once they are checked, paths are complete and cipher suites have OpenSSL's names."""

    cert_file: str = ""
    key_file: str = ""
    client_auth_type: str = "NoClientCert"
    client_ca_file: str = ""
    client_allowed_sans: list[str] = []
    min_version: str = "TLS12"
    max_version: str = "TLS13"
    cipher_suites: list[str] = []
    """Empty: OpenSSL's own choice."""
    prefer_server_cipher_suites: bool = True
    cert: Any = None
    key: Any = None
    client_ca: Any = None
    curve_preferences: Any = None


class _Http(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    http2: bool | None = None
    headers: dict[str, str] = {}


class _Rate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    interval: Duration = Duration(0)
    burst: Annotated[int, msgspec.Meta(ge=0)] = 0


class _Content(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    tls_server_config: Tls | None = None
    http_server_config: _Http | None = None
    basic_auth_users: dict[str, str] | None = None
    rate_limit: _Rate | None = None


class WebConfig(NamedTuple):
    """The content of a web configuration file."""

    tls: Tls | None = None
    headers: dict[str, str] = {}
    """Added to every response."""
    users: dict[str, str] = {}
    """bcrypt hashes of passwords, by user; empty: everybody has access."""
    interval: float = 0.0
    """Minimum mean seconds between two requests; 0: no limit."""
    burst: int = 0
    """Requests that may come at once in spite of it."""

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
        self._stamp = self._stat()
        self._config = load_web_config(path)

    def renewed(self) -> WebConfig:
        """See Renewable; a file that cannot be used, or whose change needs a restart, changes nothing."""
        if (stamp := self._stat()) != self._stamp:
            self._stamp = stamp
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

    def _stat(self) -> tuple[int, int, int]:
        try:
            found = self._path.stat()
        except OSError:
            return 0, 0, 0
        return found.st_ino, found.st_size, found.st_mtime_ns


OPEN = WebConfig()
"""The configuration without such a file: no TLS, everybody has access."""


def load_web_config(path: Path) -> WebConfig:
    """The content of the file. Raises ConfigError, which names the file, the key and what was expected."""
    content = read_yaml(path, _Content)
    http = content.http_server_config or _Http()
    if http.http2 is not None:
        _log.info("%s: http_server_config.http2 has no effect: the server speaks HTTP/1.1", path)
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
    rate = content.rate_limit or _Rate()
    return WebConfig(tls, headers, users, float(rate.interval), rate.burst)


def _tls(path: Path, given: Tls) -> Tls:
    where = f"{path}: tls_server_config"
    for key, instead in _UNSUPPORTED.items():
        if getattr(given, key) is not None:
            raise ConfigError(f"{where}.{key}: not supported: {instead}")
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
    for suite in given.cipher_suites:
        if suite not in CIPHER_SUITES and suite not in _FIXED_SUITES:
            raise ConfigError(f"{where}.cipher_suites: expected {either(CIPHER_SUITES)}, got {suite!r}")
    verifies = given.client_auth_type != "NoClientCert"
    if verifies and not given.client_ca_file:
        raise ConfigError(f"{where}: client_auth_type {given.client_auth_type} requires a client_ca_file")
    for key in ("client_ca_file", "client_allowed_sans"):
        if getattr(given, key) and not verifies:
            raise ConfigError(f"{where}.{key}: requires a client_auth_type other than NoClientCert")
    if given.client_allowed_sans and given.client_auth_type != _CERTIFICATE_REQUIRED:
        raise ConfigError(f"{where}.client_allowed_sans: requires client_auth_type {_CERTIFICATE_REQUIRED}")
    chosen = [CIPHER_SUITES[suite] for suite in given.cipher_suites if suite in CIPHER_SUITES]
    only_fixed = given.cipher_suites and not chosen
    if only_fixed and given.max_version == "TLS12":
        raise ConfigError(f"{where}.cipher_suites: none of them is of TLS 1.2, which is max_version")
    files = {key: getattr(given, key) for key in ("cert_file", "key_file", "client_ca_file")}
    return msgspec.structs.replace(
        given,
        **{key: str(path.parent / file) for key, file in files.items() if file},
        min_version="TLS13" if only_fixed else given.min_version,
        cipher_suites=chosen,
    )
