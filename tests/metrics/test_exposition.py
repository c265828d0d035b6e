from collections.abc import Iterable, Iterator

from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from benchwatch.metrics.exposition import Exposition
from benchwatch.metrics.samples import Family, HistogramValue, Sample, SampleColumn, SummaryValue

TPS = Family("x_tps", "gauge", "Transactions per second\nof \\ a kind.", ("op",))
DONE = Family("x_done_total", "counter", "Done.", part="runs")
SECONDS = Family("x_seconds", "histogram", "Latency, seconds.", ("op",))
WAIT = Family("x_wait_seconds", "summary", "Waits, seconds.")
VDISK = Family("x_vdisk_bytes", "gauge", "Bytes.", ("vdisk",), part="nutanix")
INFO = Family("x_info", "gauge", "Always 1.", ("tool",), more_labels=True)


class Fixed:
    def __init__(
        self, samples: Iterable[Sample | SampleColumn], labels: tuple[tuple[str, str], ...] = (("run", "a"),)
    ) -> None:
        self.labels = labels
        self.version = 0
        self.given = list(samples)
        self.asked = 0

    def samples(self) -> list[Sample | SampleColumn]:
        self.asked += 1
        return self.given


def test_every_kind_of_sample_is_written_as_the_text_format_says() -> None:
    source = Fixed(
        [
            Sample(TPS, ("read",), 12.5),
            Sample(SECONDS, ("read",), HistogramValue(("0.5", "+Inf"), (3, 4), 2.25)),
            Sample(WAIT, (), SummaryValue(7, 0.5)),
            Sample(INFO, ("fio",), 1, (("vm", "p1"),)),
            Sample(TPS, ("write",), 3),
        ]
    )
    assert Exposition().render([source]) == (
        "# HELP x_tps Transactions per second\\nof \\\\ a kind.\n# TYPE x_tps gauge\n"
        'x_tps{run="a",op="read"} 12.5\nx_tps{run="a",op="write"} 3\n'
        "# HELP x_seconds Latency, seconds.\n# TYPE x_seconds histogram\n"
        'x_seconds_bucket{run="a",op="read",le="0.5"} 3\nx_seconds_bucket{run="a",op="read",le="+Inf"} 4\n'
        'x_seconds_sum{run="a",op="read"} 2.25\nx_seconds_count{run="a",op="read"} 4\n'
        "# HELP x_wait_seconds Waits, seconds.\n# TYPE x_wait_seconds summary\n"
        'x_wait_seconds_sum{run="a"} 0.5\nx_wait_seconds_count{run="a"} 7\n'
        "# HELP x_info Always 1.\n# TYPE x_info gauge\n"
        'x_info{run="a",tool="fio",vm="p1"} 1\n'
    )


def test_a_family_of_several_sources_has_one_header_and_parts_select() -> None:
    sources = [Fixed([Sample(TPS, ("read",), 1), Sample(DONE, (), n)], (("run", str(n)),)) for n in range(3)]
    page = Exposition()
    assert page.render(sources, ["live"]).count("# TYPE") == 1
    assert page.render(sources, ["runs"]).splitlines()[2:] == [f'x_done_total{{run="{n}"}} {n}' for n in range(3)]
    assert page.render(sources, ["nutanix"]) == ""


def test_text_is_kept_until_the_version_moves() -> None:
    source = Fixed([Sample(DONE, (), 1)])
    page = Exposition()
    first = page.render([source])
    source.given = [Sample(DONE, (), 2)]
    assert page.render([source]) == first
    assert source.asked == 1
    source.version = 1
    assert page.render([source]).endswith(" 2\n")
    assert page.render([]) == ""


def test_a_sample_that_goes_away_is_gone_from_the_page() -> None:
    source = Fixed([Sample(TPS, ("read",), 1), Sample(DONE, (), 1)])
    page = Exposition()
    page.render([source])
    source.given, source.version = [Sample(DONE, (), 1)], 1
    assert "x_tps" not in page.render([source])


