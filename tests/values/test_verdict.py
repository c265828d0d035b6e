import math

import pytest

from benchwatch.values.verdict import Evidence, answered

Sample = tuple[dict[str, str], float]


def sample(series: str, value: float, layer: str = "", which: str = "", role: str = "", host: str = "db") -> Sample:
    labels = {"run": "r", "host": host, "series": series, "layer": layer, "which": which, "role": role}
    return {name: text for name, text in labels.items() if text}, value


def evidence(*samples: Sample) -> Evidence:
    (found,) = answered([sample("slow", 1), *samples]).values()
    return found


LOG = (
    sample("slowness", 60, "log_device", "sdb", "log"),
    sample("times", 913, "log_device", "sdb", "log"),  # of a usual below what can matter
    sample("latency", 0.042, "log_device", "sdb"),
    sample("slowness", 1.4, "data_device", "sdc", "data"),
    sample("latency", 0.002, "data_device", "sdc"),
)
VDISKS = (
    sample("slowness", 1.1, "frontend", "40043", "log"),
    sample("slowness", 2.9, "frontend", "45269", "data"),
)


@pytest.mark.parametrize(
    ("samples", "said"),
    [
        (
            (*LOG, *VDISKS, sample("rank", 4, "path")),
            "log device sdb 42 ms, 913x its usual; vdisk 40043 as usual: guest or network path.",
        ),
        ((*LOG, *VDISKS, sample("rank", 10.02, "log_device")), "log device sdb 42 ms, 913x its usual."),
        (
            (
                *LOG,
                sample("slowness", 3, "frontend", "40043", "log"),
                sample("times", 4.2, "frontend", "40043", "log"),
                sample("rank", 7, "cvm_queue"),
            ),
            "log device sdb 42 ms, 913x its usual; vdisk 40043 4x its usual: CVM queue.",
        ),
        (
            (sample("slowness", 60, "log_device", "sdb", "log"), sample("rank", 10.02, "log_device")),
            "log device sdb.",
        ),
        ((*LOG, sample("rank", 9, "frontend")), "log device sdb 42 ms, 913x its usual: front end."),
        (
            (
                *VDISKS,
                sample("slowness", 30, "backend", "40043", "log"),
                sample("times", 30, "backend", "40043", "log"),
                sample("rank", 8, "backend"),
            ),
            "back end: 40043 30x its usual.",
        ),
        (
            (
                *LOG,
                sample("slowness", 12, "client_cpu", "run_queue", host="load"),
                sample("rank", 1, "client_cpu", host="load"),
                sample("rank", 10.02, "log_device"),
            ),
            "client CPU: run_queue.",
        ),
        (LOG, "No layer stands out."),
        ((), "No layer can be judged: nothing is measured below the benchmark, or not for long enough."),
        (
            (sample("slowness", math.nan, "log_device", "sdb", "log"),),
            "No layer can be judged: nothing is measured below the benchmark, or not for long enough.",
        ),
    ],
)
def test_the_verdict_is_one_sentence(samples: tuple[Sample, ...], said: str) -> None:
    assert evidence(*samples).sentence() == said


def test_what_moved_most_is_the_worst_signal_of_each_of_three_layers() -> None:
    found = evidence(
        *LOG,
        sample("slowness", 40, "log_device", "sdx", "log"),
        sample("slowness", 1.6, "memory", "swap"),
        sample("slowness", 5, "database", "lock"),
        sample("times", 5, "database", "lock"),
        sample("slowness", 1.7, "client_cpu", "busy", host="load"),
    )
    assert found.moved_most() == ["log device sdb 913x", "database lock 5x", "client CPU busy"]
    assert evidence(sample("slowness", 1.5, "memory", "swap")).moved_most() == []


def test_a_run_that_is_not_slow_has_no_evidence() -> None:
    assert answered([]) == {}
