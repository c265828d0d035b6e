"""Prints docs/limits.md: the bounds that somebody may reach, with the values that they have in the code."""

from collections.abc import Iterator

from benchwatch.history import replayed_run
from benchwatch.launch import delivery, preparation, push, sinks
from benchwatch.metrics.limits import Limits
from benchwatch.nutanix import poller
from benchwatch.runs import append, watcher
from benchwatch.server import command, comparisons, ingest, listen, looks, past_runs, run_plots
from benchwatch.settings.cvm_settings import LARGEST_PAGE, NutanixSettings
from benchwatch.settings.settings import PushSettings, RunsSettings
from benchwatch.tools import lines
from benchwatch.tools.fio import framing, jobs
from benchwatch.tools.pgbench import summary, transactions
from benchwatch.values import yaml
from benchwatch.watch import sources

_KIB, _MIB = 1024, 1024**2
_SERIES, _PUSH, _CVM = Limits(), PushSettings(), NutanixSettings()
_YAML = (yaml.RECORD, yaml.CONFIGURATION)

Row = tuple[str, int | str, str]
"""A bound, its value (int: printed with separators), and what happens beyond it."""
Section = tuple[str, str, tuple[Row, ...]]
"""Title, what the reader must know, the bounds."""


def _kib(size: int) -> str:
    return f"{size // _KIB} KiB" if size % _MIB else f"{size // _MIB} MiB"


def _seconds(value: float) -> str:
    return f"{value:g} s"


def _yaml(name: str) -> str:
    values = [getattr(each, name) for each in _YAML]
    return "; ".join(_kib(value) if name == "size" else f"{value:,}" for value in values)


