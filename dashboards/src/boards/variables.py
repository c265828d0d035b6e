"""The variables of the dashboards: what is chosen once and kept from one dashboard to the next."""

from collections.abc import Sequence

from grafana_foundation_sdk.models import dashboard

from benchwatch.tools.registry import all_roles

from .look import DATASOURCE
from .queries import ROLES, RUN

_ALL = dashboard.VariableOption(selected=True, text="All", value="$__all")
ANY = ".*"
"""What all means, where it is not those that are listed."""


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
    every: str = "",
    first: bool = False,
) -> dashboard.VariableModel:
    """`many`: several values may be chosen, and all are at first. `every`: what all means, else the listed ones.

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
        include_all=many and not first,
        all_value=every or None,
        current=_ALL if many and not first else None,
        hide=dashboard.VariableHide.HIDE_VARIABLE if hidden else dashboard.VariableHide.DONT_HIDE,
        skip_url_sync=hidden and every != ANY,
    )


def _runs(tool: str) -> str:
    """Active ones first, then the most recent."""
    started = "last_over_time(benchwatch_run_start_timestamp_seconds[$__range])"
    known = f'last_over_time(benchwatch_run_info{{tool=~"{tool}"}}[$__range])'
    begun, active = f"({started} and on (run, worker) {known})", 'benchwatch_run_state{state=~"running|stalled"} == 1'
    return f"sort_desc(max by (run) (1e10 * ({begun} and on (run) {active}) or {begun} or {known}))"


def run(tool: str = ".+", *, many: bool = True, newest: bool = False) -> dashboard.VariableModel:
    """Runs of a tool (a regular expression) in the time range; with `newest` all means that one, whichever it is."""
    return _query(
        "run",
        "Run",
        f"query_result({_runs(tool)})",
        "Runs in the time range, active ones first, then the most recent."
        + (" All follows the newest, also when another begins." if newest else ""),
        many=many,
        every="$newest" if newest else ANY if many else "",
        regex='/run="([^"]+)"/',
        sort=dashboard.VariableSort.DISABLED,
    )


def _newest(tool: str) -> dashboard.VariableModel:
    """Hidden: the first of the runs. Its list has no other, so another run takes its place.

    Grafana escapes no value in that of all: a dot stands for up to six letters that mean something in a pattern.
    """
    name = f"topk(1, {_runs(tool)})"
    for _ in range(6):
        name = f'label_replace({name}, "run", "$1.$2", "run", `(.*)[$^*{{}}\\[\\]+?()|\\\\](.*)`)'
    return _query(
        "newest",
        "Newest",
        f"query_result({name})",
        "The newest active run, or the most recent one.",
        many=False,
        hidden=True,
        regex='/run="([^"]+)"/',
        sort=dashboard.VariableSort.DISABLED,
    )


def baseline() -> dashboard.VariableModel:
    """Runs of the tool of the chosen run: those with results to compare with, then the others, the oldest first."""
    started = "last_over_time(benchwatch_run_start_timestamp_seconds[$__range])"
    known = "last_over_time(benchwatch_run_info[$__range])"
    results = f'{{__name__=~"{"|".join(roles.result_rate.name for roles in all_roles())}"}}'
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


def worker(*, hidden: bool = False) -> dashboard.VariableModel:
    """Processes of the runs."""
    query = 'label_values(benchwatch_run_info{run=~"$run"}, worker)'
    return _query(
        "worker",
        "Worker",
        query,
        "Processes of the runs: one pgbench or fio each.",
        many=True,
        every=ANY,
        hidden=hidden,
    )


def recorded() -> dashboard.VariableModel:
    """Hidden: which of the chosen runs have recorded series, if all workers are chosen.

    Recorded series have no label `worker`: one that is missing matches `.*`, and nothing else that can be chosen.
    """
    return _query(
        "recorded",
        "Recorded",
        'label_values({__name__=~"run:.+:mean1s",run=~"$run",worker=~"$worker"}, run)',
        "Selected runs whose sums the rules record.",
        many=True,
        hidden=True,
    )


def job() -> dashboard.VariableModel:
    """Jobs of fio."""
    query = 'label_values(fio_job_info{run=~"$run",worker=~"$worker"}, job)'
    return _query("job", "Job", query, "fio's jobs.", many=True, every=ANY)


def _hosts(role: str) -> str:
    """Those that the chosen runs use; all under node_exporter where a run says nothing of its own."""
    known = f"last_over_time(benchwatch_run_host_info{{{RUN}{{}}}}[$__range])"
    told = " or on (run, worker) ".join(known.replace("{}", more) for more in (f',role="{role}"', ""))
    return f"query_result(group by (host) ({told}) or on () group by (host) (node_disk_io_now))"


def controller() -> dashboard.VariableModel:
    """The CVMs' own machines, if node_exporters are on them: none unless some are chosen."""
    none = 'label_replace(vector(0), "host", "none", "", "")'
    return _query(
        "controller",
        "CVMs' hosts",
        f"query_result(sort({none} or group by (host) (node_disk_io_now)))",
        "Hosts whose processors are a CVM's, if the CVMs have node_exporters of their own.",
        many=True,
        first=True,
        regex='/host="([^"]+)"/',
        sort=dashboard.VariableSort.DISABLED,
    )


def host(*, hidden: bool = False) -> dashboard.VariableModel:
    """The machines whose disks and processors the chosen runs use: those of the database, where that is elsewhere."""
    words = "The machines that the runs use (label `host` of node_exporter's target)."
    return _query("host", "Host", _hosts("server"), words, many=True, regex='/host="([^"]+)"/', hidden=hidden)


