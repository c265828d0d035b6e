import ssl
from collections.abc import Mapping
from pathlib import Path

import pytest

from benchwatch.server.webconfig import WebConfig, WebConfigFile, load_web_config
from benchwatch.values.errors import ConfigError
from tests.support.certificates import make_ca, make_certificate

HASH = "$2y$10$QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi"


def write(folder: Path, text: str) -> Path:
    path = folder / "web.yml"
    path.write_text(text)
    return path


def test_everything_is_read_and_paths_are_relative_to_the_file(tmp_path: Path) -> None:
    make_ca(tmp_path / "tls")
    make_certificate(tmp_path / "tls", "server", 11)
    config = load_web_config(
        write(
            tmp_path,
            "tls_server_config:\n"
            "  cert_file: tls/server.crt\n"
            f"  key_file: {tmp_path}/tls/server.key\n"
            "  client_auth_type: RequireAndVerifyClientCert\n"
            "  client_ca_file: tls/ca.crt\n"
            f"basic_auth_users:\n  anna: {HASH}\n",
        )
    )
    assert config.tls and config.tls.verify_mode == ssl.CERT_REQUIRED
    assert config.tls.minimum_version == ssl.TLSVersion.TLSv1_2
    assert config.files == [tmp_path / name for name in ("web.yml", "tls/server.crt", "tls/server.key", "tls/ca.crt")]
    assert config.users and config.users.hashes == {"anna": HASH}


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "basic_auth_users:\ntls_server_config:\n"])
def test_an_empty_file_lets_everybody_in_without_tls(tmp_path: Path, text: str) -> None:
    config = load_web_config(write(tmp_path, text))
    assert (config.tls, config.users) == (None, None)


CERTIFICATE = "tls_server_config:\n  cert_file: a\n  key_file: b\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tls_config: {}\n", ":1: tls_config: no such key"),
        (CERTIFICATE + "  cert_fil: c\n", ":4: tls_server_config.cert_fil: no such key"),
        ("http_server_config:\n  http2: true\n", ":2: http_server_config: no such key"),
        ("tls_server_config: {}\n", ":1: tls_server_config: the key cert_file is missing"),
        ("tls_server_config: {cert_file: a}\n", ":1: tls_server_config: the key key_file is missing"),
        (CERTIFICATE + "  cert: PEM\n", ":4: tls_server_config.cert: no such key"),
        (CERTIFICATE + "  curve_preferences: [X25519]\n", ":4: tls_server_config.curve_preferences: no such key"),
        (CERTIFICATE + "  cipher_suites: [TLS_A]\n", ":4: tls_server_config.cipher_suites: no such key"),
        (CERTIFICATE + "  client_allowed_sans: [p]\n", ":4: tls_server_config.client_allowed_sans: no such key"),
        (CERTIFICATE + "  min_version: TLS13\n", ":4: tls_server_config.min_version: no such key"),
        ("rate_limit: {interval: 10ms, burst: 50}\n", ":1: rate_limit: no such key"),
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


def users(config: WebConfig) -> Mapping[str, str]:
    return config.users.hashes if config.users else {}


def test_a_file_is_read_again_when_it_has_changed(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    make_ca(tmp_path)
    make_certificate(tmp_path, "server", 11)
    path = write(tmp_path, f"basic_auth_users: {{anna: {HASH}}}\n")
    file = WebConfigFile(path)
    first = file()
    assert users(first) == {"anna": HASH} and file() is first
    write(tmp_path, f"basic_auth_users: {{anna: {HASH}, berta: {HASH}}}\n")
    assert users(file()) == {"anna": HASH, "berta": HASH}
    for text, sentence in (
        ("basic_auth_users: {anna: x}\n", "basic_auth_users.anna: expected a bcrypt hash as `htpasswd -nB` prints it"),
        ("", "basic_auth_users: cannot be added or removed without a restart"),
        (
            f"tls_server_config: {{cert_file: server.crt, key_file: server.key}}\nbasic_auth_users: {{anna: {HASH}}}\n",
            "tls_server_config: cannot be added or removed without a restart",
        ),
    ):
        caplog.clear()
        write(tmp_path, text)
        assert len(users(file())) == len(users(file())) == 2
        assert [record.getMessage() for record in caplog.records] == [
            f"{path}: {sentence}; the previous settings stay in force"
        ]
    path.unlink()
    assert len(users(file())) == 2
