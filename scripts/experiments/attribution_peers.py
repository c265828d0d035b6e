"""How two other methods rank the layers of the rounds, from all series that were recorded but the benchmark's own.

Reads rounds from the file that is named, a JSON object a line, and prints a line for each: {"name", "ks", "baro"}. Each
method is told when the fault was, and ranks series; the layer of the first is its answer. Neither can answer "none".

ks: Netdata's metric correlations. The changes from second to second of a series within the window are compared with
those of the four windows before, by the two-sample test of Kolmogorov and Smirnov; the least probable comes first. Of
equal probability, the greater distance does.
baro: RobustScorer of fse-baro, the package of BARO's authors: how far a series gets from its former median, by its
former interquartile range.
"""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy
import pandas
from baro.root_cause_analysis import robust_scorer
from scipy.stats import ks_2samp

_LAYERS = {
    r"node_disk_.*device=\"(sdb|bench_log)\"|^await.*device=\"(sdb|bench_log)\"": "log_device",
    r"node_disk_.*device=\"(sdc|bench_data)\"|^await.*device=\"(sdc|bench_data)\"": "data_device",
    r"^path": "path",
    r"node_cpu.*host=\"[^\"]*-client\"": "client_cpu",
    r"node_(cpu|schedstat|load|pressure_cpu|procs|context)": "server_cpu",
    r"node_(memory|vmstat|pressure_memory)": "memory",
    r"node_(network|netstat|sockstat)": "network",
    r"^pg_": "database",
    r"nutanix_stargate_queue": "cvm_queue",
    r"nutanix_(vdisk_oplog|oplog|vdisk_write_destination)": "oplog",
    r"nutanix_(vdisk_read_source|content_cache)": "read_source",
    r"nutanix_vdisk_(backend|busy|queue_length|outstanding|random_ops)": "backend",
    r"nutanix_vdisk_(frontend|size_window|random|sequential)": "frontend",
}
"""The layer of a series by what it is called. What matches none is a layer of its own."""
_COUNTER = re.compile(r"(_total|_RetransSegs|_pswpin|_pswpout)\{")
_OWN = re.compile(r"^(pgbench|benchwatch|process|up|scrape)_?")
_DECIMALS = 5


def layer(series: str) -> str:
    """The layer that a series is about."""
    return next((name for pattern, name in _LAYERS.items() if re.search(pattern, series)), "other")


def figures(recorded: Mapping[str, Sequence[float | None]]) -> pandas.DataFrame:
    """The series as they are graphed: counters by second; and each disk's time an operation."""
    frame = pandas.DataFrame(recorded, dtype=float)
    frame = frame[[name for name in frame if not _OWN.match(name) and "timestamp" not in name and "info{" not in name]]
    counters = [name for name in frame if _COUNTER.search(name)]
    frame[counters] = frame[counters].diff()
    awaits = {}
    for name in frame:
        found = re.match(r"node_disk_(read|write)_time_seconds_total(.*)", name)
        if found:
            done = frame[f"node_disk_{found[1]}s_completed_total{found[2]}"]
            awaits[f'await{found[2][:-1]},op="{found[1]}"}}'] = frame[name] / done.where(done > 0)
    paths = {}
    for name, values in awaits.items():
        for device, vdisk in (("sdb", "40043"), ("sdc", "45269")):
            op = name.split('op="')[1].split('"')[0]
            front = [one for one in frame if one.startswith("nutanix_vdisk_frontend_latency_seconds{")]
            front = [one for one in front if f'vdisk="{vdisk}"' in one and f'op="{op}"' in one]
            if f'device="{device}"' in name and front:
                paths[f'path{{device="{device}",op="{op}"}}'] = values - frame[front[0]]
    return pandas.concat([frame, pandas.DataFrame({**awaits, **paths})], axis=1).ffill().fillna(0)


def by_ks(frame: pandas.DataFrame, begin: int, end: int) -> str:
    """The series that changed its ways most."""
    length = end - begin
    ranks = []
    for name in frame:
        changes = numpy.round(numpy.diff(frame[name].to_numpy()), _DECIMALS)
        found = ks_2samp(changes[max(0, begin - 4 * length) : begin - 1], changes[begin - 1 : end - 1], method="asymp")
        ranks.append((found.pvalue, -found.statistic, name))
    return str(min(ranks)[2])


def by_baro(frame: pandas.DataFrame, begin: int, end: int) -> str:
    """The series that left its usual range furthest."""
    length = end - begin
    window = frame.iloc[max(0, begin - 4 * length) : end].copy()
    window.insert(0, "time", range(len(window)))
    window.columns = ["time", *(f"s{number}" for number in range(frame.shape[1]))]
    ranks = robust_scorer(window, inject_time=len(window) - length)["ranks"]
    return str(frame.columns[int(ranks[0][1:])])


def main() -> None:
    """Ranks the rounds of the file."""
    for line in Path(sys.argv[1]).read_text().splitlines():
        recorded = json.loads(line)
        frame = figures(recorded["series"])
        answers = {
            method.__name__[3:]: method(frame, recorded["begin"], recorded["end"]) for method in (by_ks, by_baro)
        }
        print(
            json.dumps(
                {"name": recorded["name"], **{key: layer(name) for key, name in answers.items()}, "series": answers}
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
