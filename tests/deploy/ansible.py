"""Tests deploy/ansible on hosts that are namespaces of this machine.

    sudo .venv/bin/python -m tests.deploy.ansible [--hosts N] [--ansible VERSION] [--density]

Each host has a network, processes, a name, a home folder, an sshd and a PostgreSQL server of its own; a bridge in
another namespace connects them. Needs root; takes some minutes; not part of scripts/test. Leaves nothing behind but the
environments .venv-ansible-* with Ansible and ansible-lint.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
ANSIBLE = ROOT / "deploy" / "ansible"
LINT = ("ansible-core==2.19.14", "ansible-lint==26.10.1")
NETWORK = "10.199.77"
USER, UID = "bench", 24242
HOME = Path("/home") / USER
PATIENCE = 120.0
DIES_AFTER = 6.0
SPREAD = 1.0
"""Seconds within which all workers must have started: a machine under load is slow to wake processes."""


faults: list[str] = []


def say(text: str) -> None:
    """Progress."""
    print(f"test-ansible: {text}", flush=True)


def expect(holds: object, what: str) -> None:
    """Notes a fault unless it holds."""
    if not holds:
        faults.append(what)
        say(f"not so: {what}")


def run(*words: object, **options: object) -> str:
    """What a command prints; ends the test if it fails."""
    done = subprocess.run([*map(str, words)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)  # type: ignore[call-overload]
    if done.returncode:
        raise SystemExit(f"test-ansible: {' '.join(map(str, words))}: exit code {done.returncode}\n{done.stdout}")
    return str(done.stdout)


def environment(name: str, *packages: str) -> Path:
    """The programs of a virtual environment with these packages."""
    folder = ROOT / f".venv-ansible-{name}"
    marker = folder / "packages"
    if not marker.exists() or marker.read_text() != " ".join(packages):
        say(f"installing {', '.join(packages)} in {folder.name}")
        shutil.rmtree(folder, ignore_errors=True)
        run(sys.executable, "-m", "venv", folder)
        run(folder / "bin/python", "-m", "pip", "install", "--quiet", *packages)
        marker.write_text(" ".join(packages))
    return folder / "bin"


def install_sshd() -> None:
    """From Debian's package, which must not start its service."""
    if shutil.which("sshd", path="/usr/sbin:/usr/bin"):
        return
    say("installing openssh-server")
    policy = Path("/usr/sbin/policy-rc.d")
    own = not policy.exists()
    if own:
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
    try:
        packages = ("openssh-server", "openssh-client")
        run(
            "apt-get",
            "install",
            "-y",
            "-qq",
            "--no-install-recommends",
            *packages,
            env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
        )
    finally:
        if own:
            policy.unlink()


