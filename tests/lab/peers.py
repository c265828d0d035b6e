"""What two other methods name in recorded rounds of tests/lab/real: Netdata's metric correlations, and BARO.

    python -m venv peers && peers/bin/pip install fse-baro
    peers/bin/python tests/lab/peers.py faults.json

Each is told when the fault was, and ranks all series but the benchmark's own; the layer of the first is its answer.
Neither can answer "none". In Netdata's method, that is the series whose changes differ most from those of four times
as long before (Kolmogorov-Smirnov); in BARO's, the one that left its usual range furthest.
"""

import json
import re
import sys
from pathlib import Path

import pandas
from baro.root_cause_analysis import robust_scorer
from scipy.stats import ks_2samp

_LAYERS = {
    r'^up\{.*host="db1"': "server",
    r'node_disk_.*device="bench_log"': "log_device",
    r'node_disk_.*device="bench_data"': "data_device",
    r"^node_(network|netstat|sockstat)": "network",
    r"^node_(memory|vmstat|pressure_memory)": "memory",
    r'^(node_(cpu|pressure_cpu|procs|schedstat|load|context)|benchwatch_process_).*host="client1"': "client_cpu",
    r"^(node_(cpu|pressure_cpu|procs|schedstat|load|context)|benchwatch_process_)": "server_cpu",
    r"^pg_": "database",
}
"""The layer of a series by its name."""
_COUNTER = re.compile(r"(_total|_RetransSegs|_pswpin|_pswpout)\{")
_OWN = re.compile(r"^(pgbench|process|scrape|go)_|^benchwatch_(?!process_)|timestamp|info\{")


def figures(recorded: dict[str, list[float | None]]) -> pandas.DataFrame:
    """The series as they are graphed: counters by second; and each disk's time per operation."""
    frame = pandas.DataFrame({name: one for name, one in recorded.items() if not _OWN.search(name)}, dtype=float)
    counters = [name for name in frame if _COUNTER.search(name)]
    frame[counters] = frame[counters].diff()
    for name in frame.filter(regex="^node_disk_(read|write)_time_seconds_total"):
        done = frame[name.replace("_time_seconds_total", "s_completed_total")]
        frame[name.replace("_time_seconds_total", "_await")] = frame[name] / done.where(done > 0)
    return frame.ffill().fillna(0)


def ks(frame: pandas.DataFrame, before: int, begin: int, end: int) -> str:
    """The series that changed its ways most."""
    changes = frame.diff().round(5)
    ranks = []
    for name in frame:
        found = ks_2samp(changes[name][before + 1 : begin], changes[name][begin:end], method="asymp")
        ranks.append((found.pvalue, -found.statistic, name))
    return str(min(ranks)[2])


def baro(frame: pandas.DataFrame, before: int, begin: int, end: int) -> str:
    """The series that left its usual range furthest."""
    window = frame[before:end].set_axis([f"s{number}" for number in range(frame.shape[1])], axis=1)
    window.insert(0, "time", range(len(window)))
    ranks = robust_scorer(window, inject_time=begin - before)["ranks"]
    return str(frame.columns[int(ranks[0][1:])])


def main(path: str) -> None:
    """Print what each names in each round, and how often that is right."""
    content = json.loads(Path(path).read_text())
    frame, first = figures(content["series"]), content["first"]
    faults = [one for one in content["rounds"] if one["expected"] != "none"]
    right = {ks: 0, baro: 0}
    for one in faults:
        begin, end = int(one["begin"]) - first, int(one["end"]) - first
        length = max(10, min(30, end - begin))
        for method in right:
            name = method(frame, max(0, begin - 4 * length), begin, begin + length)
            layer = next((layer for pattern, layer in _LAYERS.items() if re.search(pattern, name)), "other")
            right[method] += layer == one["expected"]
            print(f"{one['fault']}: {method.__name__}: {layer} ({name})")
    print(f"of {len(faults)} faults right: Kolmogorov-Smirnov {right[ks]}, BARO {right[baro]}")


if __name__ == "__main__":
    main(sys.argv[1])
