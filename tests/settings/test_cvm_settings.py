from pathlib import Path

import pytest

from benchwatch.nutanix.mapping import load_mapping, selected
from benchwatch.nutanix.pages.main_page import VdiskRow
from benchwatch.settings.cvm_settings import NutanixSettings, VdiskDisk, VdiskSelection, base_url
from benchwatch.settings.settings import load_settings
from benchwatch.values.durations import Duration
from benchwatch.values.errors import ConfigError

UUID = "1a8ef41c-ae3f-4293-a46e-49d7e6c1c907"


def load(folder: Path, text: str) -> NutanixSettings:
    path = folder / "benchwatch.yaml"
    path.write_text("nutanix:\n" + "".join(f"  {line}\n" for line in text.splitlines()))
    return load_settings(path).nutanix


def test_everything_has_a_default(tmp_path: Path) -> None:
    settings = load(tmp_path, "cvms: [{name: a, url: 'http://10.0.0.1'}]")
    assert (settings.poll_interval, settings.connect_timeout, settings.deadline) == tuple(map(Duration, (10, 5, 60)))
    assert settings.max_page_bytes == 16 * 1024 * 1024
    assert settings.vdisks.max_detail_pages == 32
    assert not settings.oplog_flush_stats
    assert load_mapping(settings, tmp_path) == {}


