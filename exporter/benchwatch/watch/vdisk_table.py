"""The vdisks as the virtual machines see them: those of the benchmark (mapped) first, then the slowest first.

Below a mapped one stands what is usual, if the rules know it; what is far from that stands out.
"""

from collections.abc import Mapping, Sequence

from rich.text import Text

from ..model.cvm import Cvm, Vdisk
from ..values import numbers as figures
from .blocks import Block, columns, cut, joined, text
from .known import Page, usual_key
from .sources import VDISK_LATENCY, VDISK_OPLOG, VDISK_RATE

_HEADS = ("read/s", "write/s", "read", "write", "to oplog", "rnd r", "rnd w")
_SIZE = 8
_FAR = 3.0
"""The multiple of the usual that stands out."""


def vdisks(page: Page, usual: Mapping[tuple[str, ...], float], now: float, width: int) -> Block:
    """Those of all CVMs of a page at `now`, Unix seconds."""
    each = [vdisk for cvm in page.cvms for vdisk in cvm.vdisks]
    each.sort(key=lambda vdisk: (not vdisk.vm, -max(vdisk.latencies.values(), default=0.0)))
    mapped = [vdisk for vdisk in each if vdisk.vm]
    known = [vdisk for vdisk in mapped if set(_usual(vdisk, usual)) != {None}]
    wanted = 2 + len(mapped) + len(known) + (len(mapped) < len(each))

    def draw(lines: int) -> list[Text]:
        drawn = [joined([text("vdisks, as seen by the VM", "bold"), joined([_poll(cvm, now) for cvm in page.cvms])])]
        if not each:
            return drawn
        below = known if lines >= wanted else []
        shown, more = cut(each, lines - 2 - len(below))
        longest = max((text(_name(vdisk)).cell_len for vdisk in shown), default=0)
        name = 2 + max(len("usually"), min(longest, width - 2 - len(_HEADS) * (1 + _SIZE)))
        head = columns(text(""), name, [(text(title), _SIZE) for title in _HEADS])
        head.stylize("dim")
        drawn.append(head)
        for vdisk in shown:
            before = _usual(vdisk, usual)
            drawn.append(_row(_name(vdisk), name, _values(vdisk), before))
            if vdisk in below:
                drawn.append(_row("usually", name, before, before))
                drawn[-1].stylize("dim")
        return [*drawn, *more]

    sizes = (min(wanted, 3 + min(len(mapped), 2)), wanted, wanted, 2 + len(each) + len(known))
    return Block(draw, sizes if page.cvms else (0, 0, 0, 0), least=min(4, wanted))


def _name(vdisk: Vdisk) -> str:
    return " ".join(part for part in (vdisk.vm, vdisk.disk, vdisk.role) if part) or f"{vdisk.cvm} {vdisk.vdisk}"


def _values(vdisk: Vdisk) -> list[float | None]:
    """In the order of the heads."""
    both = [figure.get(op) for figure in (vdisk.rates, vdisk.latencies) for op in ("read", "write")]
    return [*both, vdisk.oplog, vdisk.random.get("read"), vdisk.random.get("write")]


def _usual(vdisk: Vdisk, usual: Mapping[tuple[str, ...], float]) -> list[float | None]:
    """In the order of the heads."""
    names = ((VDISK_RATE, "read"), (VDISK_RATE, "write"), (VDISK_LATENCY, "read"), (VDISK_LATENCY, "write"))
    found = [usual.get(usual_key(name, op=op, cvm=vdisk.cvm, vdisk=vdisk.vdisk)) for name, op in names]
    return [*found, usual.get(usual_key(VDISK_OPLOG, cvm=vdisk.cvm, vdisk=vdisk.vdisk)), None, None]


def _row(name: str, width: int, values: Sequence[float | None], usual: Sequence[float | None]) -> Text:
    cells = []
    writes = [figures.rate] * 2 + [figures.latency] * 2 + [_share] * 3
    for place, (value, before, write) in enumerate(zip(values, usual, writes, strict=True)):
        # Less than usual is worse for the oplog only.
        far = bool(value and before and (value <= before / 2 if place == 4 else value >= _FAR * before))
        cells.append((text(write(value), "bold red" if far else ""), _SIZE))
    return columns(text(f"  {name}"), width, cells)


def _share(ratio: float | None) -> str:
    return figures.NOT_MEASURED if ratio is None else f"{ratio:.0%}"


def _poll(cvm: Cvm, now: float) -> Text:
    if not cvm.up:
        return text(f"{cvm.name} does not answer", "bold red")
    if cvm.last_success is None:
        return text(f"{cvm.name} not read yet", "dim")
    return text(f"{cvm.name} read {figures.age(now - cvm.last_success)}", "dim")
