"""Why a benchmark is slow, in one sentence: the layer that stands out in the series of prometheus/rules/layers.yml.

The sentence is that of the alerts' annotation `verdict` (prometheus/rules/workers.yml). Only the rules decide which
layer it is (docs/alerts.md, "How the layer is found").
"""

import math
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from . import numbers

_STANDS_OUT = 3.0
"""A layer stands out from this multiple of its usual on, as in the rules."""
_MOVED = 1.5
"""A layer has moved above this multiple of its usual."""
_MOST_MOVED = 3
_DEVICES = ("log_device", "data_device")
_STORAGE = frozenset({*_DEVICES, "path", "frontend", "oplog", "read_source", "cvm_queue", "backend"})
"""Layers that a run experiences as slow devices."""


class LayerSignal(NamedTuple):
    """A signal that is compared with its usual: the labels of `run_layer:slowness:ratio`."""

    host: str
    layer: str
    which: str
    role: str


class Evidence(NamedTuple):
    """The records of some seconds about a run that is slower than usual."""

    believed: tuple[str, str] | None
    """Host and layer of the verdict; None: no layer stands out, or none can be judged."""
    slowness: Mapping[LayerSignal, float]
    """The highest multiple of its usual, or of the least that can matter if that is more: decides, and is not told."""
    times: Mapping[LayerSignal, float]
    """The true multiples, where they are known."""
    latency: Mapping[tuple[str, str, str], float]
    """The highest await by host, layer and device, seconds per I/O."""

    def sentence(self) -> str:
        """The verdict."""
        if self.believed is None:
            nothing = "No layer can be judged: nothing is measured below the benchmark, or not for long enough."
            return "No layer stands out." if self.slowness else nothing
        host, layer = self.believed
        signals = sorted((-ratio, one) for one, ratio in self.slowness.items() if one.host == host)
        devices = [one for _, one in signals if one.layer in _DEVICES]
        if layer in _STORAGE and devices:
            device = devices[0]
            await_ = self.latency.get((host, device.layer, device.which))
            spent = "" if await_ is None else f" {numbers.trimmed(numbers.latency(await_))}"
            said = f"{_words(device)}{spent}{self._times(device, ', {} its usual')}"
            if layer in _DEVICES:  # its vdisks have not been polled since, so their state is unknown
                return f"{said}."
            vdisks = [(one, -ratio) for ratio, one in signals if (one.layer, one.role) == ("frontend", device.role)]
            for vdisk, ratio in vdisks[:1]:
                said += f"; vdisk {vdisk.which}"
                said += self._times(vdisk, " {} its usual") if ratio >= _STANDS_OUT else " as usual"
            return f"{said}: {'guest or network path' if layer == 'path' else spoken(layer)}."
        own = [f": {one.which}{self._times(one, ' {} its usual')}" for _, one in signals if one.layer == layer]
        return f"{spoken(layer)}{''.join(own[:1])}."

    def moved_most(self) -> list[str]:
        """The three layers furthest above their usual, as `log device sdb 53x`; one of each layer."""
        layers: dict[str, LayerSignal] = {}
        for _, one in sorted((-ratio, one) for one, ratio in self.slowness.items() if ratio > _MOVED):
            layers.setdefault(one.layer, one)
        return [f"{_words(one)}{self._times(one, ' {}')}" for one in list(layers.values())[:_MOST_MOVED]]

    def _times(self, one: LayerSignal, words: str) -> str:
        """The words with its true multiple; nothing if that is not known."""
        return words.format(f"{self.times[one]:.0f}x") if one in self.times else ""


def question(seconds: int, chosen: str = "") -> str:
    """A PromQL query for the evidence of the last seconds on each run that is slow now; `chosen` are matchers.

    Series without a sample in these seconds are not in the answer, even if Prometheus looks back further.
    """

    def over(function: str, name: str, more: str = "") -> str:
        return f"{function}({name}{{{','.join(filter(None, (chosen, more)))}}}[{seconds}s])"

    def named(series: str, query: str) -> str:
        return f'label_replace({query}, "series", "{series}", "", "")'

    slow = f"(run:benchmark_slow:info{{{chosen}}} and {over('last_over_time', 'run:benchmark_slow:info')})"
    ranks = f"{over('min_over_time', 'run_layer:suspect:rank')} and on (run, host, layer) "
    ranks += over("last_over_time", "run:verdict:layer")
    slowness = over("max_over_time", "run_layer:slowness:ratio")
    times = over("max_over_time", "run_layer:slowness:times")
    latency = over("max_over_time", "run_layer:latency:seconds", f'layer=~"{"|".join(_DEVICES)}"')
    evidence = (
        named("rank", ranks),
        named("slowness", f"max by (run, host, layer, which, role) ({slowness})"),
        named("times", f"max by (run, host, layer, which, role) ({times})"),
        named("latency", f"max by (run, host, layer, which) ({latency})"),
    )
    return f"({' or '.join(evidence)}) and on (run) {slow} or {named('slow', slow)}"


def answered(samples: Iterable[tuple[Mapping[str, str], float]]) -> dict[str, Evidence]:
    """The evidence by run, from the labels and values in Prometheus' answer to the question."""
    ranks: dict[str, tuple[float, str, str]] = {}
    found: dict[str, tuple[dict[LayerSignal, float], dict[LayerSignal, float], dict[tuple[str, str, str], float]]] = {}
    for labels, value in samples:
        if not math.isfinite(value):
            continue
        run, host, layer, which, role = (labels.get(name, "") for name in ("run", "host", "layer", "which", "role"))
        slowness, times, latency = found.setdefault(run, ({}, {}, {}))
        series = labels.get("series")
        if series == "rank":
            ranks[run] = min(ranks.get(run, (value, host, layer)), (value, host, layer))
        elif series == "slowness":
            slowness[LayerSignal(host, layer, which, role)] = value
        elif series == "times":
            times[LayerSignal(host, layer, which, role)] = value
        elif series == "latency":
            latency[host, layer, which] = value
    return {run: Evidence(ranks[run][1:] if run in ranks else None, *known) for run, known in found.items()}


def spoken(layer: str) -> str:
    """A layer's name in a sentence: `CVM queue` for cvm_queue."""
    return re.sub("(front|back)end", r"\1 end", layer.replace("_cpu", " CPU").replace("cvm", "CVM")).replace("_", " ")


def _words(one: LayerSignal) -> str:
    return f"{spoken(one.layer)} {one.which}"
