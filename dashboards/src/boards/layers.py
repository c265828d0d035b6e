"""Where the time goes: the waterfall, how slow each layer is by its usual, and the verdict.

What prometheus/rules/layers.yml records; docs/alerts.md says how the layer is found.
"""

from collections.abc import Sequence

from grafana_foundation_sdk.models import dashboard

from benchwatch.values.verdict import spoken

from .look import GREEN, ORANGE, RED, override
from .panels import BOTH, graph, stat
from .queries import HOST, Query, lately, now
from .tables import Column, table

NONE = "Nothing recorded in this time range: the rules of layers.yml need a run of a minute and node_exporter"
_CHOSEN = 'run=~"$run",host=~"$host|$client"'
"""Of a client on a machine of its own too: its processors are a layer."""
_SLOWNESS = f"run_layer:slowness:ratio{{{_CHOSEN}}}"
_USUAL = "suffix: x its usual"

# Layer: name and colour, in the order of the path.
_PATH = {
    "benchmark": ("benchmark", "text"),
    "client_cpu": ("client CPU", "#FFB357"),
    "network": ("client and network", "#C4A484"),
    "server_cpu": ("server CPU", "#FF9830"),
    "database": ("database", "#5794F2"),
    "memory": ("memory", "#8AB8FF"),
    "log_device": ("log device", "#B877D9"),
    "data_device": ("data device", "#3274D9"),
    "path": ("path to the CVM", "#E02F44"),
    "frontend": ("front end", "#56A64B"),
    "oplog": ("oplog", "#FADE2A"),
    "read_source": ("read source", "#A352CC"),
    "cvm_queue": ("CVM queue", "#37872D"),
    "backend": ("back end", "#96D98D"),
}


def _spoken(expression: str) -> str:
    """With the words of a layer instead of its label's: log device for log_device."""
    words = {"(.+)_(.+)": "$1 $2", "(.+) cpu": "$1 CPU", "cvm (.+)": "CVM $1", "(.+)end": "$1 end"}
    for pattern, word in words.items():
        expression = f'label_replace({expression}, "layer", "{word}", "layer", "{pattern}")'
    return expression


def verdict(size: tuple[int, int] = (24, 2), window: str = "") -> dashboard.Panel:
    """The layer that stands out, in a sentence. `window`: over that time up to the end instead of now."""

    def over(series: str) -> str:
        return f"max_over_time({series}{{{_CHOSEN}}}[{window}])" if window else f"{series}{{{_CHOSEN}}}"

    found, slow = over("run:verdict:which"), over("run:benchmark_slow:info")
    how, verdicts = over("run:benchmark_slowness:ratio"), over("run:verdict:layer")
    named = f"topk by (run, host) (1, max by (run, host, layer, which) ({found}))"
    # A worker's verdict is on one of its machines, and explains why it is slow on the others too.
    workers = over("worker:benchwatch_run_host_info:any")
    explained = f"{verdicts} or {workers} and on (run, worker) ({workers} and on (run, host) {verdicts})"
    unnamed = f"max by (run, host) ({how} unless on (run, host) ({explained}))"
    judged = over("run_layer:slowness:max")
    others = f"(topk(1, {unnamed}) unless on () ({found} or {slow}))"
    return stat(
        "Verdict",
        "The layer that stands out while the benchmark is slower than usual, with its signal as a multiple of the "
        "usual; without such a layer, the benchmark's own latency (or loss of throughput) as a multiple of the usual. "
        "With several runs and hosts: the worst two with a layer and the worst without one; if none is slow, the "
        "worst of all. Select a run to see its own verdict.",
        now(_spoken(f"topk(2, {named})"), "{{run}}: {{layer}} {{which}} of {{host}}"),
        now(
            f"topk(1, {unnamed} and on (run, host) {slow} and on (run) {judged})",
            "{{run}} on {{host}}: slow, but no layer stands out",
        ),
        now(
            f"topk(1, {unnamed} and on (run, host) {slow} unless on (run) {judged})",
            "{{run}} on {{host}}: slow, and no layer can be judged",
        ),
        now(f"{others} < 1.5", "{{run}} on {{host}}: as usual"),
        now(f"{others} >= 1.5", "{{run}} on {{host}}: slower, but within its noise"),
        unit=_USUAL,
        bad="a layer is named: the time is spent there. See Where the time goes.",
        none="Nothing to compare with yet: needs a minute of a run, and the rules of layers.yml",
        size=size,
        decimals=1,
        steps=((None, GREEN), (1.5, ORANGE), (3, RED)),
        text_mode=BOTH,
    )


