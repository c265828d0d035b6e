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
from collections import defaultdict
from collections.abc import Iterator, Set
from contextlib import suppress
from time import strptime
from typing import Any

_NUMBER = r"\s*(\d{1,16}(?:\.\d{1,9})?)([kKMGTP]?)"
_MOST_JOBS = 4096
"""Jobs of a report, after which another one begins."""
_MOST_LINES = 1000
"""Lines about a job; fio prints fewer."""
_LONGEST = 4096
"""Characters of the longest line of a report."""
_HOST = r"(?:<[^>]*> )?"
_VERSION = re.compile(_HOST + r"(?:hostname=\S+, be=.*, fio=)?(fio-\d[^\s,]*)(?:, flags=.*)?$")
_OPTIONS = re.compile(_HOST + r"(.*): \(g=(\d{1,9})\): rw=(\w+), bs=([^=]*), ioengine=([^,\s]+), iodepth=(\d{1,9})")
_GROUPS = re.compile(_HOST + r"Run status group \d+")
_SIZES = re.compile(r"(\d{1,12}(?:\.\d{1,3})?)([KMG]?)i?B?-(\d{1,12}(?:\.\d{1,3})?)([KMG]?)i?B?")
_JOB = re.compile(
    _HOST + r"(.*): \(groupid=(\d{1,9}), jobs=\d+\): err= ?(\d{1,9})(?=[: ]).*?(?:: pid=(\d+)(?:: (.*))?)?$", re.M
)
_DIRECTION = re.compile(r"^(\w[\w ]{0,30}?(?= ?: (?:IOPS|io)=)|fsync/fdatasync/sync_file_range:)", re.M)
_RATE = re.compile(r"(?i:\biops)=" + _NUMBER)
_BANDWIDTH = re.compile(r"\b(bw|BW)=" + _NUMBER + r"(i?)([Bb])")
_RUNTIME = re.compile(r"(?:/|\brunt=\s*)(\d{1,15})msec")
_LATENCY = re.compile(rf"^([sc]?lat|sync) \(([num])sec\)\s*: min={_NUMBER}\s*, max={_NUMBER}\s*, avg={_NUMBER}", re.M)
_PERCENTILES = re.compile(r"^([sc]?lat|sync) percentiles \(([num])sec\):((?:\n\|.*)*)", re.M)
_PERCENTILE = re.compile(r"(\d{1,3}\.\d+)th=\[\s*(\d{1,16})\]")
_COUNTS = r"=([\drwd=/,]*?)"
_ISSUED = re.compile(rf"^issued(?: rwts?)?\s*: total{_COUNTS},? short{_COUNTS}(?:,? drop(?:ped)?{_COUNTS})?$", re.M)
_ERRORS = re.compile(r"^errors\s*: total=(\d{1,9}), first_error=(\d{1,9})/", re.M)
_ALL_CLIENTS = "All clients"

_UNITS = {"n": 1, "u": 1_000, "m": 1_000_000}
"""Nanoseconds."""
_POWERS = " KMGTP"
_NAMES = {"lat": "lat_ns", "slat": "slat_ns", "clat": "clat_ns", "sync": "lat_ns"}


