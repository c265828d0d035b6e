import socket
import ssl
import subprocess
from pathlib import Path

import pytest
import requests

from benchwatch.server.webconfig import WebConfigFile
from benchwatch.values.errors import ConfigError
from tests.support.certificates import make_ca, make_certificate, openssl
from tests.support.serving import FakeExporter, Served, served
from tests.support.waiting import PATIENCE


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certificates")
    make_ca(folder)
    make_certificate(folder, "server", 11)
    make_certificate(folder, "client", 12, "DNS:prometheus.lan")
    make_ca(folder / "other")
    make_certificate(folder / "other", "stranger", 13, "DNS:prometheus.lan")
    return folder


def tls(folder: Path, **more: object) -> WebConfigFile:
    """A configuration file beside the certificates of that folder, with further keys."""
    path = folder / "web.yml"
    path.write_text(written(**more))
    return WebConfigFile(path)


def written(**more: object) -> str:
    keys = {"cert_file": "server.crt", "key_file": "server.key"} | more
    return f"tls_server_config: {{{', '.join(f'{key}: {value}' for key, value in keys.items())}}}\n"


def get(server: Served, folder: Path, certificate: tuple[str, str] | None = None) -> requests.Response:
    return requests.get(
        f"https://localhost:{server.port}/-/healthy", verify=str(folder / "ca.crt"), cert=certificate, timeout=PATIENCE
    )


def pair(folder: Path, name: str) -> tuple[str, str]:
    return str(folder / f"{name}.crt"), str(folder / f"{name}.key")


def serial(server: Served, server_name: str | None = "localhost") -> str:
    """Serial number of the certificate that a new connection is shown."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    plain = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
    with context.wrap_socket(plain, server_hostname=server_name) as connection:
        certificate = connection.getpeercert(binary_form=True)
    assert certificate
    text = subprocess.run(
        ["openssl", "x509", "-inform", "der", "-noout", "-serial"], input=certificate, capture_output=True, check=True
    )
    return text.stdout.decode().strip()


def test_pages_are_served_over_tls_and_the_push_command_says_so(made: Path, tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path), config=tls(made)) as server:
        assert get(server, made).status_code == 200
        page = requests.get(f"https://localhost:{server.port}/", verify=str(made / "ca.crt")).text
        assert f"-T - https://localhost:{server.port}/ingest/my-run/pgbench1" in page


def test_curl_pushes_over_tls(made: Path, tmp_path: Path) -> None:
    with served(FakeExporter(push_folder=tmp_path), config=tls(made)) as server:
        url = f"https://localhost:{server.port}/ingest/r/w"
        command = ["curl", "-sS", "--cacert", str(made / "ca.crt"), "-T", "-", url]
        done = subprocess.run(command, input=b"line\n", capture_output=True, check=True)
    assert done.stdout == b"5 bytes received for worker w of run r\n"
    assert (tmp_path / "r/w.push").read_bytes() == b"line\n"


def test_plain_http_is_not_answered_where_tls_is_spoken(made: Path) -> None:
    with served(config=tls(made)) as server:
        with pytest.raises(requests.ConnectionError):
            requests.get(f"http://127.0.0.1:{server.port}/-/healthy", timeout=PATIENCE)
        assert get(server, made).status_code == 200


@pytest.mark.parametrize("kind", ["RequireAndVerifyClientCert", "VerifyClientCertIfGiven"])
def test_client_certificates_are_verified(made: Path, kind: str) -> None:
    config = tls(made, client_auth_type=kind, client_ca_file=made / "ca.crt")
    with served(config=config) as server:
        assert get(server, made, pair(made, "client")).status_code == 200
        with pytest.raises(requests.ConnectionError):
            get(server, made, pair(made / "other", "stranger"))
        if kind == "VerifyClientCertIfGiven":
            assert get(server, made).status_code == 200
        else:
            with pytest.raises(requests.ConnectionError):
                get(server, made)


@pytest.mark.parametrize("server_name", ["localhost", None])
def test_a_renewed_certificate_is_used_without_a_restart(made: Path, tmp_path: Path, server_name: str | None) -> None:
    for name in ("ca.crt", "ca.key", "server.crt", "server.key"):
        (tmp_path / name).write_bytes((made / name).read_bytes())
    with served(config=tls(tmp_path)) as server:
        assert serial(server, server_name) == "serial=0B"
        make_certificate(tmp_path, "server", 99)
        assert serial(server, server_name) == "serial=63"
        assert get(server, made).status_code == 200


def test_a_renewal_that_cannot_be_used_is_said_and_the_old_one_stays(
    made: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("server.crt", "server.key"):
        (tmp_path / name).write_bytes((made / name).read_bytes())
    with served(config=tls(tmp_path)) as server:
        (tmp_path / "server.crt").write_text("half a certif")
        assert serial(server) == serial(server) == "serial=0B"
    [record] = caplog.records
    assert record.getMessage().startswith(
        f"{tmp_path}/server.crt and {tmp_path}/server.key: expected a PEM certificate"
    )
    assert record.getMessage().endswith("the previous settings stay in force")


def test_files_that_cannot_be_used_are_named(made: Path, tmp_path: Path) -> None:
    make_certificate(made, "another", 14)
    openssl("ec", "-in", made / "server.key", "-aes128", "-passout", "pass:secret", "-out", tmp_path / "locked.key")
    (tmp_path / "text").write_text("no certificate\n")
    pem = "expected a PEM certificate and its unencrypted key: "
    text = tmp_path / "text"
    for wrong, message in (
        ({"cert_file": tmp_path / "none"}, f"{tmp_path}/none: cannot be read: No such file or directory"),
        ({"key_file": "another.key"}, f"{pem}key values mismatch"),
        ({"key_file": tmp_path / "locked.key"}, pem),
        ({"cert_file": text}, pem),
        (
            {"client_auth_type": "RequireAndVerifyClientCert", "client_ca_file": text},
            f"{text}: expected PEM certificates: ",
        ),
    ):
        with pytest.raises(ConfigError) as caught:
            tls(made, **wrong)
        assert message in str(caught.value)


def test_other_authorities_of_clients_hold_without_a_restart_and_whether_they_must_have_one_takes_a_restart(
    made: Path, caplog: pytest.LogCaptureFixture
) -> None:
    required = {"client_auth_type": "RequireAndVerifyClientCert"}
    client, stranger = pair(made, "client"), pair(made / "other", "stranger")
    with served(config=tls(made, **required, client_ca_file="ca.crt")) as server:
        assert is_let_in(server, made, client) and not is_let_in(server, made, stranger)
        (made / "web.yml").write_text(written(**required, client_ca_file="other/ca.crt"))
        assert is_let_in(server, made, stranger) and not is_let_in(server, made, client)
        (made / "web.yml").write_text(written())
        assert is_let_in(server, made, stranger) and not is_let_in(server, made)
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        f"{made}/web.yml: tls_server_config.client_auth_type: cannot be changed without a restart; "
        "the previous settings stay in force"
    ]


def is_let_in(server: Served, folder: Path, certificate: tuple[str, str] | None = None) -> bool:
    try:
        return get(server, folder, certificate).status_code == 200
    except requests.ConnectionError:
        return False