def waterfall(size: tuple[int, int]) -> dashboard.Panel:
    """Seconds per I/O of log writes and of data reads and writes, layer by layer."""

    def of(layer: str, *by: str) -> str:
        recorded = lately(f'run_layer:latency:max{{{_CHOSEN},layer=~"{layer}"}}')
        return f"max by ({', '.join(('host', *by))}) ({recorded})"

    queries = [
        Query(of("benchmark", "op"), "{{host}} {{op}} benchmark"),
        Query(of("database"), "{{host}} database"),
        Query(of("network"), "{{host}} client and network"),
        Query(of("log_device|data_device", "role", "op"), "{{host}} {{role}} {{op}} guest await"),
        Query(of("path", "role", "op"), "{{host}} {{role}} {{op}} path to the CVM"),
        Query(of("frontend", "role", "op"), "{{host}} {{role}} {{op}} front end"),
        Query(of("backend", "role"), "{{host}} {{role}} back end"),
    ]
    made = graph(
        "Where the time goes, per I/O",
        "Log writes (solid), data reads (dashed) and data writes (dotted), down the path: what the guest waits for, of "
        "which the vdisk's front end takes its part and the guest and network path the rest; above it the benchmark's "
        "own latency. Of several devices, vdisks or workers the slowest, and the highest in each step. A transaction "
        "is not one I/O; the CVM's figures cover some 3 s of every 10; the back end leaves out what the oplog absorbs; "
        "sizes may differ between the layers.",
        *queries,
        unit="s",
        bad="the guest's line rises alone: the time is lost between guest and CVM. It rises with the front end: the "
        "time is lost in the storage.",
        none=NONE,
        size=size,
        log=True,
        beside=True,
    )
    made.max_data_points = 150
    _color(made, {"benchmark", "database", "network", "path", "frontend", "backend"})
    assert made.field_config is not None and made.field_config.overrides is not None
    made.field_config.defaults.min_val = 1e-5  # a path of nearly nothing would take most of the axis
    made.field_config.overrides += [
        *(
            override("byRegexp", f"/{role} \\S+ guest await$/", color={"mode": "shades", "fixedColor": _PATH[layer][1]})
            for role, layer in (("log", "log_device"), ("data", "data_device"))
        ),
        override("byRegexp", "/data read /", custom__lineStyle={"fill": "dash", "dash": [8, 5]}),
        override("byRegexp", "/data write /", custom__lineStyle={"fill": "dot", "dash": [2, 5]}),
    ]
    return made


def checkpoint(size: tuple[int, int], window: str) -> dashboard.Panel:
    """How long a checkpoint was under way in the last `window` of the range: it explains a spike, and is no alarm."""
    return stat(
        "Checkpoint under way",
        "How long a checkpoint was under way in the last 2 minutes of the range. It explains a burst of writes to the "
        "data device; spread over minutes, it is normal.",
        now(f"max by (host) (avg_over_time(pg_checkpoint_active{{{HOST}}}[{window}]))", "{{host}}"),
        unit="percentunit",
        bad="it began with the spike: see the marks on the graphs, and checkpoint_completion_target.",
        none="Not known at the end of this time range",
        size=size,
        decimals=0,
        text_mode=BOTH,
    )


def slowness(size: tuple[int, int]) -> dashboard.Panel:
    """Each layer by its usual, over time."""
    made = graph(
        "Slowness by layer",
        "The slowest signal of each layer as a multiple of its usual value (the median of the minutes before), the "
        "highest in each step: 1 is as usual. Only signals of waiting; Spike also lists load.",
        Query(
            _spoken(f"max by (host, layer) ({lately(f'run_layer:slowness:max{{{_CHOSEN}}}')})"), "{{host}} {{layer}}"
        ),
        unit="suffix:x",
        bad="a line above 3 in the second in which latency rises. If several layers rise together, the lowest is "
        "closest to the cause.",
        none=NONE,
        size=size,
        log=True,
    )
    made.max_data_points = 150
    _color(made, set(_PATH))
    assert made.field_config is not None
    made.field_config.defaults.min_val = 0.1  # what is faster than usual need not be told from what is much faster
    return made


def _color(made: dashboard.Panel, layers: set[str]) -> None:
    assert made.field_config is not None and made.field_config.overrides is not None
    names = {name for layer in layers for name in (_PATH[layer][0], spoken(layer))}
    by_name = {name: color for layer, (word, color) in _PATH.items() for name in (word, spoken(layer))}
    made.field_config.overrides += [
        override("byRegexp", f"/ {name}$/", color={"mode": "fixed", "fixedColor": by_name[name]})
        for name in sorted(names)
    ]


_STEPS = ((None, "transparent"), (3, ORANGE), (10, RED))


def compared(size: tuple[int, int], window: str) -> Sequence[dashboard.Panel]:
    """Layers, and loads apart, in the last `window` of the range and in the same time before it."""

    def of(series: str, by: str) -> tuple[Query, Query]:
        before = f"max by ({by}) (quantile_over_time(0.5, {series}[{window}] offset {window}))"
        return now(_spoken(f"max by ({by}) (max_over_time({series}[{window}]))")), now(_spoken(before))

    by = "run, host, layer, which"
    found = _spoken(f"max by ({by}) (max_over_time(run:verdict:which{{{_CHOSEN}}}[{window}]) * 0 + 1)")
    names = [
        Column("layer", "Layer", width=105),
        Column("which", "Which", wrap=True),
        Column("host", "Host", wrap=True),
        Column("run", "Run", width=200, wrap=True),
    ]
    values = [
        Column("Value #A", "At the moment", "suffix:x", width=130, decimals=1, steps=_STEPS),
        Column("Value #B", "Before", "suffix:x", width=75, decimals=1),
    ]
    return [
        table(
            "Layers",
            "How slow each layer was, as multiples of its usual value: the highest in the last 2 minutes of the "
            "range, and the median of the 2 minutes before.",
            *of(_SLOWNESS, by),
            now(found),
            columns=[
                *names[:2],
                *values,
                Column("Value #C", "Verdict", "bool_yes_no", width=70, steps=((None, "transparent"), (1, RED))),
                *names[2:],
            ],
            bad="a layer above 3 that was near 1 before. The verdict is that of the rules at that time.",
            none="Nothing recorded at the end of this time range",
            size=size,
            sort=("At the moment", "down"),
        ),
        table(
            "Load",
            "Operations and bytes, compared in the same way. A checkpoint's burst of writes belongs here.",
            *of(f"run_layer:load:ratio{{{_CHOSEN}}}", f"{by}, op"),
            columns=[*names[:2], Column("op", "Operation", width=90), *values, *names[2:]],
            bad="an unexpected load in the second before a layer gets slow.",
            none="Nothing recorded at the end of this time range",
            size=size,
            sort=("At the moment", "down"),
        ),
    ]