def test_durations_are_numbers_or_texts(tmp_path: Path) -> None:
    settings = load(tmp_path, "poll_interval: 1m\nconnect_timeout: 500ms\ndeadline: 90")
    assert (settings.poll_interval, settings.connect_timeout, settings.deadline) == tuple(map(Duration, (60, 0.5, 90)))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://10.0.0.1", "http://10.0.0.1:2009"),
        ("http://10.0.0.1/", "http://10.0.0.1:2009"),
        ("http://cvm-1.example:12009", "http://cvm-1.example:12009"),
        ("http://[fd00::1]:2010", "http://[fd00::1]:2010"),
        ("http://[fd00::1]", "http://[fd00::1]:2009"),
    ],
)
def test_a_url_gets_the_default_port(url: str, expected: str) -> None:
    assert base_url(url) == expected


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("https://10.0.0.1", "plain HTTP"),
        ("10.0.0.1:2009", "expected http://host"),
        ("", "expected http://host"),
        ("http://", "expected http://host"),
        ("http://a b", "expected http://host"),
        ("http://10.0.0.1/h/gflags", "leave out the path"),
        ("http://10.0.0.1?x=1", "leave out the path"),
        ("http://10.0.0.1/?", "leave out the path"),
        ("http://10.0.0.1#", "leave out the path"),
        ("http://me:secret@10.0.0.1", "there is no login"),
        ("http://10.0.0.1:99999", "out of range"),
        ("http://10.0.0.1:0", "expected http://host"),
        ("http://10.0.0.1:port", "expected http://host"),
    ],
)
def test_any_other_url_is_refused_with_a_reason(url: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=why):
        load(tmp_path, f"cvms: [{{name: a, url: '{url}'}}]")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "poll_interval: 5s",
            "poll_interval: expected 10s or more, got 5s: each poll costs the CVM time; to poll fa",
        ),
        ("deadline: 0", "deadline: expected more than 0"),
        ("deadline: 2d", "deadline: expected more than 0 and at most 1d, got 172800s"),
        (f"connect_timeout: {'9' * 400}s", "connect_timeout: expected a duration such as 500ms, 10s or 5m"),
        ("poll_interval: 1.0e+15", "poll_interval: expected a duration such as 500ms, 10s or 5m"),
        ("poll_interval: .nan", "expected a duration such as"),
        ("poll_interval: .inf", "expected a duration such as"),
        ("poll_interval: -10", "expected a duration such as"),
        (f"max_page_bytes: {10**15}", "max_page_bytes: expected 1024 to 268435456, got 1000000000000000"),
        ("max_vdisks: 0", "max_vdisks: expected 1 or more, got 0"),
        (
            "cvms: [{name: \"a\\e[2J\", url: 'http://a'}]",
            "name: expected at most 200 printable characters, got 'a\\x1b[2J'",
        ),
        (f"cvms: [{{name: {'a' * 201}, url: 'http://a'}}]", "name: expected at most 200 printable characters"),
        ("vdisks: {include: ['a{99999999999999999999}']}", "is not a regular expression"),
        (f"vdisks: {{exclude: ['{'(' * 5000 + ')' * 5000}']}}", "is not a regular expression"),
        (
            f"mapping: {{{UUID}: {{vm: a}}, {UUID.upper()}: {{vm: b}}}}",
            f"mapping: expected each uuid or file name once, got '{UUID}' twice",
        ),
        ("mapping: {'': {vm: a}}", "mapping: expected the uuid or file name of a vdisk, got an empty text"),
        ("max_page_bytes: 10", "max_page_bytes: expected 1024 to 268435456, got 10"),
        ("vdisks: {include: ['(']}", "include: '(' is not a regular expression"),
        ("vdisks: {max_detail_pages: -1}", "max_detail_pages: expected 0 or more pages per poll, got -1"),
        ("cvms: [{name: '', url: 'http://a'}]", "name: expected the name of the CVM in metrics, got an empty text"),
        (
            "cvms: [{name: a, url: 'http://a'}, {name: a, url: 'http://b'}]",
            "cvms: expected each name once, got 'a' twice",
        ),
        (
            "cvms: [{name: a, url: 'http://a'}, {name: b, url: 'http://a:2009/'}]",
            "cvms: expected each url once, got 'http://a:2009' twice",
        ),
        ("mapping_file: x\nmapping: {a: {vm: b}}", "mapping_file: expected either mapping or mapping_file, got both"),
        ("mapping: {a: {vn: b}}", "vn: no such key"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_with_a_sentence(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    assert message in str(caught.value)


def test_faster_polling_must_be_allowed(tmp_path: Path) -> None:
    assert load(tmp_path, "poll_interval: 2s\nallow_fast_polling: true").poll_interval == Duration(2)


def test_the_mapping_stands_in_the_settings_or_in_a_file(tmp_path: Path) -> None:
    disk = VdiskDisk(vm="db1", disk="scsi.1", role="data")
    entry = f"{UUID.upper()}: {{vm: db1, disk: scsi.1, role: data}}"
    assert load_mapping(load(tmp_path, f"mapping:\n  {entry}"), tmp_path) == {UUID: disk}
    (tmp_path / "disks.yaml").write_text(f"{entry}\n")
    assert load_mapping(load(tmp_path, "mapping_file: disks.yaml"), tmp_path) == {UUID: disk}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("'': {vm: a}", "mapping: expected the uuid"),
        (f"{UUID}: {{}}\n{UUID.upper()}: {{}}", "once"),
        (None, "cannot be read"),
        ("a: 1\n", "expected keys with values, got "),
        ("a: {size: 1}\n", "no such key"),
    ],
)
def test_a_mapping_file_that_cannot_be_used_is_refused(text: str | None, message: str, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "disks.yaml").write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        load_mapping(load(tmp_path, "mapping_file: disks.yaml"), tmp_path)
    assert "disks.yaml" in str(caught.value)


@pytest.mark.parametrize(
    ("include", "exclude", "expected"),
    [
        ((), (), ["2"]),
        (("1",), (), ["1", "2"]),
        (("1.*",), (), ["1", "11", "2"]),
        (("vm-a.*",), (), ["1", "2"]),
        (("NFS:11 .*",), (), ["11", "2"]),
        ((".*",), ("1+",), ["2"]),
        ((".*",), (UUID,), ["1", "11"]),
    ],
)
def test_vdisks_are_selected_by_mapping_and_patterns(
    include: tuple[str, ...], exclude: tuple[str, ...], expected: list[str]
) -> None:
    rows = [
        VdiskRow("1", "NFS:1 (vm-a.vmdk)", ()),
        VdiskRow("11", "NFS:11 (other)", ()),
        VdiskRow("2", f"NFS:2 ({UUID})", ()),
    ]
    selection, mapping = VdiskSelection(include=include, exclude=exclude), {UUID: VdiskDisk(vm="db1")}
    assert [row.id for row in rows if selected(row, selection, mapping)] == expected
