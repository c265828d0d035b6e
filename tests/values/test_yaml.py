"""YAML from anybody: what is beyond its bounds is refused before it is built, in one short sentence."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchwatch.settings.record import load_runfile
from benchwatch.settings.settings import RunsSettings, load_settings
from benchwatch.values.errors import ConfigError

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)
CONTENT = """\
labels: {cluster: a, vm: pg1, day: 2026-09-21, rate: 1.5, on: yes}
parameters:
  shared_buffers: 16GB
  base: &base [1, 0x1f, 0o17, 1:30, .inf, .nan, ~]
latency_objective: 1ms
disks: {<<: {sdb: log}, sdc: data}
command: [pgbench, -S, "a b", 'c', *base]
start: 1790000000.0
end: 1790000600
exit_code: 0
cpu_seconds: 31.4
nutanix:
  cvms: [{name: a, url: "http://10.0.0.1", port: 3}]
  vdisks: {include: ["(", "45269"], max_detail_pages: -1}
runs: {keep: 7, poll_interval: 250ms}
text: |
  several
  lines
? [complex]
: !!binary aGVsbG8=
"""


def refusal(path: Path, text: str, bound: int = 600) -> str:
    path.write_bytes(text.encode())
    with pytest.raises(ConfigError) as caught:
        load_runfile(path, RunsSettings())
    said = str(caught.value)
    assert said.startswith(str(path))
    assert len(said) < bound + len(str(path))
    assert said.isprintable()
    return said.removeprefix(str(path))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (BOMB, ":2: expected no aliases, got *a: write out what it stands for"),
        ("a: &a [*a]\n", ":1: expected no aliases, got *a: write out what it stands for"),
        ("[" * 5000, ":1: expected at most 16 lists and mappings nested in each other"),
        ("? " * 5000, ":1: expected at most 16 lists and mappings nested in each other"),
        ("- " * 5000, ":1: expected at most 16 lists and mappings nested in each other"),
        (
            "parameters:\n" + "".join(f"  p{n}: v{n}\n" for n in range(12_000)),
            ":1000: expected at most 2000 keys and values",
        ),
        ("labels: {a: " + "x" * 300_000 + "}\n", ": expected at most 262144 bytes"),
    ],
)
def test_what_is_too_large_or_too_deep_is_refused_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    assert refusal(tmp_path / "run.yaml", text) == said


def test_a_configuration_may_be_far_larger_than_a_record(tmp_path: Path) -> None:
    path = tmp_path / "benchwatch.yaml"
    disks = "".join(f"    disk-{n}: {{vm: db{n}, disk: scsi.1, role: data}}\n" for n in range(5_000))
    path.write_text(f"nutanix:\n  mapping:\n{disks}")
    assert len(load_settings(path).nutanix.mapping) == 5_000


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("labels: {a: !!timestamp x}\n", ":1: expected YAML: timestamp that cannot be read: 'x'"),
        ("labels:\n  a: !!int ''\n", ":2: expected YAML: int that cannot be read: ''"),
        ("labels: {a: !!bool maybe}\n", ":1: expected YAML: bool that cannot be read: 'maybe'"),
        ("labels: {a: !!float x}\n", ":1: expected YAML: float that cannot be read: 'x'"),
        (
            "labels: {a: 0x" + "f" * 5000 + "}\n",
            ":1: expected YAML: number of more than 64 bits (put it in quotes to make it a text",
        ),
        (
            "labels: {a: " + "9" * 5000 + "}\n",
            ":1: expected YAML: number of more than 64 bits (put it in quotes to make it a text): '9999999999",
        ),
        (
            "labels: {a: " + "1:" * 5000 + "1}\n",
            ":1: expected YAML: number of more than 64 bits (put it in quotes to make it a text",
        ),
        ("labels: {? [a]: b}\n", ":1: expected YAML: found unhashable key"),
        ("labels: {a: !!python/object:os.system x}\n", ":1: expected YAML: could not determine a constructor"),
        ("a: \x00\n", ": expected YAML: "),
    ],
)
def test_a_scalar_that_cannot_be_read_is_an_error_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    assert refusal(tmp_path / "run.yaml", text).startswith(said)


def test_dates_are_texts_whether_they_exist_or_not(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text("labels: {day: 2024-02-30, at: 2024-02-28 10:11:12, plain: 2024-02-28}\n")
    assert load_runfile(path, RunsSettings()).labels == {
        "day": "2024-02-30",
        "at": "2024-02-28 10:11:12",
        "plain": "2024-02-28",
    }


@pytest.mark.parametrize(
    "text",
    [
        "x" * 100_000 + ": 1\n",
        "disks: {a: [" + "'" + "y" * 100_000 + "']}\n",
        "warmup: '" + "z" * 100_000 + "'\n",
        'labels: {"' + "\\e" * 1000 + '": 1}\n',
        "labels: " + "a - at `" * 10_000 + "\n",
        "command: {" + ", ".join(f"k{n}: v" for n in range(500)) + "}\n",
    ],
)
def test_a_message_holds_an_excerpt_and_never_the_whole(tmp_path: Path, text: str) -> None:
    refusal(tmp_path / "run.yaml", text)


def test_an_unknown_key_of_an_entry_in_a_list_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "benchwatch.yaml"
    path.write_text('nutanix:\n  cvms:\n    - {name: a, url: "http://10.0.0.1"}\n    - name: b\n      port: 3\n')
    with pytest.raises(ConfigError) as caught:
        load_settings(path)
    assert str(caught.value) == f"{path}:5: nutanix.cvms.1.port: no such key: expected name or url"


PIECES = st.sampled_from(
    (
        *"[]{}:,-?!&*|>'\"%@`#\n\t 09\\\x00\x85\ufeff\u2028=~é\U0001f600",
        *("&a", "*a", "<<: ", "? ", "---\n", "...\n", "0x", "1e999", ".inf", "2024-02-30", "9" * 5000, "1:" * 200),
        *(
            f"!!{tag} "
            for tag in ["int", "float", "bool", "null", "str", "binary", "timestamp", "set", "omap", "pairs"]
        ),
        *("!!merge ", "!<tag:yaml.org,2002:value> ", "\\ud800", '"\\ud800"'),
    )
)
CHANGES = st.lists(
    st.tuples(st.integers(0, len(CONTENT)), st.integers(0, 12), PIECES | st.text(max_size=3)), max_size=8
)


@settings(max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(CHANGES, st.sampled_from(CONTENT.split("\n")), st.booleans())
def test_nothing_but_a_config_error_comes_of_any_document(
    tmp_path: Path, changes: list[tuple[int, int, str]], line: str, whole: bool
) -> None:
    text = CONTENT if whole else line
    for at, removed, put in changes:
        text = text[:at] + put + text[at + removed :]
    path = tmp_path / "any.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    for read in (load_settings, lambda file: load_runfile(file, RunsSettings())):
        try:
            read(path)
        except ConfigError as error:
            assert len(str(error)) < 1000 + len(str(path))


def test_a_record_up_to_its_bounds_is_taken_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.yaml"
    path.write_text("parameters:\n" + "".join(f"  p{n}: {'v' * 200}\n" for n in range(998)))
    assert len(load_runfile(path, RunsSettings()).parameters) == 998
