"""What the role says of many hosts at once: what is wrong with them before a start, and how a run goes."""

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

OLDEST_PYTHON = (3, 11)
_TOOLS = ("pgbench", "fio", "sysbench", "iperf3")
_ELSEWHERE = ("ssh", "docker", "podman", "kubectl")
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,127}")
_HOST_LINE = re.compile(r"[^\s#;=\[]+(?=\s|$)")
_LEFT_OUT = re.compile(r"^\.|(~|\.(pyc|pyo|swp|bak|rpm|md|txt|rst|orig|cfg|retry))$")
"""Files that Ansible leaves out of a folder of inventories, by default."""
_ADVICE = "nothing was done on any host; --limit leaves hosts out: --limit 'all:!db7'"


def programs(command: str) -> str:
    """The programs that a benchmark's command needs on its host, separated by spaces."""
    words = shlex.split(command)
    tools = [word for word in words if word.rpartition("/")[2] in _TOOLS]
    alone = bool(words) and words[0].rpartition("/")[2] in _TOOLS + _ELSEWHERE
    return " ".join(words[:1] if alone else words[:1] + tools[:1])


def exports(environment: Mapping[str, object]) -> str:
    """Commands of a shell that set these variables: the module raw does not."""
    return " ".join(f"export {name}={shlex.quote(str(value))};" for name, value in environment.items())


def read_probe(probe: Mapping[str, Any]) -> dict[str, str]:
    """What a probe found; without a home if the host gave no answer."""
    for line in reversed(str(probe.get("stdout") or "").splitlines()):
        if line.startswith("{"):
            try:
                return dict(json.loads(line))
            except ValueError:
                break
    return {"home": "/nonexistent"}


def twice(inventory: str) -> list[str]:
    """Hosts that an inventory in INI form names twice in one group, of which Ansible makes one."""
    found = []
    for group in re.split(r"^\[", inventory, flags=re.MULTILINE):
        head = group.partition("]")[0]
        if head.endswith((":vars", ":children")):
            continue
        names = Counter(match[0] for line in group.splitlines() if (match := _HOST_LINE.match(line)))
        found += [name for name, count in names.items() if count > 1]
    return found


def twice_in_yaml(inventory: str) -> list[str]:
    """The same of an inventory in YAML or JSON, of which Ansible takes what is said last; none if it is neither."""

    def walk(node: yaml.Node | None, are_hosts: bool = False) -> Iterator[str]:
        if isinstance(node, yaml.MappingNode):
            if are_hosts:
                yield from (name for name, count in Counter(key.value for key, _ in node.value).items() if count > 1)
            for key, value in node.value:
                yield from walk(value, key.value == "hosts")

    try:
        return list(walk(yaml.compose(inventory, yaml.SafeLoader)))
    except yaml.YAMLError:  # Ansible says so
        return []


def find_faults(hostvars: Mapping[str, Any], hosts: Sequence[str], expected: Mapping[str, Any]) -> list[str]:
    """Everything that keeps a benchmark from starting on these hosts, a sentence each, and what to do."""
    found = list(_in_inventory(expected["sources"]))
    usable = []
    for host in hosts:
        own = list(_of_host(hostvars[host], expected))
        found += [f"{host}: {sentence}" for sentence in own]
        usable += [host] if not _unreachable(hostvars[host].get("benchwatch_probe", {})) else []
    if not expected["one_machine_allowed"]:
        machines = _by(usable, lambda host: hostvars[host]["benchwatch_host_facts"].get("machine", ""))
        found += [
            f"{' and '.join(same)}: one machine under {len(same)} names (benchwatch_one_machine_allowed permits it)"
            for machine, same in machines.items()
            if machine and len(same) > 1
        ]
    if expected["run"]:
        found += _of_run(hostvars, hosts, expected)
    return found + [_ADVICE] * bool(found)


