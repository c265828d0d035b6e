"""The compose files and what they mount: they start from a clean clone, as nobody special, for this machine only."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchwatch.settings.settings import Settings, load_settings
from benchwatch.values.durations import Duration

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "compose.yaml").read_text()
FILES = ("compose.yaml", "compose.scale.yaml", "compose.agent.yaml")
ALL = {name: (ROOT / name).read_text() for name in (*FILES, "docker/services.yaml")}
DOCKERFILE = (ROOT / "exporter" / "Dockerfile").read_text()
VARIABLE = re.compile(r"(?<!\$)\$\{([A-Z_]+)(?::\?[^}]*)?\}")


def environment() -> dict[str, str]:
    lines = (ROOT / ".env").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


class Loader(yaml.CSafeLoader):
    """Reads what replaces a value of the file below as any other."""


Loader.add_constructor("!override", lambda loader, node: loader.construct_mapping(node, deep=True))


def read(name: str) -> dict[str, Any]:
    """A compose file as Compose reads it with the settings of the clone, whatever its services extend filled in."""
    content = yaml.load(VARIABLE.sub(lambda match: environment()[match[1]], ALL[name]), Loader)
    services = content["services"]
    for service in services:
        services[service] = extended(services[service], name, services)
    return content


def extended(service: dict[str, Any], file: str, siblings: Mapping[str, Any]) -> dict[str, Any]:
    """A service of `file` with what it extends: mappings merge, lists join, commands and single values replace."""
    extends = service.get("extends")
    if not extends:
        return service
    if other := extends.get("file"):
        base = read(other)["services"][extends["service"]]
        base = base | {"volumes": [moved(mount, Path(other).parent) for mount in base.get("volumes", [])]}
    else:
        base = extended(siblings[extends["service"]], file, siblings)
    own = {key: value for key, value in service.items() if key != "extends"}
    return merged({key: value for key, value in base.items() if value != []}, own)


def moved(mount: Any, folder: Path) -> Any:
    """A mount of a file in `folder`, as seen from the root."""
    if isinstance(mount, str) or mount["source"].startswith("/"):
        return mount
    return mount | {"source": f"./{os.path.normpath(folder / mount['source'])}"}


def merged(base: Any, own: Any) -> Any:
    """As Compose merges what a service has into what it extends."""
    if isinstance(base, dict) and isinstance(own, dict):
        both = {key: merged(base[key], own[key]) for key in base.keys() & own.keys() if key not in REPLACED}
        return base | own | both
    return [*base, *own] if isinstance(base, list) and isinstance(own, list) else own


REPLACED = {"command", "entrypoint", "test"}
PROJECT, SCALE, AGENT = (read(name) for name in FILES)
SERVICES: Mapping[str, Mapping[str, Any]] = {
    **PROJECT["services"],
    **{name: service for name, service in SCALE["services"].items() if "image" in service},
    "agent elsewhere": AGENT["services"]["agent"],
}
"""The services of all files, each where it is described as a whole."""
VOLUMES = PROJECT["volumes"] | SCALE["volumes"] | AGENT["volumes"]
LASTING = [name for name, service in SERVICES.items() if service["restart"] != "no"]


def mounts(name: str) -> dict[str, tuple[str, bool]]:
    """What a service has mounted, by place in the container: source, and whether it may be written."""
    return sources(SERVICES[name])


def sources(service: Mapping[str, Any]) -> dict[str, tuple[str, bool]]:
    """As `mounts`."""
    found = {}
    for mount in service.get("volumes", []):
        if isinstance(mount, str):
            source, target = mount.split(":")
            found[target] = (source, True)
        else:
            found[mount["target"]] = (mount["source"], not mount["read_only"])
    return found


@pytest.mark.skipif(not find_spec("check_jsonschema"), reason="check-jsonschema is not installed")
@pytest.mark.parametrize("name", ["compose.yaml", "compose.agent.yaml", "docker/services.yaml"])
def test_is_valid_by_the_compose_specification(name: str) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", name]
    finished = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert finished.returncode == 0, finished.stdout


@pytest.mark.skipif(not shutil.which("docker-compose"), reason="docker-compose is not installed")
@pytest.mark.parametrize(
    ("files", "expected"),
    [(FILES[:1], PROJECT), (FILES[:2], SCALE), (FILES[2:], AGENT)],
    ids=["stack", "receiver", "agent"],
)
def test_compose_reads_what_these_tests_read(files: Sequence[str], expected: Mapping[str, Any]) -> None:
    command = ["docker-compose", "--profile=*", *(f"--file={name}" for name in files), "config", "--format=json"]
    named = {**os.environ, "AGENT_HOST": "db07", "AGENT_URL": "https://receiver.example:8427/api/v1/write"}
    done = subprocess.run(command, cwd=ROOT, env=named, capture_output=True, text=True, timeout=60, check=True)
    found = json.loads(done.stdout)["services"]
    same = (
        "image",
        "user",
        "restart",
        "read_only",
        "cap_drop",
        "security_opt",
        "pids_limit",
        "logging",
        "network_mode",
    )
    for name, ours in expected["services"].items():
        if "image" not in ours:
            continue
        theirs = found.pop(name)
        assert {key: theirs.get(key) for key in same} == {key: ours.get(key) for key in same}
        assert theirs.get("healthcheck", {}).keys() == ours.get("healthcheck", {}).keys()
        mounted = {mount["target"]: mount["source"].replace(str(ROOT), ".") for mount in theirs.get("volumes", [])}
        assert mounted == {place: source for place, (source, _) in sources(ours).items()}
    assert found.keys() <= (SERVICES.keys() if expected is SCALE else set())


def test_env_file_has_what_is_filled_in_and_nothing_else() -> None:
    assert {name for text in ALL.values() for name in VARIABLE.findall(text)} == set(environment())


@pytest.mark.parametrize("name", SERVICES)
def test_image_is_of_an_exact_version_or_built_here(name: str) -> None:
    image, _, tag = SERVICES[name]["image"].rpartition(":")
    built = {service["image"] for service in SERVICES.values() if "build" in service}
    assert re.fullmatch(r"v?\d+\.\d+(\.\d+)?(-[a-z]+)?", tag) or f"{image}:{tag}" in built


def test_no_registry_is_asked_for_an_image_that_is_built_here() -> None:
    built = {service["image"] for service in SERVICES.values() if "build" in service}
    assert {service.get("pull_policy") for service in SERVICES.values() if service["image"] in built} == {"never"}


def test_versions_are_those_that_the_configuration_was_made_for() -> None:
    images = {service["image"] for service in SERVICES.values()}
    assert {"prom/prometheus:v3.15.0", "prom/alertmanager:v0.34.2", "prom/node-exporter:v1.12.1"} <= images
    assert any(re.fullmatch(r"grafana/grafana:12\.[4-9]\d*\.\d+", image) for image in images)
    assert any(re.fullmatch(r"postgres:(1[789]|[2-9]\d).*", image) for image in images)


def test_no_two_services_share_a_user() -> None:
    """Where one has the machine's /proc, it could look into others of its user. Those that end at once do not count."""
    users = [SERVICES[name]["user"].partition(":")[0] for name in LASTING]
    assert len(users) == len(set(users)) == 19