class Host:
    """A namespace that looks like a machine."""

    def __init__(self, lab: "Lab", number: int) -> None:
        self.name = f"db{number}"
        self.address = f"{NETWORK}.{10 + number}"
        self.home = lab.work / self.name / "home"
        self._lab = lab
        self._namespace = f"{lab.prefix}-{self.name}"
        self._folder = lab.work / self.name
        self._process: subprocess.Popen[bytes] | None = None
        etc = self._folder / "etc"
        etc.mkdir(parents=True)
        self.home.mkdir()
        (self.home / ".ssh").mkdir(mode=0o700)
        shutil.copy(lab.key.with_suffix(".pub"), self.home / ".ssh/authorized_keys")
        (self.home / "socket").mkdir()
        run("chown", "-R", f"{UID}:{UID}", self.home)
        (etc / "passwd").write_text(Path("/etc/passwd").read_text() + f"{USER}:x:{UID}:{UID}::{HOME}:/bin/sh\n")
        (etc / "group").write_text(Path("/etc/group").read_text() + f"{USER}:x:{UID}:\n")
        (etc / "shadow").write_text(f"{USER}:*:19000:0:99999:7:::\n")
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", etc / "host_key")
        (etc / "sshd_config").write_text(
            f"Port 22\nListenAddress {self.address}\nHostKey {etc}/host_key\nPidFile none\nUsePAM no\n"
            f"PasswordAuthentication no\nSubsystem sftp internal-sftp\nMaxStartups 100\n"
        )
        (self._folder / "init").write_text(
            "#!/bin/sh\nset -e\n"
            f"hostname {self.name}\nmkdir -p /run/sshd\n"
            f"mount -t tmpfs tmpfs /home && mkdir {HOME} && mount --bind {self.home} {HOME}\n"
            + "".join(f"mount --bind {etc}/{name} /etc/{name}\n" for name in ("passwd", "group", "shadow"))
            + f"setpriv --reuid={UID} --regid={UID} --clear-groups {lab.programs}/postgres -D {HOME}/data "
            f"-c listen_addresses= -c unix_socket_directories={HOME}/socket -c shared_buffers=32MB -c fsync=off "
            f">{self._folder}/postgres.log 2>&1 &\n"
            f"exec /usr/sbin/sshd -D -e -f {etc}/sshd_config 2>{self._folder}/sshd.log\n"
        )
        (self._folder / "init").chmod(0o755)
        self.known = (etc / "host_key.pub").read_text().split()[:2]

    def connect(self) -> None:
        """Give it a network."""
        near, far = f"bw{os.getpid() % 10000}{self.name}", "eth0"
        run("ip", "netns", "add", self._namespace)
        self._lab.opened.callback(subprocess.run, ["ip", "netns", "del", self._namespace], stderr=subprocess.DEVNULL)
        run("ip", "-n", self._lab.namespace, "link", "add", near, "type", "veth", "peer", far, "netns", self._namespace)
        run("ip", "-n", self._lab.namespace, "link", "set", near, "master", "lan", "up")
        run("ip", "-n", self._namespace, "link", "set", "lo", "up")
        run("ip", "-n", self._namespace, "address", "add", f"{self.address}/24", "dev", far)
        run("ip", "-n", self._namespace, "link", "set", far, "up")

    def boot(self) -> None:
        """Start its processes."""
        apart = ["unshare", "--mount", "--uts", "--pid", "--fork", "--mount-proc", "--kill-child"]
        command = ["ip", "netns", "exec", self._namespace, *apart, str(self._folder / "init")]
        self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        self._lab.opened.callback(self.die)

    def die(self) -> None:
        """As if its power went."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None
            (self.home / "data/postmaster.pid").unlink(missing_ok=True)


class Lab:
    """All hosts, and the machine that Ansible runs on."""

    def __init__(self, opened: ExitStack, ansible: Path, count: int) -> None:
        self.opened, self.ansible = opened, ansible
        self.work = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="benchwatch-ansible-")))
        self.work.chmod(0o755)
        self.prefix = f"bw{os.getpid()}"
        self.namespace = f"{self.prefix}-lan"
        self.key = self.work / "key"
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.key)
        self.programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        say("making a PostgreSQL cluster with a database of pgbench")
        hosts = [Host(self, number) for number in range(1, count + 1)]
        self._fill(hosts)
        run("ip", "netns", "add", self.namespace)
        opened.callback(subprocess.run, ["ip", "netns", "del", self.namespace], stderr=subprocess.DEVNULL)
        opened.callback(self._hang_up)
        run("ip", "-n", self.namespace, "link", "add", "lan", "type", "bridge")
        run("ip", "-n", self.namespace, "address", "add", f"{NETWORK}.1/24", "dev", "lan")
        run("ip", "-n", self.namespace, "link", "set", "lan", "up")
        run("ip", "-n", self.namespace, "link", "set", "lo", "up")
        for host in hosts:
            host.connect()
            host.boot()
        self.hosts = {host.name: host for host in hosts}
        known = "".join(f"{host.address} {' '.join(host.known)}\n" for host in hosts)
        (self.work / "known_hosts").write_text(known)
        for host in hosts:
            self.await_ssh(host)

    def _hang_up(self) -> None:
        """End the connections that ssh keeps open."""
        for process in run("ip", "netns", "pids", self.namespace).split():
            with suppress(ProcessLookupError):
                os.kill(int(process), signal.SIGTERM)

    def _fill(self, hosts: Sequence[Host]) -> None:
        first = hosts[0].home
        become = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups"]
        data, socket = first / "data", first / "socket"
        knows_user = f'mount --bind {first.parent}/etc/passwd /etc/passwd && exec "$@"'
        initdb = [*become, self.programs / "initdb", "-D", data, "-U", USER, "--no-sync", "--auth=trust"]
        run("unshare", "--mount", "sh", "-c", knows_user, "sh", *initdb, cwd=first)
        server = subprocess.Popen(
            [
                *become,
                str(self.programs / "postgres"),
                "-D",
                str(data),
                "-c",
                "listen_addresses=",
                "-c",
                f"unix_socket_directories={socket}",
            ],
            cwd=first,
            stderr=subprocess.DEVNULL,
        )
        try:
            where = ("-h", socket, "-U", USER)
            eventually(
                lambda: not subprocess.run(["pg_isready", "-q", "-h", str(socket)], check=False).returncode,
                "PostgreSQL starts",
            )
            run("createdb", *where, USER)
            run("pgbench", *where, "-i", "-q", "-s", "2", USER)
        finally:
            server.send_signal(signal.SIGINT)
            server.wait()
        for host in hosts[1:]:
            run("cp", "-a", data, host.home / "data")

    def inside(self, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
        """A command on the machine that Ansible runs on, where Ansible's configuration is."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ANSIBLE_")}
        environment |= {
            "PATH": f"{self.ansible}:{environment['PATH']}",
            "HOME": str(self.work),
            "PWD": str(self.work),
            "LC_ALL": "C.UTF-8",
            "ANSIBLE_CONFIG": str(ANSIBLE / "ansible.cfg"),
            "ANSIBLE_NOCOLOR": "1",
            **variables,
        }
        command = ["ip", "netns", "exec", self.namespace, *map(str, words)]
        return subprocess.run(
            command,
            cwd=self.work,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )

    def await_ssh(self, host: Host) -> None:
        """Wait until a host is up, with its PostgreSQL."""
        words = ["ssh", "-i", self.key, "-o", f"UserKnownHostsFile={self.work}/known_hosts", f"{USER}@{host.address}"]
        ready = f"{self.programs}/pg_isready -q -h {HOME}/socket"
        eventually(lambda: not self.inside(*words, ready).returncode, f"{host.name} answers")

    def inventory(self, name: str, hosts: Mapping[str, Mapping[str, object]]) -> Path:
        """A file with these hosts, and what all have in common."""
        common = {
            "ansible_user": USER,
            "ansible_ssh_private_key_file": str(self.key),
            "ansible_ssh_common_args": f"-o UserKnownHostsFile={self.work}/known_hosts -o ConnectTimeout=5",
            "benchwatch_environment": {"PGHOST": str(HOME / "socket"), "PGDATABASE": USER},
        }
        path = self.work / name
        path.write_text(
            yaml.safe_dump({"all": {"hosts": {key: dict(value) for key, value in hosts.items()}, "vars": common}})
        )
        return path

    def play(self, name: str, inventory: Path, **variables: object) -> subprocess.CompletedProcess[str]:
        """A playbook, and what it says."""
        return self.inside("ansible-playbook", "-i", inventory, ANSIBLE / name, "-e", json.dumps(variables))