def _in_inventory(sources: Iterable[str]) -> Iterator[str]:
    for source in map(Path, sources):
        there = (
            [path for path in sorted(source.iterdir()) if not _LEFT_OUT.search(path.name)] if source.is_dir() else []
        )
        for path in there or [source]:
            if path.is_file() and not path.stat().st_mode & 0o100:
                found = twice_in_yaml if path.suffix in (".yml", ".yaml", ".json") else twice
                for name in found(path.read_text(errors="replace")):
                    yield f"{name}: twice in one group of {path}: every host must be named once"


def _of_host(host: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    probe = host.get("benchwatch_probe", {})
    if _unreachable(probe):
        yield f"not reachable: {_line(probe.get('msg', ''))}"
        return
    facts = host.get("benchwatch_host_facts", {})
    if "machine" not in facts:
        yield f"no shell answers as expected: {_line(probe.get('stdout', '') + probe.get('stderr', ''))}"
        return
    if facts["lacks"]:
        yield f"{facts['lacks']} was not found: install it, or set PATH in benchwatch_environment"
    number = re.match(r"(\d+)\.(\d+)", facts["python"])
    asked, oldest = host.get("benchwatch_python", "python3"), ".".join(map(str, OLDEST_PYTHON))
    if not number:
        yield f"{asked} was not found: benchwatch needs Python {oldest} or newer (benchwatch_python)"
    elif (int(number[1]), int(number[2])) < OLDEST_PYTHON:
        yield f"{asked} is Python {number[0]}: benchwatch needs {oldest} or newer (benchwatch_python)"
    elif "no-venv" in facts["python"]:
        yield f"{asked} has no venv: install the package python3-venv, or name another one (benchwatch_python)"
    if not expected["run"]:
        return
    if host.get("benchwatch_installed", {}).get("rc"):
        yield "benchwatch is not installed: run install.yml first"
    checked = host.get("benchwatch_checked", {})
    if checked.get("rc"):
        said = _line(checked.get("stderr", "") or checked.get("stdout", ""))
        yield f"the check of this benchmark failed: {said or checked['rc']}"
    times = re.findall(r"^(\d+\.\d+) (\d+\.\d+)\s*$", host.get("benchwatch_clock", {}).get("stdout", ""), re.MULTILINE)
    if times:
        ahead = float(times[-1][1]) - float(times[-1][0])
        if abs(ahead) > float(expected["clock_tolerance"]):
            yield (
                f"its clock is {abs(ahead):.1f} s {'ahead of' if ahead > 0 else 'behind'} this machine's: "
                "set it, or allow for it with benchwatch_clock_tolerance"
            )


def _of_run(hostvars: Mapping[str, Any], hosts: Sequence[str], expected: Mapping[str, Any]) -> Iterator[str]:
    if not _NAME.fullmatch(str(expected["name"])):
        yield "benchwatch_name: expected letters, digits, '.', '_' and '-', such as -e benchwatch_name=density-3"
    for host in hosts:
        if not str(hostvars[host].get("benchwatch_command", "")).strip():
            yield f"{host}: benchwatch_command: expected the command of a benchmark, such as pgbench -T 60 mydb"
    for worker, same in _by(hosts, lambda host: str(hostvars[host]["benchwatch_worker_name"])).items():
        if len(same) > 1:
            yield f"{' and '.join(same)}: both are worker {worker}: give each its own benchwatch_worker"
    there = Path(expected["folder"]) / str(expected["name"])
    if expected["name"] and there.exists():
        yield f"{there} already exists: choose another benchwatch_name"


def read_state(answer: Mapping[str, Any]) -> dict[str, Any]:
    """The state of a worker from the answer of state.sh."""
    if _unreachable(answer):
        return {"unreachable": _line(answer.get("msg", "")) or "no answer"}
    text = str(answer.get("stdout") or "").replace("\r\n", "\n")
    head, _, log = text.partition("benchwatch=state\n")[2].partition("log=\n")
    return {**dict(line.split("=", 1) for line in head.splitlines() if "=" in line), "log": log.strip()}


def not_ready(states: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Workers that do not wait for their moment, and why."""
    return [
        f"{host}: {state.get('unreachable') or _last(state) or 'it does not answer'}"
        for host, state in states.items()
        if "unreachable" in state or not (state.get("ready") and state.get("active"))
    ]


def course(states: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """How many workers are active with what throughput, and each that is not reachable or went wrong."""
    active = [state for state in states.values() if state.get("active")]
    rates = [float(state["rate"]) for state in active if state.get("rate")]
    together = f", {sum(rates):,.0f} TPS of {len(rates)}" if rates else ""
    return [f"{len(active)} of {len(states)} workers are active{together}", *endings(states, only_ended=True)]


def endings(states: Mapping[str, Mapping[str, Any]], only_ended: bool = False) -> list[str]:
    """Workers that did not end well, and how; with `only_ended` not those that are still active."""
    found = []
    for host, state in states.items():
        if "unreachable" in state:
            found.append(f"{host}: not reachable: {state['unreachable']}")
        elif state.get("active"):
            found += [] if only_ended else [f"{host}: still active"]
        elif state.get("exit_code") != "0":
            how = f"exit code {state['exit_code']}" if "exit_code" in state else "ended without a result"
            found.append(f"{host}: {how}{f': {_last(state)}' if _last(state) else ''}")
    return found


def not_collected(hostvars: Mapping[str, Any], hosts: Sequence[str]) -> list[str]:
    """Hosts that answered, and whose files have not all arrived."""
    found = []
    for host in hosts:
        fetched = hostvars[host].get("benchwatch_fetched", {})
        failed = [one for one in fetched.get("results", ()) if one.get("failed") or one.get("unreachable")]
        if failed:
            found.append(f"{host}: {len(failed)} files were not fetched: {_line(failed[0].get('msg', ''))}")
    return found


def punctuality(states: Mapping[str, Mapping[str, Any]]) -> str:
    """How near to the moment the workers started, by their own clocks."""
    late = [float(state["late"]) for state in states.values() if state.get("late")]
    unknown = sum(1 for state in states.values() if state.get("late") and not state.get("clock_error"))
    clocks = f"; {unknown} of their clocks are not known to be synchronised" if unknown else ""
    return f"{len(late)} workers started within {1000 * max(late):.1f} ms{clocks}" if late else "no worker started"


def _last(state: Mapping[str, Any]) -> str:
    said = (line for line in state.get("log", "").splitlines() if line.strip() and not line.startswith("See: "))
    lines = [line.removeprefix("benchwatch: ") for line in said]
    errors = [line for line in lines if re.search(r"error|expected|nothing was started|cannot|refuse|already", line)]
    return (errors or lines or [""])[-1].strip()[:300]


def _unreachable(answer: Mapping[str, Any]) -> bool:
    return bool(answer.get("unreachable"))


def _line(text: object) -> str:
    """The last line that says something."""
    lines = [line.strip() for line in str(text).splitlines() if line.strip()]
    return lines[-1][:300] if lines else ""


def _by(hosts: Iterable[str], key: Callable[[str], str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for host in hosts:
        found.setdefault(key(host), []).append(host)
    return found


class FilterModule:
    """The filters, as Ansible finds them."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """By name."""
        return {
            "benchwatch_programs": programs,
            "benchwatch_split": shlex.split,
            "benchwatch_exports": exports,
            "benchwatch_read_probe": read_probe,
            "benchwatch_find_faults": find_faults,
            "benchwatch_read_state": read_state,
            "benchwatch_not_ready": not_ready,
            "benchwatch_course": course,
            "benchwatch_endings": endings,
            "benchwatch_not_collected": not_collected,
            "benchwatch_punctuality": punctuality,
        }
