from pathlib import Path

import pytest

from benchwatch.server.webconfig import Tls, WebConfigFile, load_web_config
from benchwatch.values.errors import ConfigError

HASH = "$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi"


def write(folder: Path, text: str) -> Path:
    path = folder / "web.yml"
    path.write_text(text)
    return path


def test_everything_is_read_and_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    config = load_web_config(
        write(
            tmp_path,
            "tls_server_config:\n"
            "  cert_file: tls/server.crt\n"
            "  key_file: /etc/server.key\n"
            "  client_auth_type: RequireAndVerifyClientCert\n"
            "  client_ca_file: ca.crt\n"
            "  min_version: TLS12\n"
            "  max_version: TLS12\n"
            "http_server_config:\n"
            "  headers: {strict-transport-security: max-age=9}\n"
            f"basic_auth_users:\n  anna: {HASH}\n",
        )
    )
    assert config.tls == Tls(
        cert_file=f"{tmp_path}/tls/server.crt",
        key_file="/etc/server.key",
        client_auth_type="RequireAndVerifyClientCert",
        client_ca_file=f"{tmp_path}/ca.crt",
        min_version="TLS12",
        max_version="TLS12",
    )
    assert config.headers == {"Strict-Transport-Security": "max-age=9"}
    assert config.users == {"anna": HASH}


@pytest.mark.parametrize(
    "text", ["", "# nothing yet\n", "basic_auth_users:\ntls_server_config:\nhttp_server_config:\n"]
)
def test_an_empty_file_lets_everybody_in_without_tls(tmp_path: Path, text: str) -> None:
    config = load_web_config(write(tmp_path, text))
    assert (config.tls, config.headers, config.users) == (None, {}, {})


CERTIFICATE = "tls_server_config:\n  cert_file: a\n  key_file: b\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tls_config: {}\n", ":1: tls_config: no such key"),
        (CERTIFICATE + "  cert_fil: c\n", ":4: tls_server_config.cert_fil: no such key"),
        ("http_server_config:\n  http3: true\n", ":2: http_server_config.http3: no such key"),
        ("tls_server_config: {}\n", ": tls_server_config: expected a cert_file"),
        ("tls_server_config: {cert_file: a}\n", ": tls_server_config: expected a key_file"),
        (
            "tls_server_config: {cert: PEM}\n",
            ": tls_server_config.cert: not supported: give the certificate as cert_file",
        ),
        (
            CERTIFICATE + "  curve_preferences: [X25519]\n",
            ": tls_server_config.curve_preferences: not supported: OpenSSL's own choice applies; a proxy in front can",
        ),
        (
            CERTIFICATE + "  cipher_suites: [TLS_AES_128_GCM_SHA256]\n",
            ": tls_server_config.cipher_suites: not supported: OpenSSL's own choice applies; a proxy in front can do",
        ),
        (
            CERTIFICATE + "  prefer_server_cipher_suites: false\n",
            ": tls_server_config.prefer_server_cipher_suites: not supported: OpenSSL's own choice applies; a proxy",
        ),
        (
            CERTIFICATE + "  client_allowed_sans: [prometheus.lan]\n",
            ": tls_server_config.client_allowed_sans: not supported: a proxy in front can do that (deploy/Caddyfile)",
        ),
        (
            "http_server_config: {http2: true}\n",
            ": http_server_config.http2: not supported: the server speaks HTTP/1.1; a proxy in front can do that",
        ),
        (
            "rate_limit: {interval: 10ms, burst: 50}\n",
            ": rate_limit: not supported: limit requests in a firewall",
        ),
        (
            CERTIFICATE + "  client_auth_type: RequestClientCert\n",
            ": tls_server_config.client_auth_type: expected NoClientCert, VerifyClientCertIfGiven or "
            "RequireAndVerifyClientCert, got 'RequestClientCert'",
        ),
        (
            CERTIFICATE + "  client_auth_type: RequireAndVerifyClientCert\n",
            ": tls_server_config: client_auth_type RequireAndVerifyClientCert requires a client_ca_file",
        ),
        (
            CERTIFICATE + "  client_ca_file: ca\n",
            ": tls_server_config.client_ca_file: requires a client_auth_type other than NoClientCert",
        ),
        (
            CERTIFICATE + "  min_version: TLS10\n",
            ": tls_server_config.min_version: expected TLS12 or TLS13, got 'TLS10'",
        ),
        (
            CERTIFICATE + "  min_version: TLS13\n  max_version: TLS12\n",
            ": tls_server_config.min_version: expected at most max_version (TLS12)",
        ),
        (
            "http_server_config: {headers: {Server: x}}\n",
            ": http_server_config.headers: expected Content-Security-Policy, Strict-Transport-Security, "
            "X-Content-Type-Options, X-Frame-Options or X-XSS-Protection, got 'Server'",
        ),
        (
            'http_server_config: {headers: {X-Frame-Options: "deny\\r\\nX: y"}}\n',
            ": http_server_config.headers.X-Frame-Options: expected one line of text, got 'deny\\r\\nX: y'",
        ),
        (
            "basic_auth_users: {anna: secret}\n",
            ": basic_auth_users.anna: expected a bcrypt hash as `htpasswd -nB` prints it",
        ),
        (f'basic_auth_users: {{"a:b": {HASH}}}\n', ": basic_auth_users: expected a name without ':', got 'a:b'"),
        ("basic_auth_users: [anna]\n", ":1: basic_auth_users: expected keys with values"),
    ],
)
def test_an_error_names_file_key_and_what_was_expected(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        load_web_config(path)
    assert str(caught.value).startswith(f"{path}{message}")


def test_a_password_does_not_appear_in_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_web_config(write(tmp_path, "basic_auth_users: {anna: hunter2}\n"))
    assert "hunter2" not in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"web\.yml: cannot be read: No such file or directory"):
        load_web_config(tmp_path / "web.yml")


def test_a_blank_header_is_not_set(tmp_path: Path) -> None:
    config = load_web_config(write(tmp_path, "http_server_config: {headers: {X-Frame-Options: ''}}\n"))
    assert config.headers == {}


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = write(tmp_path, f"basic_auth_users: {{anna: {HASH}}}\n")
    file = WebConfigFile(path)
    first = file.renewed()
    assert first.users == {"anna": HASH} and file.renewed() is first
    write(tmp_path, f"basic_auth_users: {{anna: {HASH}, berta: {HASH}}}\n")
    assert file.renewed().users == {"anna": HASH, "berta": HASH}
    for text, sentence in (
        ("basic_auth_users: {anna: x}\n", "basic_auth_users.anna: expected a bcrypt hash as `htpasswd -nB` prints it"),
        ("", "basic_auth_users: cannot be added or removed without a restart"),
        (
            f"{CERTIFICATE}basic_auth_users: {{anna: {HASH}}}\n",
            "tls_server_config: cannot be added or removed without a restart",
        ),
    ):
        caplog.clear()
        write(tmp_path, text)
        assert len(file.renewed().users) == len(file.renewed().users) == 2
        assert [record.getMessage() for record in caplog.records] == [
            f"{path}: {sentence}; the previous settings stay in force"
        ]
    path.unlink()
    assert len(file.renewed().users) == 2