class NormalReport:
    """Collects the lines of a report until it is complete."""

    def __init__(self) -> None:
        self.has_header = False
        """Whether a run of fio began after the last report."""
        self._version = ""
        self._options: dict[tuple[str, int], dict[str, str]] = {}
        self._jobs: list[list[str]] = []
        """The lines about each job."""

    @property
    def has_jobs(self) -> bool:
        """Whether a report has begun."""
        return bool(self._jobs)

    def ends(self, line: str) -> bool:
        """Whether this line follows the last line of a report."""
        if len(self._jobs) >= _MOST_JOBS:
            return True
        return bool(self._jobs) and any(one.match(line.strip()) for one in (_GROUPS, _VERSION, _OPTIONS))

    def read(self, line: str) -> None:
        """Take a line, if it may belong to a report."""
        text = line.strip()
        if len(text) > _LONGEST:
            return
        if version := _VERSION.match(text):
            self._version, self.has_header = version[1], True
        elif options := _OPTIONS.match(text):
            name, group, mode, sizes, engine, depth = options.groups()
            if len(self._options) >= _MOST_JOBS:
                self._options.clear()
            bs = ",".join(dict.fromkeys(_block_sizes(sizes, mode)))
            self._options[name, int(group)] = {"rw": mode, "bs": bs, "ioengine": engine, "iodepth": depth}
            self.has_header = True
        elif _JOB.match(text):
            self._jobs.append([text])
        elif self._jobs and len(self._jobs[-1]) < _MOST_LINES:
            self._jobs[-1].append(text)

    def complete(self) -> bytes:
        """The jobs so far as JSON in the form of a document; empty without any."""
        if not self._jobs:
            return b""
        texts, self._jobs = ["\n".join(lines) for lines in self._jobs], []
        jobs, date = [_job(text) for text in texts], 0
        for text in texts:
            with suppress(ValueError, OverflowError):
                date = max(timegm(strptime(_JOB.findall(text)[0][-1], "%a %b %d %H:%M:%S %Y")), 0)
        if len(jobs) > 1:  # fio --client adds the sum of all hosts
            jobs = [job for job in jobs if job["jobname"] != _ALL_CLIENTS]
        modes = self._modes({(job["jobname"], job["groupid"]) for job in jobs})
        for job in jobs:
            key = job["jobname"], job["groupid"]
            job["job options"] = {**self._options[key], "rw": modes[key]} if key in self._options else {}
        document = {"fio version": self._version, "timestamp": date, "jobs": jobs, "of report": True}
        return json.dumps(document).encode()

    def _modes(self, reported: Set[tuple[str, int]]) -> dict[tuple[str, int], str]:
        """The rw= of each reported job, as if it read too if group_reporting added a job that reads to it."""
        modes: dict[tuple[str, int], str] = {}
        last = None
        for key, options in self._options.items():
            if key in reported:
                last, modes[key] = key, options["rw"]
            elif last and key[1] == last[1] and _reads(options["rw"]) and not _reads(modes[last]):
                modes[last] = "rw"
        return modes


def _reads(mode: str) -> bool:
    return mode.removeprefix("rand") in ("read", "rw", "readwrite")


def _job(text: str) -> dict[str, Any]:
    """A job as in a document; without options."""
    ((name, group, error, process, _),) = _JOB.findall(text)
    job: dict[str, Any] = {"jobname": name, "groupid": int(group), "error": int(error), "pid": int(process or -1)}
    _, *parts = _DIRECTION.split(text)
    for direction, body in zip(parts[::2], parts[1::2], strict=True):
        job["sync" if "/" in direction else direction.strip()] = _direction(body)
    if issued := _ISSUED.search(text):
        for key, numbers in zip(("total_ios", "short_ios", "drop_ios"), issued.groups(default=""), strict=True):
            # The numbers of reads, writes, trims and syncs; fio counts mixed operations as reads.
            counts = [int(number) for number in re.findall(r"\d{1,16}", numbers)]
            names = ("mixed" if "mixed" in job and "read" not in job else "read", "write", "trim", "sync")
            for operation, count in zip(names, counts, strict=False):
                if operation in job:
                    job[operation][key] = count
    if "sync" in job:
        job["sync"]["lat_ns"]["N"] = job["sync"]["total_ios"]
    if errors := _ERRORS.search(text):
        job.update(total_err=int(errors[1]), first_error=int(errors[2]))
    return job


def _direction(text: str) -> dict[str, Any]:
    """One direction of a job, with the rate in place of the number of I/Os."""
    first = text.partition("\n")[0]
    rate, bandwidth, runtime = _RATE.search(first), _BANDWIDTH.search(first), _RUNTIME.search(first)
    length = int(runtime[1]) if runtime else 0
    found: dict[str, Any] = defaultdict(dict, runtime=length, total_ios=0, io_bytes=0)
    if rate:
        found["total_ios"] = round(_number(rate[1], rate[2]) * length / 1000)
    if bandwidth:  # `BW=` says whether its units are binary, the older `bw=` means binary ones
        form, number, prefix, binary, unit = bandwidth.groups()
        value = _number(number, prefix, 1024 if binary or form == "bw" else 1000)
        found["io_bytes"] = round((value / 8 if unit == "b" else value) * length / 1000)
    for name, unit, _, _, most, most_prefix, mean, mean_prefix in _LATENCY.findall(text):
        latency = found[_NAMES[name]]
        latency["max"] = round(_number(most, most_prefix) * _UNITS[unit])
        latency["mean"] = _number(mean, mean_prefix) * _UNITS[unit]
    for name, unit, lines in _PERCENTILES.findall(text):
        printed = {f"{float(one):.6f}": int(value) * _UNITS[unit] for one, value in _PERCENTILE.findall(lines)}
        found[_NAMES[name]]["percentile"] = printed
    return found


def _number(text: str, prefix: str, base: int = 1000) -> float:
    return float(text) * float(base ** _POWERS.index(prefix.upper() or " "))


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
