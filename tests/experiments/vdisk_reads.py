"""Prints and draws the reads of the vdisk of role data since BEGIN (Unix time), as a Prometheus has them.

    vdisk_reads.py PROMETHEUS BEGIN EVERY PICTURE

A line of the table comes each EVERY seconds, a point of the picture each 10 s. Each number is the last one scraped by
then: the CVM's pages are read every 10 s, and so is the exporter, so it may be 20 s old. It needs matplotlib.
"""

import math
import sys
import time

import matplotlib.pyplot as plt
import requests
from matplotlib.ticker import MaxNLocator

_SECONDS_OF_A_PAGE = 10
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


def _draw(reads: Reads, picture: str) -> None:
    figure, (rates, latency, sources) = plt.subplots(3, sharex=True, figsize=(9, 7), layout="constrained")
    for op, values in reads.rates.items():
        rates.plot(list(values), list(values.values()), label=op)
    rates.set(ylabel="front-end operations/s", ylim=(0, None))
    latency.plot(list(reads.latency), [value * 1000 for value in reads.latency.values()])
    latency.set(ylabel="read latency, ms", ylim=(0, None))
    for source, values in reads.sources.items():
        sources.plot(list(values), [value * 100 for value in values.values()], label=source)
    sources.set(ylabel="read source, %", ylim=(0, 100), xlabel="seconds since the scene began", xlim=(0, None))
    sources.xaxis.set_major_locator(MaxNLocator(steps=[3, 6]))
    for axes in (rates, sources):
        axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    figure.savefig(picture, dpi=110)


def main(prometheus: str, begin: str, every: str, picture: str) -> str | None:
    """What went wrong, in a sentence."""
    try:
        reads = Reads(prometheus, float(begin), math.gcd(int(every), _SECONDS_OF_A_PAGE))
    except requests.RequestException as error:
        return f"Prometheus did not answer: {error}"
    if not reads.times():
        return "Prometheus has seen no vdisk of role data"
    _table(reads, int(every))
    _draw(reads, picture)
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