def test_columns_are_written_as_their_samples_are_however_their_rows_change() -> None:
    def given(rows: list[tuple[str, float]], more: list[tuple[str, float]]) -> tuple[Fixed, Fixed]:
        columns = [
            SampleColumn(VDISK, [(row,) for row, _ in each], [number for _, number in each]) for each in (rows, more)
        ]
        samples = [Sample(VDISK, (row,), number) for each in (rows, more) for row, number in each]
        return Fixed([*columns, Sample(DONE, (), 1)]), Fixed([*samples, Sample(DONE, (), 1)])

    source, _ = given([], [])
    page = Exposition()
    first = [("1", 1.5), ("2", 2.0), ("3", 3)]
    for version, rows in enumerate([first, first[:2], [], first[1:], first]):
        columns, samples = given(rows, [(f"{row}w", 2 * number) for row, number in rows])
        source.given, source.version = columns.given, version + 1
        assert page.render([source]) == Exposition().render([samples])


def test_the_text_of_a_histogram_is_kept_as_long_as_it_is_the_same_object() -> None:
    counts = [3, 4]
    source = Fixed([Sample(SECONDS, ("read",), HistogramValue(("0.5", "+Inf"), counts, 2.25))])
    page = Exposition()
    first = page.render([source])
    counts[1], source.version = 5, 1
    assert page.render([source]) == first
    source.given, source.version = [Sample(SECONDS, ("read",), HistogramValue(("0.5", "+Inf"), counts, 2.25))], 2
    assert page.render([source]).endswith('x_seconds_count{run="a",op="read"} 5\n')


def test_a_source_without_labels_has_no_braces() -> None:
    text = Exposition().render([Fixed([Sample(DONE, (), 1), Sample(WAIT, (), SummaryValue(1, 2))], ())])
    assert "x_done_total 1\n" in text
    assert "x_wait_seconds_sum 2\nx_wait_seconds_count 1\n" in text


def test_numbers_are_written_as_prometheus_reads_them() -> None:
    values = [1, 2.0, 1e-9, 0.1, float("inf"), float("-inf"), float("nan"), 2**60]
    text = Exposition().render([Fixed([Sample(TPS, (str(n),), value) for n, value in enumerate(values)], ())])
    numbers = [line.split()[1] for line in text.splitlines()[2:]]
    assert numbers == ["1", "2.0", "1e-9", "0.1", "+Inf", "-Inf", "NaN", "1152921504606846976"]


@settings(max_examples=200)
@given(st.text(), st.floats(allow_nan=False))
def test_any_label_and_number_come_back_from_a_parser_of_the_format(label: str, value: float) -> None:
    text = Exposition().render([Fixed([Sample(TPS, (label,), value)])])
    (family,) = text_string_to_metric_families(text)
    expected = label.encode("utf-8", "replace").decode()
    assert [(sample.labels["op"], sample.value) for sample in family.samples] == [(expected, value)]


class Broken(Fixed):
    broken = True

    def samples(self) -> Iterator[Sample]:  # type: ignore[override]
        self.asked += 1
        yield from self.given
        if self.broken:
            raise OverflowError("Python int too large to convert to C long")


def test_a_source_that_cannot_be_rendered_loses_only_its_own_samples() -> None:
    good, bad = Fixed([Sample(DONE, (), 1)]), Broken([Sample(TPS, ("read",), 7)], (("run", "b"),))
    page = Exposition()
    text = page.render([bad, good, page])
    assert 'run="b"' not in text
    assert 'x_done_total{run="a"} 1\n' in text
    assert 'benchwatch_render_errors_total{of="samples"} 1\n' in text


def test_a_source_that_could_not_be_rendered_is_tried_again_when_it_changes_and_recovers() -> None:
    bad = Broken([Sample(TPS, ("read",), 7)])
    page = Exposition()
    for _ in range(3):
        page.render([bad])
    assert bad.asked == 1
    assert page.remark(bad) == "its samples are left out of /metrics: OverflowError; the log says more"
    bad.version = 1
    bad.broken = False
    assert page.render([bad]).endswith('x_tps{run="a",op="read"} 7\n')
    assert page.remark(bad) == ""
