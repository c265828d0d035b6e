import re
from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.settings.record import load_runfile
from benchwatch.settings.settings import RunsSettings, load_settings
from benchwatch.values.errors import ConfigError


def test_without_a_file_everything_has_a_default() -> None:
    settings = load_settings(None)
    assert (settings.runs.path, settings.runs.poll_interval, settings.runs.keep) == ("runs", 0.25, 100)


def test_every_section_is_read(tmp_path: Path) -> None:
    path = tmp_path / "benchwatch.yaml"
    path.write_text(
        "runs: {path: /data/runs, poll_interval: 500ms, keep: 7, abandoned_after: 10m, latency_objective: 1ms}\n"
        "push: {enabled: false}\n"
        "histogram: {buckets_per_octave: 2}\n"
        "disks: {sdb: log, sdc: data}\n"
    )
    settings = load_settings(path)
    assert settings.runs.path == "/data/runs"
    assert (settings.runs.poll_interval, settings.runs.abandoned_after) == (0.5, 600.0)
    assert settings.runs.latency_objective == 0.001
    assert not settings.push.enabled
    assert settings.histogram.buckets_per_octave == 2
    assert settings.disks == {"sdb": "log", "sdc": "data"}


def test_an_empty_file_is_all_defaults(tmp_path: Path) -> None:
    path = tmp_path / "benchwatch.yaml"
    path.write_text("# nothing yet\n")
    assert load_settings(path) == load_settings(None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("runs:\n  keep: many\n", ":2: runs.keep: expected a whole number, got 'many'"),
        ("runs:\n  kept: 3\n", ":2: runs.kept: no such key: expected path, poll_interval, keep, "),
        ("runs:\n  kept: 3\n", "or limits; did you mean keep?"),
        ("runs:\n  limits:\n    valuelength: 3\n", ":3: runs.limits.valuelength: no such key: expected value_length"),
        ("runs:\n  limits:\n    valuelength: 3\n", "; did you mean value_length?"),
        (
            "runs:\n  path: x\n  poll_interval: soon\n",
            ":3: runs.poll_interval: expected a duration such as 500ms, 10s or 5m, got 'soon'",
        ),
        ("- a\n", ":1: the whole file: expected keys with values, got ['a']"),
        ("runs: [\n", "expected YAML"),
        ("push: {keep_free_bytes: -1}\n", ":1: push.keep_free_bytes: expected a whole number >= 0, got -1"),
        ("histogram: {buckets_per_octave: 3}\n", ":1: histogram: buckets_per_octave: expected 1, 2 or 4, got 3"),
        ("runs: {keep: -1}\n", ":1: runs.keep: expected a whole number >= 0, got -1"),
        ("runs: {poll_interval: 0}\n", ":1: runs: poll_interval: expected 10ms to 1h, got 0s"),
        ("runs: {poll_interval: 1d}\n", ":1: runs: poll_interval: expected 10ms to 1h, got 86400s"),
        ("runs: {abandoned_after: .inf}\n", ":1: runs.abandoned_after: expected a duration such as 500ms, 10s or 5m"),
        (
            'nutanix:\n  cvms: [{name: a, url: "http://10.0.0.1", prot: x}]\n',
            ":2: nutanix.cvms.0.prot: no such key: expected name or url",
        ),
        ("nutanix:\n  cvms: [{name: a, url: 3}]\n", ":2: nutanix.cvms.0.url: expected text, got 3"),
        ("disks:\n  sdb: 7\n", ":2: disks, one of its values: expected text, got {'sdb': 7}"),
    ],
)
def test_an_error_names_file_line_key_value_and_what_was_expected(
    tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "benchwatch.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_settings(path)
    assert str(caught.value).startswith(str(path))
    assert message in str(caught.value)
    assert main(["serve", "--config.file", str(path)]) == 2
    assert message in capsys.readouterr().err


def test_a_file_that_is_not_there_or_not_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nothing\.yaml: cannot be read: No such file or directory"):
        load_settings(tmp_path / "nothing.yaml")
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match="expected UTF-8 text"):
        load_settings(binary)


def test_the_examples_of_the_documentation_are_accepted(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "docs" / "configuration.md").read_text()
    exporter, run = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    path = tmp_path / "example.yaml"
    path.write_text(exporter)
    assert load_settings(path).nutanix.cvms[0].name == "cvm-a"
    path.write_text(run)
    assert load_runfile(path, RunsSettings()).latency_objective == 0.002


def test_a_message_is_short_however_long_the_value_is(tmp_path: Path) -> None:
    path = tmp_path / "benchwatch.yaml"
    path.write_text(f"nutanix:\n  cvms: [{{name: a, url: {'x' * 100_000}}}]\n")
    with pytest.raises(ConfigError) as caught:
        load_settings(path)
    assert len(str(caught.value)) < len(str(path)) + 500
    assert ":2: nutanix.cvms.0: " in str(caught.value)