def test_a_service_writes_into_memory_only_at_folders_of_its_image() -> None:
    """At a second start, a tmpfs elsewhere has the owner and mode of the folder that the first start made: root's."""
    stays_empty = {"/run/udev/data"}
    of_images = {"/tmp", "/var/lib/postgresql", "/var/lib/postgresql/data"}
    assert {place for service in SERVICES.values() for place in service.get("tmpfs", [])} == of_images | stays_empty


def test_node_exporter_has_user_and_group_of_its_own() -> None:
    assert "/host/proc" in mounts("node-exporter")
    names = set(SERVICES) - {"node-exporter"}
    taken = {number for name in names for number in SERVICES[name]["user"].split(":")}
    assert not taken & set(SERVICES["node-exporter"]["user"].split(":"))


@pytest.mark.parametrize(("name", "helper"), [("alertmanager", "alertmanager-volume"), ("grafana", "grafana-password")])
def test_what_makes_a_volume_ready_is_over_before_its_service_begins(name: str, helper: str) -> None:
    assert SERVICES[name]["depends_on"][helper] == {"condition": "service_completed_successfully"}
    assert SERVICES[helper]["image"] == SERVICES[name]["image"], "so that the volume has the owner that its image gives"
    assert mounts(helper).items() <= mounts(name).items()
    assert SERVICES[helper]["network_mode"] == "none"
    groups = {SERVICES[one]["user"].partition(":")[2] for one in (name, helper)}
    assert len(groups) == 1


