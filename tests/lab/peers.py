"""How two other methods rank the layers of the rounds, from all series that were recorded but the benchmark's own.

Reads rounds from the file that is named, a JSON object a line, and prints {"ks", "baro"} for each. Each method is told
when the fault was, and ranks series; the layer of the first is its answer. Neither can answer "none".
Both methods: Netdata's metric correlations, and BARO (docs/attribution.md).
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
    r"(node_disk_.*|^await.*)device=\"(sdb|bench_log)\"": "log_device",
    r"(node_disk_.*|^await.*)device=\"(sdc|bench_data)\"": "data_device",
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
"""The layer of a series by its name; "other" if none matches."""
_COUNTER = re.compile(r"(_total|_RetransSegs|_pswpin|_pswpout)\{")
_OWN = re.compile(r"^(pgbench|benchwatch|process|up|scrape)_?|timestamp|info\{")


def figures(recorded: Mapping[str, Sequence[float | None]]) -> pandas.DataFrame:
    """The series as they are graphed: counters by second; and each disk's time per operation, and of its path."""
    frame = pandas.DataFrame({name: one for name, one in recorded.items() if not _OWN.search(name)}, dtype=float)
    counters = [name for name in frame if _COUNTER.search(name)]
    frame[counters] = frame[counters].diff()
    more = {}
    for name in frame:
        if not (found := re.match(r"node_disk_(read|write)_time_seconds_total(.*)", name)):
            continue
        op, labels = found.groups()
        done = frame[f"node_disk_{op}s_completed_total{labels}"]
        more[f'await{labels[:-1]},op="{op}"}}'] = spent = frame[name] / done.where(done > 0)
        for device, vdisk in (("sdb", "40043"), ("sdc", "45269")):
            front = [one for one in frame if one.startswith("nutanix_vdisk_frontend_latency_seconds{")]
            front = [one for one in front if f'vdisk="{vdisk}"' in one and f'op="{op}"' in one]
            if f'device="{device}"' in name and front:
                more[f'path{{device="{device}",op="{op}"}}'] = spent - frame[front[0]]
    return pandas.concat([frame, pandas.DataFrame(more)], axis=1).ffill().fillna(0)


def by_ks(frame: pandas.DataFrame, begin: int, end: int) -> str:
    """The series that changed its ways most."""
    ranks = []
    for name in frame:
        changes = numpy.round(numpy.diff(frame[name].to_numpy()), 5)
        before = changes[max(0, begin - 4 * (end - begin)) : begin - 1]
        found = ks_2samp(before, changes[begin - 1 : end - 1], method="asymp")
        ranks.append((found.pvalue, -found.statistic, name))
    return str(min(ranks)[2])


def by_baro(frame: pandas.DataFrame, begin: int, end: int) -> str:
    """The series that left its usual range furthest."""
    window = frame.iloc[max(0, begin - 4 * (end - begin)) : end].copy()
    window.insert(0, "time", range(len(window)))
    window.columns = ["time", *(f"s{number}" for number in range(frame.shape[1]))]
    ranks = robust_scorer(window, inject_time=len(window) - (end - begin))["ranks"]
    return str(frame.columns[int(ranks[0][1:])])


for line in Path(sys.argv[1]).read_text().splitlines():
    recorded = json.loads(line)
    frame = figures(recorded["series"])
    first = {method.__name__[3:]: method(frame, recorded["begin"], recorded["end"]) for method in (by_ks, by_baro)}
    layers = {
        method: next((layer for pattern, layer in _LAYERS.items() if re.search(pattern, name)), "other")
        for method, name in first.items()
    }
    print(json.dumps(layers), flush=True)
