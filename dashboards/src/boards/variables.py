"""The variables of the dashboards: what is chosen once and kept from one dashboard to the next."""

from collections.abc import Sequence

from grafana_foundation_sdk.models import dashboard

from .look import DATASOURCE

_ALL = dashboard.VariableOption(selected=True, text="All", value="$__all")


def datasource() -> dashboard.VariableModel:
    """The Prometheus that is asked; the provisioned one unless another is chosen."""
    return dashboard.VariableModel(
        type_val=dashboard.VariableType.DATASOURCE,
        name="datasource",
        label="Data source",
        query="prometheus",
        current=dashboard.VariableOption(selected=True, text="Prometheus", value="prometheus"),
        refresh=dashboard.VariableRefresh.ON_DASHBOARD_LOAD,
        skip_url_sync=None,
    )


def _query(
    name: str,
    label: str,
    query: str,
    description: str,
    *,
    many: bool,
    regex: str = "",
    sort: dashboard.VariableSort = dashboard.VariableSort.NATURAL_ASC,
    hidden: bool = False,
    every: bool = False,
    first: bool = False,
) -> dashboard.VariableModel:
    """`many`: several values may be chosen, and all are at first. `every`: all means any value, not the listed ones.

    `first`: at first only the first is chosen.
    """
    return dashboard.VariableModel(
        type_val=dashboard.VariableType.QUERY,
        name=name,
        label=label,
        description=description,
        datasource=DATASOURCE,
        query={"query": query, "refId": name},
        definition=query,
        regex=regex,
        refresh=dashboard.VariableRefresh.ON_TIME_RANGE_CHANGED,
        sort=sort,
        multi=many,
        include_all=many,
        all_value=".*" if many and every else None,
        current=_ALL if many and not first else None,
        hide=dashboard.VariableHide.HIDE_VARIABLE if hidden else dashboard.VariableHide.DONT_HIDE,
        skip_url_sync=hidden and not every,
    )


def run(tool: str = ".+", *, many: bool = True, newest: bool = False) -> dashboard.VariableModel:
    """Runs of a tool (a regular expression) in the time range, the newest first; with `newest` at first only that."""
    started = "last_over_time(benchwatch_run_start_timestamp_seconds[$__range])"
    known = f'last_over_time(benchwatch_run_info{{tool=~"{tool}"}}[$__range])'
    return _query(
        "run",
        "Run",
        f"query_result(sort_desc(max by (run) ({started} and on (run, worker) {known} or {known})))",
        "Runs in the time range, most recent first.",
        many=many,
        every=True,
        first=newest,
        regex='/run="([^"]+)"/',
        sort=dashboard.VariableSort.DISABLED,
    )


def baseline() -> dashboard.VariableModel:
    """Runs of the tool of the chosen run: those with results to compare with, then the others, the oldest first."""
    started = "last_over_time(benchwatch_run_start_timestamp_seconds[$__range])"
    known = "last_over_time(benchwatch_run_info[$__range])"
    results = '{__name__=~"pgbench_result_tps|fio_result_iops"}'
    same = f'{known} and on (tool) last_over_time(benchwatch_run_info{{run="$run"}}[$__range])'
    begun = f"max by (run) ({started} and on (run, worker) ({same}))"
    return _query(
        "baseline",
        "Baseline",
        f"query_result(sort({begun} and on (run) {results} or {begun} + 1e10))",
        "The run that is 100 %: one of the same tool, the oldest with results first.",
        many=False,
        regex='/run="([^"]+)"/',
        sort=dashboard.VariableSort.DISABLED,
    )


def worker() -> dashboard.VariableModel:
    """Processes of the runs."""
    query = 'label_values(benchwatch_run_info{run=~"$run"}, worker)'
    return _query("worker", "Worker", query, "Processes of the runs: one pgbench or fio each.", many=True, every=True)


def recorded() -> dashboard.VariableModel:
    """Hidden: which of the chosen runs have recorded series, if all workers are chosen.

    Recorded series have no label `worker`: one that is missing matches `.*`, and nothing else that can be chosen.
    """
    return _query(
        "recorded",
        "Recorded",
        'label_values(run:pgbench_tps:mean1s{run=~"$run",worker=~"$worker"}, run)',
        "Selected runs whose sums the rules record.",
        many=True,
        hidden=True,
    )


def job() -> dashboard.VariableModel:
    """Jobs of fio."""
    query = 'label_values(fio_job_info{run=~"$run",worker=~"$worker"}, job)'
    return _query("job", "Job", query, "fio's jobs.", many=True, every=True)


def host() -> dashboard.VariableModel:
    """The machine whose disks and processors are shown."""
    query = "label_values(node_disk_io_time_seconds_total, instance)"
    return _query("host", "Host", query, "The machine whose node_exporter is shown.", many=False)


def devices(role: str) -> dashboard.VariableModel:
    """Disks of a role, from the records of the chosen runs or else the configuration; all disks where none has it."""
    told = f'group by (device) (benchwatch_run_disk_info{{run=~"$run",role="{role}"}})'
    set_ = f'group by (device) (benchwatch_disk_info{{role="{role}"}})'
    real = 'group by (device) (node_disk_io_time_seconds_total{instance="$host",device!~"(loop|ram|zram|sr|fd).*"})'
    return _query(
        f"{role}_device",
        f"{role.capitalize()} device",
        f"query_result({told} or on () {set_} or on () {real})",
        f"Disks of the role {role}: `disks` in run.yaml, otherwise in benchwatch.yaml. Without a role: all disks.",
        many=True,
        regex='/device="([^"]+)"/',
    )


def cvm(*, hidden: bool = False) -> dashboard.VariableModel:
    """Nutanix controller VMs."""
    query = "label_values(nutanix_cvm_up, cvm)"
    return _query("cvm", "CVM", query, "Nutanix controller VMs.", many=True, every=True, hidden=hidden)


def vdisk() -> dashboard.VariableModel:
    """Vdisks of the CVMs: those with a role, where there are any."""
    mapped = 'group by (vdisk) (nutanix_vdisk_info{cvm=~"$cvm",role!=""})'
    others = 'group by (vdisk) (nutanix_vdisk_info{cvm=~"$cvm"})'
    return _query(
        "vdisk",
        "Vdisk",
        f"query_result({mapped} or on () {others})",
        "Vdisks with a role in the mapping; without a mapping all.",
        many=True,
        regex='/vdisk="([^"]+)"/',
    )


VDISK_ROLES = {"log": '="log"', "data": '="data"', "other": '!~"log|data"'}
"""Roles that dashboards tell apart, with the matcher of the label role."""


def vdisks_by_role() -> Sequence[dashboard.VariableModel]:
    """Hidden: which of the chosen vdisks have each role."""
    return [
        _query(
            f"{role}_vdisk",
            role,
            f'label_values(nutanix_vdisk_info{{cvm=~"$cvm",vdisk=~"$vdisk",role{matcher}}}, vdisk)',
            f"Chosen vdisks of the role {role}.",
            many=True,
            hidden=True,
        )
        for role, matcher in VDISK_ROLES.items()
    ]


def number(name: str, query: str, description: str) -> dashboard.VariableModel:
    """A hidden variable whose value is the number that a query gives, whole."""
    return _query(name, name, f"query_result({query})", description, many=False, regex=r"/\} (-?\d+) /", hidden=True)


def standard(tool: str = ".+", *, newest: bool = False) -> Sequence[dashboard.VariableModel]:
    """The variables that most dashboards have."""
    return datasource(), run(tool, newest=newest), worker()
