"""fio's normal report, which people read, as a document without figures over time.

Only these lines count; white space in front of them does not. `name` is that of the job.

    fio-3.33
    name: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, ..., ioengine=psync, iodepth=1
    name: (groupid=0, jobs=1): err= 0: pid=18680: Fri Nov 20 09:58:24 2026
      read: IOPS=15.8k, BW=61.7MiB/s (64.7MB/s)(55.1MiB/894msec)             since 2.16
      read : io=4096.0MB, bw=82345KB/s, iops=20586, runt= 50936msec          before; KB is 1024 bytes
        clat (usec): min=39, max=4581, avg=53.74, stdev=40.32                also slat, lat, sync
        clat percentiles (usec):
         |  1.00th=[   42],  5.00th=[   43], ...
      fsync/fdatasync/sync_file_range:
         issued rwts: total=14125,14130,0,0 short=0,0,0,0 dropped=0,0,0,0    since 2.16
         issued    : total=r=9433/w=5950/d=0, short=r=0/w=0/d=0              before
         errors    : total=1, first_error=28/<No space left on device>
    Run status group 0 (all jobs):                                           after all jobs

I/Os are exact. Other numbers have the three or more digits that fio prints; bytes are the bandwidth x the runtime. The
date has no time zone: it is read as UTC.
"""

import json
import re
from calendar import timegm
from collections.abc import Iterator
from contextlib import suppress
from time import strptime
from typing import Any

_NUMBER = r"\s*(\d{1,16}(?:\.\d{1,9})?)([kKMGTP]?)"
_MOST_JOBS = 4096
"""Jobs of a report, after which another one begins."""
_MOST_KEYS = 64
"""Numbers of a job, or percentiles of a latency; fio prints fewer."""
_LONGEST = 4096
"""Characters of the longest line of a report."""
_HOST = r"(?:<[^>]*> )?"
_VERSION = re.compile(_HOST + r"(?:hostname=\S+, be=.*, fio=)?(fio-\d[^\s,]*)(?:, flags=.*)?$")
_OPTIONS = re.compile(_HOST + r"(.*): \(g=(\d{1,9})\): rw=(\w+), bs=([^=]*), ioengine=([^,\s]+), iodepth=(\d{1,9})")
_GROUPS = re.compile(_HOST + r"Run status group \d+")
_SIZES = re.compile(r"(\d{1,12}(?:\.\d{1,3})?)([KMG]?)i?B?-(\d{1,12}(?:\.\d{1,3})?)([KMG]?)i?B?")
_JOB = re.compile(
    _HOST + r"(.*): \(groupid=(\d{1,9}), jobs=\d+\): err= ?(\d{1,9})(?=[: ]).*?(?:: pid=(\d+)(?:: (.*))?)?$"
)
_DIRECTION = re.compile(r"(\w[\w ]{0,30}?) ?: (?:IOPS=|io=)")
_RATE = re.compile(r"(?i:\biops)=" + _NUMBER)
_BANDWIDTH = re.compile(r"\b(bw|BW)=" + _NUMBER + r"(i?)([Bb])")
_RUNTIME = re.compile(r"(?:/|\brunt=\s*)(\d{1,15})msec")
_SYNCS = re.compile(r"fsync/fdatasync/sync_file_range:")
_LATENCY = re.compile(rf"([sc]?lat|sync) \(([num])sec\)\s*: min={_NUMBER}\s*, max={_NUMBER}\s*, avg={_NUMBER}")
_PERCENTILES = re.compile(r"([sc]?lat|sync) percentiles \(([num])sec\):")
_PERCENTILE = re.compile(r"(\d{1,3}\.\d+)th=\[\s*(\d{1,16})\]")
_COUNTS = r"=([\drwd=/,]*?)"
_ISSUED = re.compile(rf"issued(?: rwts?)?\s*: total{_COUNTS},? short{_COUNTS}(?:,? drop(?:ped)?{_COUNTS})?$")
_ERRORS = re.compile(r"errors\s*: total=(\d{1,9}), first_error=(\d{1,9})/")
_ALL_CLIENTS = "All clients"

_UNITS = {"n": 1, "u": 1_000, "m": 1_000_000}
"""Nanoseconds."""
_POWERS = " KMGTP"


def _number(text: str, prefix: str, base: int = 1000) -> float:
    return float(text) * float(base ** _POWERS.index(prefix.upper() or " "))