@pytest.mark.parametrize("name", SERVICES)
def test_service_has_no_more_rights_than_it_needs(name: str) -> None:
    service = SERVICES[name]
    user, group = map(int, service["user"].split(":"))
    assert user > 0, "not root"
    assert group > 0 or service["image"].startswith("grafana/"), "the files of Grafana's image belong to group 0"
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"] and "cap_add" not in service
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "pid", "ipc", "devices"} & service.keys()
    assert service.get("network_mode", "none") == "none", "never the machine's network"
    assert service["mem_limit"] == service["memswap_limit"], "nothing of it in swap"
    assert service["pids_limit"]
    options = {"max-size": "10m", "max-file": "3"}
    assert service["logging"] == {"driver": "json-file", "options": options}, "a driver that Podman has too"


@pytest.mark.parametrize("name", SERVICES)
def test_ports_are_open_on_loopback_only(name: str) -> None:
    for port in SERVICES[name].get("ports", []):
        assert re.fullmatch(r"127\.0\.0\.1:\d+:\d+", port)


@pytest.mark.parametrize("name", LASTING)
def test_lasting_service_is_started_again_and_says_whether_it_is_healthy(name: str) -> None:
    assert SERVICES[name]["restart"] == "unless-stopped"
    check = SERVICES[name]["healthcheck"]
    assert {"interval", "timeout", "retries", "start_period"} <= check.keys()
    tested_by_image = SERVICES[name]["image"] == "benchwatch:local" and "HEALTHCHECK" in DOCKERFILE
    assert tested_by_image or check["test"][0] in ("CMD", "CMD-SHELL")


@pytest.mark.parametrize("name", SERVICES)
def test_service_waits_for_what_it_needs(name: str) -> None:
    for other, condition in SERVICES[name].get("depends_on", {}).items():
        expected = "service_healthy" if other in LASTING else "service_completed_successfully"
        assert condition == {"condition": expected}
        needed = set(SERVICES[other].get("profiles", []))
        assert needed <= set(SERVICES[name].get("profiles", [])), "a service that only a profile has"


def test_profiles_add_what_they_say() -> None:
    by_profile: dict[str, set[str]] = {}
    for name, service in SERVICES.items():
        by_profile.setdefault(" ".join(service.get("profiles", [])), set()).add(name)
    assert by_profile == {
        "": {
            *("exporter", "node-exporter", "prometheus", "alertmanager", "grafana"),
            *("alertmanager-volume", "grafana-password"),
            *("vmstorage-1", "vmstorage-2", "vminsert", "vmselect", "vmalert", "receiver", "agent", "agent elsewhere"),
        },
        "demo": {"demo-postgres", "demo-pgbench", "demo-fio", "demo-cvm", "demo-cvm-exporter"},
        "postgres demo": {"postgres-exporter"},
    }


@pytest.mark.parametrize("name", SERVICES)
def test_mounts_are_in_a_clean_clone_or_volumes_and_only_those_are_written(name: str) -> None:
    for source, writable in mounts(name).values():
        if source.startswith("./"):
            path = ROOT / source
            own = source in ("./runs", "./secrets")
            tracked = path if path.is_file() else path / ".gitignore" if own else next(path.iterdir())
            assert tracked.exists() and not writable
        elif source.startswith("/"):
            assert source in ("/proc", "/sys") and not writable
        else:
            assert source in VOLUMES


