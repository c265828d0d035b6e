"""Certificates made by openssl."""

import subprocess
from pathlib import Path


def openssl(*arguments: str | Path) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


def make_certificate(folder: Path, name: str, serial: int, subject: str = "DNS:localhost,IP:127.0.0.1") -> None:
    """A certificate of the folder's CA, and its key."""
    request = folder / f"{name}.csr"
    openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
            "-keyout", folder / f"{name}.key", "-out", request)  # fmt: skip
    extensions = folder / f"{name}.ext"
    extensions.write_text(f"subjectAltName={subject}\nauthorityKeyIdentifier=keyid\n")
    openssl("x509", "-req", "-in", request, "-CA", folder / "ca.crt", "-CAkey", folder / "ca.key", "-days", "2",
            "-set_serial", str(serial), "-extfile", extensions, "-out", folder / f"{name}.crt")  # fmt: skip


def make_ca(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
            "/CN=test CA", "-addext", "keyUsage=critical,keyCertSign,cRLSign",
            "-keyout", folder / "ca.key", "-out", folder / "ca.crt")  # fmt: skip