class NormalReport:
    """Collects the lines of a report until it is complete."""

    def __init__(self) -> None:
        self.has_header = False
        """Whether a run of fio began after the last report."""
        self._version = ""
        self._options: dict[tuple[str, int], dict[str, str]] = {}
        self._jobs: list[dict[str, Any]] = []
        self._place: dict[str, Any] = {}
        """The direction to which the next latencies belong."""
        self._percentiles: tuple[dict[str, float], int] | None = None
        """Where the next percentiles belong, and their unit in nanoseconds."""
        self._date = 0

    @property
    def has_jobs(self) -> bool:
        """Whether a report has begun."""
        return bool(self._jobs)

    def ends(self, line: str) -> bool:
        """Whether this line follows the last line of a report."""
        if len(self._jobs) >= _MOST_JOBS:
            return True
        return bool(self._jobs) and any(one.match(line.strip()) for one in (_GROUPS, _VERSION, _OPTIONS))

    def read(self, line: str) -> bool:
        """Take a line; returns whether it belongs to a report."""
        if len(line) > _LONGEST:
            return False
        text = line.strip()
        if self._percentiles and text.startswith("|"):
            found, unit = self._percentiles
            if len(found) < _MOST_KEYS:
                found.update((f"{float(name):.6f}", int(value) * unit) for name, value in _PERCENTILE.findall(text))
            return True
        self._percentiles = None
        return self._job(text) or (bool(self._jobs) and self._of_job(text))

    def complete(self) -> bytes:
        """The jobs so far as JSON in the form of a document; empty without any."""
        jobs, self._jobs, self._place = self._jobs, [], {}
        if len(jobs) > 1:  # fio --client adds the sum of all hosts
            jobs = [job for job in jobs if job["jobname"] != _ALL_CLIENTS]
        for job in jobs:
            for place in job.values():
                if isinstance(place, dict) and "rate" in place:
                    place.setdefault("total_ios", round(place["rate"] * place["runtime"] / 1000))
        document = {"fio version": self._version, "timestamp": self._date, "jobs": jobs}
        return json.dumps(document).encode() if jobs else b""

    def _job(self, text: str) -> bool:
        """The lines about fio and its jobs."""
        if version := _VERSION.match(text):
            self._version, self.has_header = version[1], True
        elif options := _OPTIONS.match(text):
            name, group, mode, sizes, engine, depth = options.groups()
            if len(self._options) >= _MOST_JOBS:
                self._options.clear()
            bs = ",".join(dict.fromkeys(_block_sizes(sizes, mode)))
            self._options[name, int(group)] = {"rw": mode, "bs": bs, "ioengine": engine, "iodepth": depth}
            self.has_header = True
        elif job := _JOB.match(text):
            name, group, error, process, date = job.groups()
            options_of_job = self._options.get((name, int(group)), {})
            self._jobs.append(
                {
                    "jobname": name,
                    "groupid": int(group),
                    "error": int(error),
                    "pid": int(process or -1),
                    "job options": options_of_job,
                }
            )
            with suppress(ValueError, OverflowError):
                self._date = max(timegm(strptime(date or "", "%a %b %d %H:%M:%S %Y")), 0)
        else:
            return False
        return True

    def _of_job(self, text: str) -> bool:
        """The lines about the results of a job."""
        job = self._jobs[-1]
        if (direction := _DIRECTION.match(text)) and len(job) < _MOST_KEYS:
            rate, bandwidth, runtime = _RATE.search(text), _BANDWIDTH.search(text), _RUNTIME.search(text)
            length = int(runtime[1]) if runtime else 0
            self._place = job[direction[1].strip()] = {
                "runtime": length,
                "rate": _number(rate[1], rate[2]) if rate else 0.0,
                "io_bytes": round(_bytes(bandwidth) * length / 1000) if bandwidth else 0,
            }
        elif _SYNCS.match(text):
            self._place = job["sync"] = {}
        elif latency := _LATENCY.match(text):
            unit = _UNITS[latency[2]]
            _, _, _, _, most, most_prefix, mean, mean_prefix = latency.groups()
            self._latency(latency[1]).update(
                max=round(_number(most, most_prefix) * unit), mean=_number(mean, mean_prefix) * unit
            )
        elif percentiles := _PERCENTILES.match(text):
            found = self._latency(percentiles[1]).setdefault("percentile", {})
            self._percentiles = found, _UNITS[percentiles[2]]
        elif issued := _ISSUED.match(text):
            for key, numbers in zip(("total_ios", "short_ios", "drop_ios"), issued.groups(), strict=True):
                self._issued(job, key, numbers or "")
        elif errors := _ERRORS.match(text):
            job.update(total_err=int(errors[1]), first_error=int(errors[2]))
        else:
            return False
        return True

    def _latency(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self._place.setdefault("lat_ns" if name == "sync" else f"{name}_ns", {})
        return found

    @staticmethod
    def _issued(job: dict[str, Any], key: str, numbers: str) -> None:
        """The numbers of reads, writes, trims and syncs; fio counts mixed operations as reads."""
        counts = [int(number) for number in re.findall(r"\d{1,16}", numbers)]
        names = ("mixed" if "mixed" in job and "read" not in job else "read", "write", "trim", "sync")
        for name, count in zip(names, counts, strict=False):
            if name in job:
                job[name][key] = count
        if "sync" in job and "total_ios" in job["sync"]:
            job["sync"].setdefault("lat_ns", {})["N"] = job["sync"]["total_ios"]


def _bytes(bandwidth: re.Match[str]) -> float:
    """Bytes a second: `BW=` says whether its units are binary, the older `bw=` means binary ones."""
    form, number, prefix, binary, unit = bandwidth.groups()
    value = _number(number, prefix, 1024 if binary or form == "bw" else 1000)
    return value / 8 if unit == "b" else value


def _block_sizes(text: str, mode: str) -> Iterator[str]:
    """The block sizes of the operations that a job has, as in its bs=."""
    kinds = {"read": (0,), "write": (1,), "trim": (2,), "trimwrite": (1, 2)}.get(mode.removeprefix("rand"), (0, 1))
    sizes = _SIZES.findall(text)
    for low, low_prefix, high, high_prefix in (sizes[kind] for kind in kinds if kind < len(sizes)):
        both = dict.fromkeys((_size(_number(low, low_prefix, 1024)), _size(_number(high, high_prefix, 1024))))
        yield "-".join(both)


def _size(number: float) -> str:
    for prefix, unit in (("m", 1 << 20), ("k", 1 << 10)):
        if number and number % unit == 0:
            return f"{number / unit:.0f}{prefix}"
    return f"{number:.0f}"