def client() -> dashboard.VariableModel:
    """Hidden: the machines on which the benchmark's own processes run."""
    words = "The machines of the benchmark's own processes."
    return _query("client", "Client", _hosts("client"), words, many=True, regex='/host="([^"]+)"/', hidden=True)


def devices(role: str) -> dashboard.VariableModel:
    """Disks of a role on each host, as the chosen runs recorded it, else as configured; all where a host has none."""
    told = f'last_over_time(benchwatch_run_disk_info{{{RUN},host=~"$host",{ROLES[role]}}}[$__range])'
    set_ = f'last_over_time(benchwatch_disk_info{{host=~"$host",{ROLES[role]}}}[$__range])'
    real = 'node_disk_io_now{host=~"$host",device!~"(loop|ram|zram|sr|fd).*"}'
    return _query(
        f"{role}_device",
        f"{role.capitalize()} disk",
        f"query_result(group by (device) ({told} or on (host) {set_} or on (host) {real}))",
        f"Disks of the role {role}: `disks` in run.yaml, otherwise in benchwatch.yaml. Without a role: all disks.",
        many=True,
        hidden=True,
        regex='/device="([^"]+)"/',
    )


_CVM = 'cvm=~"$cvm"'


_INFO = "last_over_time(nutanix_vdisk_info{{{}}}[$__range])"
_VMS = f"last_over_time(benchwatch_run_vm_info{{{RUN}}}[$__range])"
_PLACED = f"({_INFO.format('vm!=' + chr(34) * 2)} and on () {_VMS})"
"""Anything, if a mapping names VMs and the chosen runs know theirs: vdisks of no such VM are then others'."""


def _vdisks(matchers: str = "") -> str:
    """Vdisks of the chosen runs' VMs; where no mapping names VMs, those with a role, else all."""

    def of(*more: str) -> str:
        return _INFO.format(",".join(one for one in (matchers, *more) if one))

    mine = f"{of('vm!=' + chr(34) * 2)} and on (vm) {_VMS}"
    loose = f"{of('vm=' + chr(34) * 2, 'role!=' + chr(34) * 2)} or on () {of()}"
    return f"{mine} or on () (({loose}) unless on () {_PLACED})"


def cvm(*, hidden: bool = False) -> dashboard.VariableModel:
    """The Nutanix controller VMs of the chosen runs' vdisks; all where runs and vdisks have nothing to tell."""
    every = f"group by (cvm) (nutanix_cvm_up) unless on () {_PLACED}"
    query = f"query_result(group by (cvm) ({_vdisks()}) or on () ({every}))"
    words = "Nutanix controller VMs that host vdisks of the runs."
    return _query("cvm", "CVM", query, words, many=True, regex='/cvm="([^"]+)"/', hidden=hidden)


def vdisk(*, hidden: bool = False) -> dashboard.VariableModel:
    """Vdisks of the chosen runs' VMs."""
    return _query(
        "vdisk",
        "Vdisk",
        f"query_result(group by (vdisk) ({_vdisks(_CVM)}))",
        "Vdisks whose VM is that of the runs; without VMs in the mapping those with a role, without a mapping all.",
        many=True,
        hidden=hidden,
        regex='/vdisk="([^"]+)"/',
    )


def vdisks_by_role() -> Sequence[dashboard.VariableModel]:
    """Hidden: which of the chosen vdisks have each role, the ten slowest; of all where none has a role."""
    every = f'last_over_time(nutanix_vdisk_info{{{_CVM},vdisk=~"$vdisk"}}[$__range])'
    latency = f'max_over_time(nutanix_vdisk_frontend_latency_seconds{{{_CVM},vdisk=~"$vdisk"}}[$__range])'
    log = every.replace("}[", f",{ROLES['log']}}}[")
    found = {"log": log, "data": f"({every} unless on (cvm, vdisk) {log})"}
    return [
        _query(
            f"{role}_vdisk",
            role,
            f"query_result(topk(10, max by (vdisk) ({latency} and on (cvm, vdisk) ({found[role]} or on () {every})) "
            f"or 0 * max by (vdisk) ({found[role]} or on () {every})))",
            f"Chosen vdisks of the role {role}: the ten with the highest latency in the time range.",
            many=True,
            regex='/vdisk="([^"]+)"/',
            hidden=True,
        )
        for role in ROLES
    ]


def kind() -> dashboard.VariableModel:
    """Labels of the runs by which they are compared among their like: never empty, as `tool` is one of them.

    Labels that say how many there were would make each run one of a kind.
    """
    counts = "database|worker|client|count|density|number|repeat|instance|job|vms|run$|tool_version|__name__"
    return _query(
        "kind",
        "Kind",
        "label_names(benchwatch_run_info)",
        "Labels of run.yaml (hypervisor, aos, cpu ...) that make runs comparable: one base for each kind.",
        many=True,
        regex=f"/^(?!.*(?:{counts}))(.+)$/",
    )


def number(name: str, query: str, description: str) -> dashboard.VariableModel:
    """A hidden variable whose value is the number that a query gives, whole."""
    return _query(name, name, f"query_result({query})", description, many=False, regex=r"/\} (-?\d+) /", hidden=True)


def machine() -> Sequence[dashboard.VariableModel]:
    """The hosts, disks and vdisks of the chosen runs."""
    return (
        host(hidden=True),
        client(),
        devices("log"),
        devices("data"),
        cvm(hidden=True),
        vdisk(hidden=True),
        *vdisks_by_role(),
    )


def standard(tool: str = ".+", *, newest: bool = False, hidden: bool = False) -> Sequence[dashboard.VariableModel]:
    """The variables that most dashboards have."""
    hidden_ones = [_newest(tool)] if newest else []
    return datasource(), *hidden_ones, run(tool, newest=newest), worker(hidden=hidden)