def _sections() -> tuple[Section, ...]:
    return (
        (
            "Configuration files and records",
            "Two values: records (`run.yaml`, `<worker>.yaml`, pushed or not); configuration, web "
            "configuration, mapping. `serve` does not start with such a configuration; a pushed record gets "
            "400; the log names a record in a folder, whose earlier values stay "
            '(`benchwatch_watch_errors_total{reason="run_yaml"}`).',
            (
                ("size", _yaml("size"), "refused"),
                ("keys and values", _yaml("values"), "refused"),
                ("lists and mappings nested in each other", _yaml("depth"), "refused"),
                ("`start`, `end`", "2001 to 2286, Unix seconds", "refused"),
                ("durations, `cpu_seconds`", "0 to 10^9 s; `runs.poll_interval` 10 ms to 1 h", "refused"),
                ("`host`, `client`, `vm`", "255 characters", "refused"),
            ),
        ),
        (
            "Series",
            "Keys of `runs.limits` in the [configuration](configuration.md), for `/metrics` and `benchwatch "
            "metrics`. The log and the landing page name what is left out; `benchwatch_label_values_cut_total`, "
            "`benchwatch_series`, `benchwatch_series_left_out`, `benchwatch_workers_left_out` and "
            "`benchwatch_active_workers_left_out` count it, and [WorkersLeftOut](alerts.md#workersleftout) "
            "fires. Above 250,000 series, raise `sample_limit` in the Prometheus configuration too "
            "([ScrapeRefused](alerts.md#scraperefused)).",
            (
                ("`value_length`", f"{_SERIES.value_length:,} (at least 256)", "cut; ends in a checksum of the whole"),
                ("`series`", _SERIES.series, "whole workers: ended ones first, then CVMs, then active ones"),
            ),
        ),
        (
            "Connections",
            "`benchwatch_connections`, `benchwatch_requests_refused_total`. Slow requests have no bound"
            " here; [deploy/Caddyfile](../deploy/Caddyfile) is a proxy that has.",
            (
                ("file descriptors", f"{command._DESCRIPTORS:,}, at most the hard limit", "connections wait"),
                ("silence between two requests", _seconds(listen.IDLE), "closed"),
            ),
        ),
        (
            "Pushes",
            "Keys of `push:` in the [configuration](configuration.md). What was written before stays. "
            "`benchwatch_push_requests_total`, `benchwatch_push_active`, `benchwatch_push_bytes_total`.",
            (
                ("`max_push_bytes`", _PUSH.max_push_bytes, "413"),
                ("`max_folder_bytes`", _PUSH.max_folder_bytes, "507"),
                ("`keep_free_bytes`", _PUSH.keep_free_bytes, "507"),
                ("pushes at a time", f"{command._MOST_PUSHES}, at most a quarter of the descriptors", "429"),
                ("pieces and records at a time", "a quarter of that", "429"),
                ("a piece, or a record, in time", _seconds(ingest._BODY_SECONDS), "408"),
                ("a piece", _kib(append.LARGEST_PIECE), "413"),
                ("a pushed record", _kib(ingest._LARGEST_RECORD), "413"),
                (
                    "chunks of a push (as read from the network) that wait for the disk",
                    ingest._BEHIND,
                    "the client must wait",
                ),
                ("names in URLs", "128 characters", "400"),
            ),
        ),
        (
            "Files",
            "",
            (
                ("`keep`", RunsSettings().keep, "older finished runs leave memory until their files change"),
                ("checks of runs that left memory", f"{watcher._UNLOADED_A_SECOND} a second", "they take turns"),
                (
                    "read at a time",
                    f"{_kib(watcher.CHUNK)} of a file, {_kib(watcher.BUDGET)} a round",
                    "the rest in the next round",
                ),
            ),
        ),
        (
            "pgbench",
            '`benchwatch_stream_errors_total{tool="pgbench", reason}`.',
            (
                ("a line", _kib(lines.LIMIT), "left out, `line_too_long`"),
                ("scripts in the log", transactions.MOST_SCRIPTS, "left out, `log_line`"),
                ("a statement in a label (`-r`)", f"{summary.STATEMENT_LENGTH} characters", "cut"),
            ),
        ),
        (
            "fio",
            '`benchwatch_stream_errors_total{tool="fio", reason}`.',
            (
                ("a document", _kib(framing.DOCUMENT_LIMIT), "left out, `document_too_long`"),
                ("a line of text, or a string", _kib(framing.LINE_LIMIT), "cut"),
                ("jobs with a name of their own", jobs.MOST_JOBS, "added up as `(other jobs)`"),
                ("options as parameters", jobs.MOST_OPTIONS, "left out"),
            ),
        ),
        (
            "Pages of a CVM",
            "`nutanix_cvm_page_errors_total`, `nutanix_cvm_unrecognised_rows_total`. What is beyond is "
            "left out and counted, unless stated.",
            (
                ("`connect_timeout`", _seconds(_CVM.connect_timeout), "the poll fails"),
                ("`deadline`", _seconds(_CVM.deadline), "the page fails"),
                ("`max_page_bytes`", f"{_CVM.max_page_bytes:,} (at most {LARGEST_PAGE:,})", "the page fails"),
                ("`max_vdisks`", _CVM.max_vdisks, ""),
                ("`max_detail_pages`", _CVM.vdisks.max_detail_pages, "not read in this poll"),
                ("age of numbers", f"{poller.KEEP_INTERVALS} intervals", "they disappear; `nutanix_cvm_up` is 0"),
            ),
        ),
        (
            "Commands",
            "A message says what was not written, asked or delivered.",
            (
                ("`run`: output that waits for a file, terminal or pipe", _kib(sinks._WAITING), "not written there"),
                ("`run`: a question to server or machine", _seconds(preparation._PATIENCE), "the record lacks it"),
                ("`run --push`: the rest at the end", _seconds(delivery._LAST_PATIENCE), "local files have it"),
                ("`push --follow`: the rest after SIGTERM", _seconds(push._PATIENCE), "the same"),
                ("`watch`: a page", _kib(sources._LARGEST), "an error message"),
            ),
        ),
        (
            "Pages of runs",
            "",
            (
                ("runs followed for their readers", looks._MOST, "the page says so, without plots"),
                ("reports of a worker", replayed_run.MOST_REPORTS, "the page says so, without plots"),
                ("time from the last request until a run leaves memory", _seconds(looks.KEPT), "read again"),
                ("pause after drawing plots", f"{looks._SHARE} times the drawing, times the runs", "drawn less often"),
                (
                    "a comparison",
                    f"{comparisons.MOST_SIDES} sides, {comparisons.MOST_RUNS} runs, {comparisons.MOST_BYTES >> 30} GiB",
                    "use `benchwatch compare`",
                ),
                (
                    "older runs in the overview",
                    f"{past_runs.MOST_RUNS}, each up to {past_runs.MOST_BYTES >> 20} MiB",
                    "without figures",
                ),
                ("comparisons that wait", comparisons._MOST_WAITING, "the page tries again"),
                ("an answer of `--prometheus.url`", _seconds(run_plots.PATIENCE), "the page says so"),
            ),
        ),
    )


def markdown() -> str:
    """The page of all bounds, as Markdown."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "# Limits"
    yield ""
    yield "Generated from the code by `scripts/document-metrics`. The defaults are far above what a benchmark reaches."
    yield "Bounds without a key are fixed. Numbers and names that no tool or CVM has are left out and counted. A part"
    yield "that cannot be rendered loses only its own samples (`benchwatch_render_errors_total`)."
    for title, text, rows in _sections():
        yield from ("", f"## {title}", "")
        if text:
            yield from (text, "")
        yield from ("|bound|default|beyond|", "|---|---|---|")
        for bound, value, beyond in rows:
            yield f"|{bound}|{f'{value:,}' if isinstance(value, int) else value}|{beyond}|"


if __name__ == "__main__":
    print(markdown(), end="")