def eventually(condition: Callable[[], object], what: str) -> None:
    """Waits until it holds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"test-ansible: after {PATIENCE:g} s still not so: {what}")
        time.sleep(0.2)


def recap(said: str) -> dict[str, dict[str, int]]:
    """Ansible's count of what it did, by host."""
    lines = re.findall(r"^(\S+) +: (ok=.*)$", said, re.MULTILINE)
    return {host: {key: int(value) for key, value in re.findall(r"(\w+)=(\d+)", counts)} for host, counts in lines}


def records(folder: Path) -> dict[str, dict[str, object]]:
    """A run's records, by worker."""
    return {path.stem: yaml.safe_load(path.read_text()) for path in sorted(folder.glob("*.yaml"))}


def files(home: Path) -> set[str]:
    """What a user's home holds, but for Ansible's own folder and the server's files."""
    found = (str(path.relative_to(home)) for path in home.rglob("*"))
    return {path for path in found if path.split("/")[0] not in (".ansible", "data", "socket")}


def bad_inventories(lab: Lab, everyone: Mapping[str, Mapping[str, object]], command: str) -> None:
    """Each fault is said by its host's name, and nothing is started."""
    first, second, *_ = everyone
    wrong = {
        **everyone,
        "far": {"ansible_host": f"{NETWORK}.250"},
        "again": {**everyone[first]},
        second: {**everyone[second], "benchwatch_environment": {"PATH": "/nowhere"}},
    }
    done = lab.play("start.yml", lab.inventory("wrong.yml", wrong), benchwatch_name="bad", benchwatch_command=command)
    expect(done.returncode, "a wrong inventory is refused")
    for sentence in (
        r"far: not reachable: .*(No route to host|timed out)",
        rf"again and {first}: one machine under 2 names",
        rf"{second}: pgbench was not found",
        r"nothing was done on any host",
    ):
        expect(re.search(sentence, done.stdout), f"it says {sentence!r}:\n{done.stdout}")
    for name, text in (
        ("twice.ini", f"[databases]\ndb1\ndb2\ndb1 ansible_port=22\n[databases:vars]\nansible_user={USER}\n"),
        ("twice.yml", "databases:\n  hosts:\n    db1:\n    db2:\n    db1: {ansible_port: 22}\n"),
    ):
        path = lab.work / name
        path.write_text(text)
        done = lab.play("start.yml", path, benchwatch_name="bad", benchwatch_command=command)
        expect(f"db1: twice in one group of {path}" in done.stdout, f"a duplicate is named:\n{done.stdout}")
    expect(
        not any((host.home / ".benchwatch-fleet/runs/bad").exists() for host in lab.hosts.values()), "nothing started"
    )


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="tests.deploy.ansible")
    parser.add_argument("--hosts", type=int, default=5, help="number of hosts (5)")
    parser.add_argument("--ansible", default="2.14.18", help="version of ansible-core (2.14.18, as in Debian 12)")
    parser.add_argument("--density", action="store_true", help="also run tests/experiments/density --inventory")
    options = parser.parse_args()
    if os.geteuid():
        parser.error("needs root, to make namespaces: start it with sudo")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    install_sshd()
    ansible = environment(options.ansible, f"ansible-core=={options.ansible}")
    lint = environment("lint", *LINT)
    say("ansible-lint")
    run(lint / "ansible-lint", "--offline", ".", cwd=ANSIBLE, env=os.environ | {"PATH": f"{lint}:{os.environ['PATH']}"})
    with ExitStack() as opened:
        try_all(Lab(opened, ansible, options.hosts), options.density)
    if faults:
        raise SystemExit(f"test-ansible: {len(faults)} faults, see above")
    say("all is well")


