"""`report --over`: the curve of files that exist."""

from pathlib import Path

import pytest

from benchwatch.cli import main
from benchwatch.results.over import from_path, template
from tests.compare.made import summary
from tests.results.test_scalability import NUMBERS, law
from tests.support.pages import Page
from tests.support.places import RECORDINGS

FIO = (RECORDINGS / "fio/json-si1-randrw-3.39.out").read_bytes()


def write(path: Path, text: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


def report(tmp_path: Path, *arguments: object, code: int = 0) -> Page:
    output = tmp_path / "page.html"
    assert main(["report", *map(str, arguments), "--output", str(output)]) == code
    return Page(output)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("results/clients16.txt", {"clients": "16"}),
        ("a/threads=8/bs-64k.json", {"threads": "8", "bs": "64k"}),
        ("nvme/4k/randread-32-8.json", {"bs": "4k", "rw": "randread", "iodepth": "32", "numjobs": "8"}),
        ("clients4/clients16.txt", {"clients": "16"}),
        ("myclients/run1.txt", {}),
        ("subthreads8.txt", {}),
    ],
)
def test_pairs_are_recognised_in_paths(path: str, found: dict[str, str]) -> None:
    assert from_path(Path(path)) == found


def test_a_pattern_fits_the_end_of_a_path() -> None:
    fits = template("{bs}/{rw}-{iodepth}-{numjobs}").fullmatch("/data/x/4k/randread-32-8.json")
    assert fits and fits.groupdict() == {"bs": "4k", "rw": "randread", "iodepth": "32", "numjobs": "8"}
    assert template("{bs}-{depth}").fullmatch("/data/4k/x.json") is None
    for wrong in ("bs", "{a}{a}"):
        with pytest.raises(ValueError, match="expected"):
            template(wrong)


def test_files_of_one_folder_are_a_curve_over_what_they_print(tmp_path: Path) -> None:
    for number in NUMBERS:
        text = summary(law(1000, 0.05, 0.002)(number), clients=int(number))
        write(tmp_path / f"results/run{number:g}.txt", text)
    page = report(tmp_path, tmp_path / "results", "--over", "clients")
    assert page.text("h2")[0] == "Sweep: pgbench"
    assert page.text("h3")[0] == "TPS over clients"
    assert "over clients" in page.text("h3")
    assert [number for number in NUMBERS if f"{number:g}: " not in page.source] == []


def test_two_parameters_of_paths_are_a_matrix_whose_best_is_marked(tmp_path: Path) -> None:
    for number, size in enumerate(("4k", "64k")):
        for depth in (1, 8):
            text = summary(1000.0 * depth + number)
            write(tmp_path / f"x/{size}/randread-{depth}-1.txt", text)
    page = report(tmp_path, tmp_path / "x", "--over", "iodepth", "--over", "bs")
    assert "bs 4k" in page.source and "bs 64k" in page.source
    assert page.source.count(" best</td>") == 1
    assert "8,001 best</td>" in page.source


def test_a_pattern_overrides_what_the_output_says(tmp_path: Path) -> None:
    for number in (1, 2, 4):
        write(tmp_path / f"x/{number}-of.txt", summary(1000.0 * number, clients=10))
    page = report(tmp_path, tmp_path / "x", "--over", "clients", "--from-path", "{clients}-of")
    assert "1: 1000; 2: 2000; 4: 4000" in page.source


def test_what_lacks_the_parameter_is_left_out_and_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path / "x/clients1.txt", summary(1000.0, clients=1))
    write(tmp_path / "x/disk.json", FIO)
    report(tmp_path, tmp_path / "x", "--over", "clients")
    assert "--over: left out runs without clients: x/disk" in capsys.readouterr().err


def test_a_parameter_that_no_run_has_is_refused_with_those_that_exist(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path / "x/a.txt", summary(1000.0))
    assert main(["report", str(tmp_path / "x"), "--over", "depth", "--output", str(tmp_path / "y")]) == 1
    assert "no run has such parameters; expected one or two of clients, duration" in capsys.readouterr().err
    assert main(["report", str(tmp_path / "x"), "--over", "client", "--output", str(tmp_path / "y")]) == 1
    assert "--over client: no run has such parameters; did you mean clients?\n" in capsys.readouterr().err
    assert main(["report", str(tmp_path / "x"), "--from-path", "{a}"]) == 2
    assert "--from-path requires --over" in capsys.readouterr().err