@pytest.mark.parametrize("name", SERVICES)
def test_a_mount_whose_source_is_missing_makes_no_folder(name: str) -> None:
    for mount in SERVICES[name].get("volumes", []):
        if isinstance(mount, str):
            assert mount.partition(":")[0] in VOLUMES
        else:
            assert (mount["type"], mount["bind"]) == ("bind", {"create_host_path": False})


def test_secrets_that_are_not_set_are_an_empty_file_of_the_clone() -> None:
    for secret in PROJECT["secrets"].values():
        assert secret["file"] == "./docker/no-password"
        assert (ROOT / secret["file"]).read_bytes() == b""


def test_shared_memory_of_the_machine_is_mounted_by_an_override_only() -> None:
    override = yaml.safe_load((ROOT / "docker" / "shm.yaml").read_text())
    ((name, service),) = override["services"].items()
    assert "/dev/shm" not in mounts(name)
    (mount,) = service["volumes"]
    assert mount == {
        "type": "bind",
        "source": "/dev/shm",
        "target": "/dev/shm",
        "read_only": True,
        "bind": {"create_host_path": False},
    }
    for page in (".env", "docs/container.md", "docs/run.md"):
        assert "docker/shm.yaml" in (ROOT / page).read_text()


def test_demo_has_no_way_out() -> None:
    inside = {name for name, network in PROJECT["networks"].items() if network.get("internal")}
    for service in SERVICES.values():
        if service.get("profiles") == ["demo"]:
            assert service.get("network_mode") == "none" or set(service["networks"]) <= inside
    assert set(SERVICES["prometheus"]["networks"]) == {"default", *inside}


def test_prometheus_lets_no_page_of_another_address_read_its_answers() -> None:
    assert "--web.cors.origin=" in SERVICES["prometheus"]["command"]


def test_documented_rights_of_a_private_clone_cover_what_is_mounted() -> None:
    text = (ROOT / "docs" / "container.md").read_text()
    (command,) = re.findall(r"`chmod -R go\+rX ([^`&]*) && chmod go\+x secrets`", text)
    folders = {source.split("/")[1] for name in SERVICES for source, _ in mounts(name).values() if source[0] == "."}
    assert folders == {*command.split(), "secrets"}


def test_what_users_put_in_is_ignored_by_git_and_what_they_edit_survives_the_documented_update() -> None:
    assert {"compose.override.yaml", "/data/"} <= set((ROOT / ".gitignore").read_text().splitlines())
    assert "/secrets/" not in (ROOT / ".gitignore").read_text(), "it would keep secrets/.gitignore out of the clone"
    for folder in ("runs", "secrets"):
        lines = (ROOT / folder / ".gitignore").read_text().splitlines()
        assert [line for line in lines if not line.startswith("#")] == ["*", "!.gitignore"]
    for page in ("README.md", "docs/container.md"):
        assert re.findall(r"git pull[^&]*", (ROOT / page).read_text()) == ["git pull --rebase --autostash "]


def test_alertmanager_has_what_the_examples_of_receivers_name() -> None:
    text = (ROOT / "prometheus" / "alertmanager.yml").read_text()
    files = {str(Path(name).parent) for name in re.findall(r"_file: (\S+)", text)}
    assert {mounts("alertmanager")[folder] for folder in files} == {("./secrets", False)}
    assert "host.docker.internal" in text
    assert SERVICES["alertmanager"]["extra_hosts"] == ["host.docker.internal:host-gateway"]


def test_postgresql_17_and_18_keep_the_demos_data_in_its_volume() -> None:
    """18 does not start with its data in `18/docker`, its default, while `data` is a mount, as 17's image wants it."""
    data = Path(SERVICES["demo-postgres"]["environment"]["PGDATA"])
    assert mounts("demo-postgres")[str(data.parent)] == ("demo-postgres", True)
    assert data.name == environment()["POSTGRES_VERSION"], "no version can use another one's"