def try_all(lab: Lab, density: bool) -> None:
    """One after the other."""
    everyone: dict[str, dict[str, object]] = {name: {"ansible_host": host.address} for name, host in lab.hosts.items()}
    inventory = lab.inventory("hosts.yml", everyone)
    command = "pgbench -n -S -c 1 -R 100 -T {}"
    wheels = lab.work / "wheels"
    homes = {name: files(host.home) for name, host in lab.hosts.items()}

    say("faults of an inventory")
    bad_inventories(lab, everyone, command.format(5))

    say("wheels, built where there is a package index")
    build = [lab.ansible / "ansible-playbook", ANSIBLE / "build.yml"]
    run(*build, "-e", json.dumps({"benchwatch_wheels": str(wheels)}), env=os.environ | {"LC_ALL": "C.UTF-8"})

    say("install, twice")
    for changed in (True, False):
        done = lab.play("install.yml", inventory, benchwatch_wheels=str(wheels))
        expect(not done.returncode, f"it is installed:\n{done.stdout}")
        counts = {host: one["changed"] for host, one in recap(done.stdout).items() if host != "localhost"}
        expect(all(bool(count) == changed for count in counts.values()), f"changed the first time only: {counts}")

    say("a run at one moment")
    done = lab.play(
        "run.yml",
        inventory,
        benchwatch_name="one",
        benchwatch_command=command.format(10),
        benchwatch_labels={"aos": "6.5"},
    )
    expect(not done.returncode, f"it runs:\n{done.stdout}")
    found = records(lab.work / "runs/one")
    expect(set(found) == set(lab.hosts), f"a worker a host: {sorted(found)}")
    starts = [float(str(one["start"])) for one in found.values()]
    late = [one["scheduled"]["late"] for one in found.values()]  # type: ignore[index]
    expect(max(starts) - min(starts) < SPREAD, f"they start together: {starts}")
    say(
        f"{len(found)} workers started within {1000 * (max(late) - min(late)):.2f} ms of each other, "
        f"the last {1000 * max(late):.2f} ms late"
    )
    print(run(ROOT / ".venv/bin/benchwatch", "show", lab.work / "runs/one"))

    say("a worker that cannot be prepared stops the others")
    broken = {**everyone, "db1": {**everyone["db1"], "benchwatch_options": "--disk nonsense"}}
    done = lab.play(
        "run.yml", lab.inventory("broken.yml", broken), benchwatch_name="none", benchwatch_command=command.format(5)
    )
    expect(done.returncode and "db1: --disk: expected NAME=VALUE" in done.stdout, f"it is named:\n{done.stdout}")
    expect(
        not any((host.home / ".benchwatch-fleet/runs/none").exists() for host in lab.hosts.values()), "no name is burnt"
    )

    if density:
        say("the density experiment")
        steps = ",".join(map(str, sorted({1, 2, len(lab.hosts)})))
        experiment = ROOT / "tests/experiments/density"
        done = lab.inside(
            experiment,
            f"--inventory={inventory}",
            f"--folder={lab.work}/density",
            f"--steps={steps}",
            "--seconds=10",
            "--clients=1",
            "--rate=200",
            "--aos=6.5",
        )
        print(done.stdout)
        expect(not done.returncode, "the experiment ends well")
        expect(list(lab.work.glob("density/runs/*.png")), "there is a picture")
        (ROOT / ".experiments").mkdir(exist_ok=True)
        for picture in lab.work.glob("density/runs/*.png"):
            shutil.copy(picture, ROOT / ".experiments")

    say("a host that dies while it measures")
    last = list(lab.hosts.values())[-1]
    with later(
        lambda: (
            any(last.home.glob(".benchwatch-fleet/runs/dies/*.yaml"))
            and "start:" in (last.home / f".benchwatch-fleet/runs/dies/{last.name}.yaml").read_text()
        ),
        last.die,
    ):
        done = lab.play("run.yml", inventory, benchwatch_name="dies", benchwatch_command=command.format(20))
    expect(done.returncode and re.search(rf"{last.name}: not reachable", done.stdout), f"it is named:\n{done.stdout}")
    found = records(lab.work / "runs/dies")
    expect(
        {name for name, one in found.items() if one.get("exit_code") == 0} == set(lab.hosts) - {last.name},
        "the others are collected",
    )
    done = lab.play("remove.yml", inventory)
    expect(done.returncode, "a host that is away is no success")
    last.boot()
    lab.await_ssh(last)
    done = lab.play("remove.yml", inventory)
    expect("run dies was not collected" in done.stdout, f"what was not collected is not removed:\n{done.stdout}")
    done = lab.play("collect.yml", inventory, benchwatch_name="dies")
    expect(re.search(rf"{last.name}: ended without a result", done.stdout), f"it has no result:\n{done.stdout}")
    expect(
        re.search("^progress: ", (lab.work / f"runs/dies/{last.name}.err").read_text(), re.MULTILINE),
        "what it had measured is collected",
    )

    say("remove")
    done = lab.play("remove.yml", inventory)
    expect(not done.returncode, f"it is removed:\n{done.stdout}")
    expect({name: files(host.home) for name, host in lab.hosts.items()} == homes, "nothing is left")


@contextmanager
def later(condition: Callable[[], object], then: Callable[[], None]) -> Iterator[None]:
    """Does something a few seconds after a condition holds, while something else goes on."""
    import threading

    def wait() -> None:
        deadline = time.monotonic() + 2 * PATIENCE
        while time.monotonic() < deadline and not condition():
            time.sleep(0.2)
        time.sleep(DIES_AFTER)
        then()

    thread = threading.Thread(target=wait)
    thread.start()
    yield
    thread.join()


if __name__ == "__main__":
    main()
