"""A job's options, as fio prints them, and their meaning.

fio (options.c, parse.c) prints the options of `[global]` and of each job under their canonical names with the text of
the user; before 3.39 it leaves out options without a value. A list `a,b` is for reads, writes and trims; its last value
applies to the rest, an empty one sets nothing. Sizes: k, m, g, t, p are powers of kb_base (1024 unless set); kib, mib
... powers of the other base: 1000, or 1024 with kb_base=1000. Times: us, ms, s, m, h, d; without a unit, seconds.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

Options = Mapping[str, str]

_OPERATIONS = {
    "read": ("read",),
    "write": ("write",),
    "trim": ("trim",),
    "rw": ("read", "write"),
    "readwrite": ("read", "write"),
    "trimwrite": ("write", "trim"),
}
"""By rw= without `rand`."""
_PLACES = {"read": 0, "write": 1, "trim": 2}
_SIZE = re.compile(r"\+?(?:0x([0-9a-f]{1,16})|(\d{1,19}))([kmgtp]?)(ib|i|b|)", re.IGNORECASE)
_TIME = re.compile(r"(\d{1,18})(us|usec|ms|msec|s|m|h|d|)", re.IGNORECASE)
_SECONDS = {"us": 1e-6, "usec": 1e-6, "ms": 1e-3, "msec": 1e-3, "s": 1, "": 1, "m": 60, "h": 3600, "d": 86400}
_SYNCHRONOUS = frozenset(
    {"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap"}
    | {"splice", "ftruncate", "falloc", "e4defrag", "libpmem", "dev-dax"}
)


@lru_cache(maxsize=1024)
def size(text: str, kb_base: int = 1024) -> int | None:
    """A size or a number; None for anything else, such as a percentage or an expression."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        return None
    digits, unit = match[1] or match[2], match[3].lower()
    other_base = 1000 if kb_base == 1024 else 1024
    base = other_base if match[4].lower() == "ib" else kb_base
    factor: int = base ** " kmgtp".index(unit or " ")
    return int(digits, 16 if match[1] else 10) * factor


@lru_cache(maxsize=1024)
def seconds(text: str) -> float | None:
    """A time in seconds; None for anything else, such as a range."""
    match = _TIME.fullmatch(text.strip())
    return int(match[1]) * _SECONDS[match[2].lower()] if match else None


def operations(options: Options) -> tuple[str, ...]:
    """The operations that the job's rw= includes."""
    mode = options.get("rw", "read").partition(":")[0]
    return _OPERATIONS.get(mode.removeprefix("rand"), ())


def verifies(options: Options) -> bool:
    """Whether the job reads what it wrote to verify it: after the writes or, with verify_backlog=, among them."""
    given = options.get("verify", "pattern" if "verify_pattern" in options else "0")
    writes = {"write", "trim"} & set(operations(options))
    reads_again = options.get("do_verify", "1") != "0" or "verify_backlog" in options
    return bool(writes) and given not in ("0", "none") and reads_again


def target(options: Options, name: str, operation: str) -> int | None:
    """The rate that the option `rate_iops` (operations a second) or `rate` (bytes a second) sets; None without one.

    `mixed`, the sum over operations, has a rate if all of them have one.
    """
    if operation == "mixed":
        parts = [target(options, name, each) for each in operations(options)]
        known = [part for part in parts if part is not None]
        return sum(known) if known and len(known) == len(parts) else None
    if operation not in _PLACES or name not in options:
        return None
    texts = options[name].split(",")
    text = texts[min(_PLACES[operation], len(texts) - 1)]
    return size(text, _kb_base(options)) or None


def _kb_base(options: Options) -> int:
    return 1000 if options.get("kb_base", "").strip() == "1000" else 1024


def number_of_clones(options: Options) -> int:
    """numjobs=."""
    return max(size(options.get("numjobs", "")) or 1, 1)


def runtime(options: Options) -> float | None:
    """The time that runtime= allows, in seconds; None if it sets none."""
    return seconds(options.get("runtime", "")) or None


def amount(options: Options) -> int | None:
    """The bytes that one clone of the job transfers in total, if io_size= or size= gives them as a plain size."""
    total = size(options.get("io_size") or options.get("size", ""), _kb_base(options))
    return total * (size(options.get("loops", "")) or 1) if total else None


def is_set(options: Options, name: str) -> bool:
    """Whether a switch is given and not 0."""
    return options.get(name, "0") not in ("0", "false")


def warnings(options: Options, depth_note: bool) -> Iterator[str]:
    """Combinations that certainly change the meaning of the job's numbers (see the tool's `warnings`).

    rate_poisson: in fio 3.33, single seconds missed a rate of 100 by 10. rate_poisson_sizes: with bsrange=4k-64k, the
    bandwidth was 8 times the rate. sync_engine_iodepth: an engine that is not named counts if fio itself noted that it
    is synchronous (`depth_note`).
    """
    mixed = len(operations(options)) > 1
    rated = any(target(options, "rate_iops", each) for each in operations(options))
    if mixed and rated and ("rwmixread" in options or "rwmixwrite" in options):
        yield "rwmixread_with_rate_iops"
    by_bytes = any(target(options, "rate", each) for each in operations(options))
    if options.get("rate_process") == "poisson" and (rated or by_bytes):
        yield "rate_poisson"
        if by_bytes and not {"bsrange", "blocksize_range", "bssplit"}.isdisjoint(options):
            yield "rate_poisson_sizes"
    engine = options.get("ioengine", "")
    deep = (size(options.get("iodepth", "")) or 1) > 1
    offloaded = options.get("io_submit_mode") == "offload"
    if deep and not offloaded and (engine in _SYNCHRONOUS or (depth_note and not engine)):
        yield "sync_engine_iodepth"
    if deep and engine == "libaio" and not is_set(options, "direct") and options.get("buffered") != "0":
        yield "libaio_without_direct"
    if is_set(options, "gtod_reduce") or (is_set(options, "disable_clat") and is_set(options, "disable_lat")):
        yield "gtod_reduce_no_latency"
