"""Prints and draws the reads of the vdisk of role data since BEGIN (Unix time), as a Prometheus has them.

    vdisk_reads.py PROMETHEUS BEGIN EVERY PICTURE

A line of the table comes each EVERY seconds, a point of the picture each 10 s. Each number is the last one scraped by
then: the CVM's pages are read every 10 s, and so is the exporter, so it may be 20 s old. It needs Chromium.
"""

import math
import sys
import time
from pathlib import Path

import numpy as np
import requests

from benchwatch.plots.axes import RATIO, Axis, count
from benchwatch.plots.axes import time as in_words
from benchwatch.plots.plot import Drawing, Plot
from benchwatch.plots.section import Section, rendered
from benchwatch.plots.theme import SERIES
from benchwatch.report.page import document
from benchwatch.report.picture import photographed

_SECONDS_OF_A_PAGE = 10
_HEIGHT = 220
"""Of a plot, pixels."""
_FRONT_END = "nutanix_vdisk_frontend"
_SOURCE = "nutanix_vdisk_read_source_ratio"

Series = dict[float, float]
"""Values by seconds since the begin."""


class Reads:
    """What Prometheus knows of the vdisk of role data, by time."""

    def __init__(self, prometheus: str, begin: float, step: int) -> None:
        self._url = f"{prometheus}/api/v1/query_range"
        self._begin = begin
        self._times = {"start": begin, "end": time.time(), "step": step}
        self.cvm = self._by("cvm", f"{_FRONT_END}_ops_per_second{{op='read'}}")
        self.rates = self._by("op", f"{_FRONT_END}_ops_per_second")
        self.latency = self._by("op", f"{_FRONT_END}_latency_seconds{{op='read'}}").get("read", {})
        self.sources = {
            source: ratios for source, ratios in sorted(self._by("source", _SOURCE).items()) if any(ratios.values())
        }

    def _by(self, label: str, metric: str) -> dict[str, Series]:
        data = f"{metric} * on (cvm, vdisk) group_left () nutanix_vdisk_info{{role='data'}}"
        with requests.Session() as session:
            session.trust_env = False
            answer = session.get(self._url, params=self._times | {"query": f"max by ({label}) ({data})"}, timeout=30)
        answer.raise_for_status()
        return {
            series["metric"].get(label, ""): {at - self._begin: float(value) for at, value in series["values"]}
            for series in answer.json()["data"]["result"]
        }

    def times(self) -> list[float]:
        """Seconds since the begin at which there is a read rate."""
        return sorted(self.rates.get("read", {}))


def _table(reads: Reads, every: int) -> None:
    sources = "".join(f"{source:>20}" for source in reads.sources)
    print(f"{'time':>5}  {'CVM':<5} {'reads/s':>8} {'writes/s':>9} {'read latency':>13}{sources}")
    for at in reads.times():
        second = round(at)
        if second % every == 0:
            cvms = "+".join(cvm for cvm, values in sorted(reads.cvm.items()) if at in values)
            rates = f"{_cell(reads.rates['read'], at):>8} {_cell(reads.rates.get('write', {}), at):>9}"
            latency = _cell(reads.latency, at, "{:.2f} ms", 1000)
            parts = "".join(f"{_cell(ratios, at, '{:.0f} %', 100):>20}" for ratios in reads.sources.values())
            print(f"{second // 60:02d}:{second % 60:02d}  {cvms:<5} {rates} {latency:>13}{parts}")


def _cell(values: Series, at: float, form: str = "{:.0f}", factor: float = 1) -> str:
    return form.format(values[at] * factor) if at in values else "-"


def _draw(reads: Reads, picture: Path) -> None:
    length = max(reads.times())
    across = Axis("time since the scene began", in_words)
    latency = {"read": reads.latency}
    plots = [
        _plot("front-end operations a second", Axis("operations/s", count), reads.rates, across, length),
        _plot("read latency", Axis("read latency", in_words, ".4~s", "s"), latency, across, length),
        _plot("read source", RATIO, reads.sources, across, length),
    ]
    ready = [one._replace(height=_HEIGHT) for one in plots]
    html = document("reads of the vdisk of role data", "", rendered(Section("", ready)), "")
    picture.write_bytes(photographed(html, 1000, 4 * _HEIGHT))


def _plot(title: str, axis: Axis, lines: dict[str, Series], across: Axis, length: float) -> Plot:
    drawings = [
        Drawing(name, colour, np.array(list(values)), np.array(list(values.values())))
        for (name, values), colour in zip(lines.items(), SERIES, strict=False)
    ]
    return Plot(title, "", across, axis, drawings, title, length=length)


def main(prometheus: str, begin: str, every: str, picture: str) -> str | None:
    """What went wrong, in a sentence."""
    try:
        reads = Reads(prometheus, float(begin), math.gcd(int(every), _SECONDS_OF_A_PAGE))
    except requests.RequestException as error:
        return f"Prometheus did not answer: {error}"
    if not reads.times():
        return "Prometheus has seen no vdisk of role data"
    _table(reads, int(every))
    _draw(reads, Path(picture))
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
