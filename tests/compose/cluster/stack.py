"""The services of compose.scale.yaml and compose.agent.yaml as processes here, with the arguments that they have there.

What changes is where things are: addresses of services become ports of loopback, `/etc/prometheus`, `/run/secrets` and
the services' folders become folders of the test. A flag that a program does not know ends it, and with that the test.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import requests
import yaml

from demo_ports import Ports
from demo_processes import Failure, Process, Processes

CHECKOUT = Path(__file__).resolve().parents[3]
_VARIABLE = re.compile(r"\$\{(\w+)(?::\?[^}]*)?\}")
_PORTS = {
    "vmstorage-1": {"http": 8482, "insert": 8400, "select": 8401},
    "vmstorage-2": {"http": 8482, "insert": 8400, "select": 8401},
    "vminsert": {"http": 8480},
    "vmselect": {"http": 8481},
    "vmalert": {"http": 8880},
    "receiver": {"http": 8427, "internal": 8426},
    "agent": {"http": 8429},
    "alertmanager": {"http": 9093},
}
"""What each service listens on in its container."""
_LISTEN = {
    "http": "-httpListenAddr",
    "insert": "-vminsertAddr",
    "select": "-vmselectAddr",
    "internal": "-httpInternalListenAddr",
}
_OWN_LISTENERS = ("receiver",)
"""Services whose arguments name their ports."""
CLUSTER = ("vmstorage-1", "vmstorage-2", "vminsert", "vmselect", "vmalert", "receiver")
"""In the order of their start; without the agent, of which there are two."""
PROGRAMS = ("vmstorage", "vminsert", "vmselect", "vmalert", "vmauth", "vmagent")


class _Loader(yaml.SafeLoader):
    """Reads what replaces a value of the file below as any other."""


_Loader.add_constructor("!override", lambda loader, node: loader.construct_mapping(node, deep=True))


def environment() -> dict[str, str]:
    """What `.env` says."""
    lines = (CHECKOUT / ".env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def services(name: str, settings: Mapping[str, str]) -> dict[str, Any]:
    """The services of a compose file, with the settings filled in."""
    text = _VARIABLE.sub(lambda match: settings[match[1]], (CHECKOUT / name).read_text())
    found: dict[str, Any] = yaml.load(text, _Loader)["services"]
    return found


def arguments(service: Mapping[str, Any]) -> list[str]:
    """Those of a service's program: its command, or the end of the shell's."""
    command = service["command"]
    if "entrypoint" not in service:
        return list(command)
    (line,) = command
    return str(line).partition("exec ")[2].split()[1:]


def find(folder: Path, program: str) -> Path | None:
    """Where a program is; those of the releases have `-prod` at the end of their names."""
    return next((path for name in (program, f"{program}-prod") if (path := folder / name).exists()), None)


class Stack:
    """The cluster, in a folder. `programs` is where VictoriaMetrics' programs are."""

    def __init__(self, folder: Path, programs: Path) -> None:
        self.folder = folder
        self._programs = programs
        self.processes = Processes(folder / "logs", os.environ)
        self.ports = Ports({f"{name} {what}": 0 for name, ports in _PORTS.items() for what in ports})
        self._services = services("compose.scale.yaml", environment())
        self._running: dict[str, Process] = {}
        for part in ("logs", "secrets", "prometheus"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        shutil.copytree(CHECKOUT / "prometheus" / "targets", folder / "targets")
        self._secrets()

    def address(self, name: str, what: str = "http") -> str:
        """Where a service of the cluster listens."""
        return f"127.0.0.1:{self.ports[f'{name} {what}']}"

    @property
    def insert(self) -> str:
        """The address to write to, but for the tenant."""
        return f"http://{self.address('vminsert')}/insert"

    def select(self, tenant: int = 0) -> str:
        """The address to query."""
        return f"http://{self.address('vmselect')}/select/{tenant}/prometheus"

    def process(self, name: str) -> Process:
        """That of a service."""
        return self._running[name]

    def start(self, *names: str) -> None:
        """Starts services with their arguments and waits for them. Raises Failure."""
        for name in names:
            service = self._services[name]
            listen = [
                f"{_LISTEN[what]}={self.address(name, what)}" for what in _PORTS[name] if name not in _OWN_LISTENERS
            ]
            token = (self.folder / "secrets" / "receiver_token").read_text()
            self._run(name, service, [*self.moved(arguments(service), name), *listen], {"RECEIVER_TOKEN": token})
            if name in _OWN_LISTENERS:
                self.processes.wait_until(self._running[name], lambda name=name: self._answers(name))
            else:
                self.processes.wait_for(self._running[name], f"http://{self.address(name)}/health")

    def start_agent(self, host: str, url: str, config: str, more: tuple[str, ...] = ()) -> str:
        """Starts the agent of a benchmark machine, which scrapes by `config`; the address of its page."""
        settings = environment() | {"AGENT_HOST": host, "AGENT_URL": url}
        service = services("compose.agent.yaml", settings)["agent"]
        name = f"agent of {host}"
        self.ports.update(Ports({name: 0}))
        listen = f"127.0.0.1:{self.ports[name]}"
        scraped = self.folder / f"{host}.yml"
        scraped.write_text(config.replace("LISTEN", listen))
        own = [
            f"-promscrape.config={scraped}" if one.startswith("-promscrape.config=") else one
            for one in self.moved(arguments(service), name.replace(" ", "-"))
        ]
        self._run(name, service, [*own, f"-httpListenAddr={listen}", *more], {"AGENT_HOST": host})
        self.processes.wait_for(self._running[name], f"http://{listen}/health")
        return listen

    def _answers(self, name: str) -> bool:
        """Whether the page for nobody but the stack is there, with the certificate that agents know."""
        with requests.Session() as session:
            session.trust_env = False
            try:
                url = f"https://{self.address(name, 'internal')}/health"
                return session.get(url, timeout=5, verify=str(self.folder / "secrets" / "receiver_certificate")).ok
            except requests.RequestException:
                return False

    def kill(self, name: str) -> None:
        """Ends a service as a power cut does."""
        process = self._running.pop(name)
        process.popen.kill()
        process.popen.wait()

    def adopt(self, name: str, process: Process) -> None:
        """Takes another process for one of the stack, so that it ends with it."""
        self._running[name] = process

    def end(self) -> None:
        """Ends everything at once: what is stored is of no use to anybody."""
        for process in self._running.values():
            process.popen.kill()
        self.processes.stop_all()

    def stop(self, name: str) -> None:
        """Ends a service in good order."""
        self.processes.stop(self._running.pop(name))

    def moved(self, values: list[str], name: str) -> list[str]:
        """Arguments with the places of this test."""
        return [self._moved(value, name) for value in values]

    def _run(self, name: str, service: Mapping[str, Any], command: list[str], more: Mapping[str, str]) -> None:
        program = find(self._programs, re.split(r"[/:]", service["image"])[1])
        self._running[name] = self.processes.start(
            name.replace(" ", "-"), [str(program), *command], folder=self.folder, environment=more
        )

    def _moved(self, text: str, name: str) -> str:
        for service, ports in _PORTS.items():
            for what, port in ports.items():
                text = re.sub(rf"(?<![\w.-]){service}:{port}\b", self.address(service, what), text)
        if name in _OWN_LISTENERS:
            for what, port in _PORTS[name].items():
                text = re.sub(rf"(?<==):{port}$", self.address(name, what), text)
        text = text.replace("=/tmp/", f"={self.folder}/{name}/").replace("/run/secrets/", f"{self.folder}/secrets/")
        return re.sub(r"(?<==)(/etc/prometheus|)/([\w*./]+\.yml)$", self._configuration, text)

    def _configuration(self, match: re.Match[str]) -> str:
        """The place of a configuration file, with the addresses of this test in it."""
        if match[2].startswith("rules/"):
            return str(CHECKOUT / "prometheus" / match[2])
        if match[1] or match[2] == "receiver.yml":
            source = CHECKOUT / ("prometheus" if match[1] else "docker") / match[2]
            own = self.folder / "prometheus" / match[2]
            own.write_text(self._moved(source.read_text(), ""))
            return str(own)
        return match[0]

    def _secrets(self) -> None:
        """A certificate for this machine, signed by itself, and a token."""
        place = self.folder / "secrets"
        certify(place / "receiver_certificate", place / "receiver_key", "DNS:localhost,IP:127.0.0.1")
        (place / "receiver_token").write_text("4a5e1e4baab89f3a32518a88c31bc87f")
        shutil.copy(place / "receiver_token", place / "agent_token")
        shutil.copy(place / "receiver_certificate", place / "agent_ca")


def certify(certificate: Path, key: Path, names: str) -> None:
    """Makes a certificate for these names, signed by itself, valid for a day."""
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    command += ["-days", "1", "-subj", "/CN=receiver", "-addext", f"subjectAltName={names}"]
    finished = subprocess.run(
        [*command, "-keyout", key, "-out", certificate], capture_output=True, text=True, check=False
    )
    if finished.returncode:
        raise Failure(f"openssl could not make a certificate: {finished.stderr.strip()}")