@pytest.mark.parametrize("name", ["demo-postgres", "demo-pgbench"])
def test_volumes_that_postgresqls_images_ask_for_are_not_made(name: str) -> None:
    """17's image asks for one at `data`, 18's for one at the folder above it; nameless ones would be left behind."""
    assert {"/var/lib/postgresql", "/var/lib/postgresql/data"} <= {*mounts(name), *SERVICES[name]["tmpfs"]}


@pytest.mark.parametrize("project", [PROJECT, SCALE, AGENT], ids=["stack", "receiver", "agent"])
def test_exporter_knows_the_address_on_loopback_where_its_port_is_published(project: Mapping[str, Any]) -> None:
    (published,) = SERVICES["exporter"]["ports"]
    address = published.removesuffix(":19777")
    assert f"--web.external-url=http://{address}/" in project["services"]["exporter"]["command"]


def test_exporter_reads_the_folder_of_runs_and_writes_pushes_into_a_volume() -> None:
    settings = load_settings(ROOT / "benchwatch.yaml")
    folders = mounts("exporter")
    assert folders[f"/{settings.runs.path}"] == ("./runs", False)
    assert folders[f"/{settings.push.path}"] == ("pushed", True)
    assert folders["/benchwatch.yaml"] == ("./benchwatch.yaml", False)
    assert "--config.file=/benchwatch.yaml" in SERVICES["exporter"]["command"]


def test_benchwatch_yaml_changes_no_default_but_the_folder_of_pushes() -> None:
    settings = load_settings(ROOT / "benchwatch.yaml")
    assert settings.push.path == "pushed"
    assert (settings.runs, settings.disks, settings.nutanix) == (Settings().runs, {}, Settings().nutanix)


def test_examples_in_benchwatch_yaml_hold_without_their_hash(tmp_path: Path) -> None:
    text = (ROOT / "benchwatch.yaml").read_text()
    (tmp_path / "all.yaml").write_text(re.sub(r"^( *)#(?=\w|  )", r"\1", text, flags=re.MULTILINE))
    settings = load_settings(tmp_path / "all.yaml")
    assert settings.runs.latency_objective == Duration(0.001)
    assert settings.disks == {"sdb": "log", "sdc": "data"}
    assert [cvm.url for cvm in settings.nutanix.cvms] == ["http://host.docker.internal:12009"]
    assert [disk.role for disk in settings.nutanix.mapping.values()] == ["data", "log"]


def test_exporter_of_the_simulated_cvm_asks_the_simulator() -> None:
    settings = load_settings(ROOT / "docker" / "cvm.yaml")
    assert [cvm.url for cvm in settings.nutanix.cvms] == ["http://demo-cvm:2009"]
    assert "--listen=0.0.0.0:2009" in SERVICES["demo-cvm"]["command"]


def test_grafana_lets_everybody_look_and_only_admin_change() -> None:
    settings = SERVICES["grafana"]["environment"]
    assert settings["GF_AUTH_ANONYMOUS_ENABLED"] == "true"
    assert settings["GF_AUTH_ANONYMOUS_ORG_ROLE"] == "Viewer"
    assert "GF_SECURITY_ADMIN_PASSWORD" not in settings
    assert settings["GF_SECURITY_ADMIN_PASSWORD__FILE"].startswith("/var/lib/grafana/")


def test_grafana_has_the_dashboards_and_what_provisions_them() -> None:
    folders = mounts("grafana")
    for kind in ("dashboards", "datasources"):
        assert folders[f"/etc/grafana/provisioning/{kind}"] == (f"./dashboards/provisioning/{kind}", False)
    settings = SERVICES["grafana"]["environment"]
    assert folders[settings["DASHBOARDS_PATH"]] == ("./dashboards/json", False)
    home = Path(settings["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"])
    assert str(home.parent) == settings["DASHBOARDS_PATH"] and (ROOT / "dashboards" / "json" / home.name).exists()
