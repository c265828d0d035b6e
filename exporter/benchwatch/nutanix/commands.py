"""`benchwatch nutanix check | save | simulate`."""

import argparse
import threading
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..settings.cvm_settings import DEFAULT_PORT
from ..values.arguments import CommandParser, count, duration, overview
from ..values.durations import Duration
from ..values.errors import ConfigError

LAST_PORT = 65535

if TYPE_CHECKING:
    from .client import Client


def add_parser(add: Any, _: argparse.ArgumentParser) -> None:
    """Register the command `nutanix` and its subcommands."""
    nutanix = add(
        usage="benchwatch nutanix COMMAND [options]",
        description="Checks, saves or simulates the pages that a Nutanix controller VM (CVM) serves on port 2009.",
        examples=(
            "benchwatch nutanix check http://cvm:2009",
            "benchwatch nutanix save http://cvm:2009 --output pages",
            "benchwatch nutanix simulate --vdisks 32",
        ),
    )
    nutanix.set_defaults(func=partial(overview, nutanix))
    inner = nutanix.add_subparsers(title="commands", metavar="COMMAND", prog=nutanix.prog)

    page = CommandParser(add_help=False)
    url = f"address of the CVM: http://host[:port] (default port: {DEFAULT_PORT})"
    page.add_argument("url", metavar="URL", help=url)
    what = page.add_argument_group("what to read")
    time_limit, vdisk = "time limit for each page (default: 60s)", "read the page of this vdisk; can be repeated"
    what.add_argument("--deadline", type=_deadline, metavar="TIME", default=Duration(60), help=time_limit)
    what.add_argument("--vdisk", metavar="ID", action="append", help=f"{vdisk} (default: the first vdisk)")

    check = inner.add_parser(
        "check",
        parents=[page],
        help="report what benchwatch recognises on a CVM's pages, and what it does not",
        usage="benchwatch nutanix check [options] URL",
        description="Reads the pages of a CVM once and reports what benchwatch recognises, and what it does not.",
        examples=(
            "benchwatch nutanix check http://cvm:2009",
            "benchwatch nutanix check http://cvm:2009 --vdisk 15432793",
            "benchwatch nutanix check http://cvm:2009 --metrics",
        ),
    )
    output = check.add_argument_group("output")
    output.add_argument("--metrics", action="store_true", help="print metrics instead of words")
    check.set_defaults(func=_check)

    save = inner.add_parser(
        "save",
        parents=[page],
        help="save a copy of the pages without addresses, uuids and names",
        usage="benchwatch nutanix save [options] URL",
        description="Saves a copy of a CVM's pages without addresses, uuids and names. It never overwrites a file.",
        examples=(
            "benchwatch nutanix save http://cvm:2009",
            "benchwatch nutanix save http://cvm:2009 --vdisk 15432793 --output pages",
        ),
    )
    folder = Path("nutanix-pages")
    output = save.add_argument_group("output")
    folder_help = f"folder for the copy (default: {folder})"
    output.add_argument("--output", type=Path, metavar="DIR", default=folder, help=folder_help)
    save.set_defaults(func=_save)

    simulate = inner.add_parser(
        "simulate",
        help="serve the pages of simulated CVMs, and the metrics of a guest",
        usage="benchwatch nutanix simulate [options]",
        description="Serves the pages of simulated CVMs, to try benchwatch without a cluster.",
        examples=(
            "benchwatch nutanix simulate",
            "benchwatch nutanix simulate --scene checkpoint --vdisks 32 --cvms 3",
            "benchwatch nutanix simulate --list",
        ),
    )
    simulate.set_defaults(func=_simulate)
    option = simulate.add_argument_group("what to simulate, and where").add_argument
    where = f"where to listen (default: 127.0.0.1:{DEFAULT_PORT})"
    option("--listen", type=_address, default=("127.0.0.1", DEFAULT_PORT), metavar="HOST:PORT", help=where)
    scene = "what happens; --list shows all scenes (default: checkpoint)"
    option("--scene", default="checkpoint", metavar="NAME", help=scene)
    option("--vdisks", type=count, default=8, metavar="N", help="total number of vdisks (default: 8)")
    cvms = "number of CVMs, on ports from --listen upwards (default: 1)"
    option("--cvms", type=count, default=1, metavar="N", help=cvms)
    option("--seed", type=int, default=1, metavar="N", help="the same seed gives the same numbers (default: 1)")
    run = "also write the run of a simulated pgbench in the guest, to a new folder simulated-TIME in DIR"
    option("--runs.path", dest="runs", type=Path, metavar="DIR", help=run)
    option("--list", action="store_true", help="list the scenes, then exit")


def _deadline(text: str) -> Duration:
    seconds = duration(text)
    if not seconds:
        raise argparse.ArgumentTypeError(f"expected more than 0s, got {text!r}")
    return seconds


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > LAST_PORT:
        raise argparse.ArgumentTypeError(f"expected HOST:PORT, got {text!r}")
    return host.strip("[]"), int(port)


def _client(options: argparse.Namespace) -> "Client":
    from .client import Client

    try:
        return Client(options.url, deadline=options.deadline)
    except ValueError as error:
        raise ConfigError(str(error)) from None


def _check(options: argparse.Namespace) -> int:
    from .check import check

    return check(_client(options), options.vdisk, options.metrics)


def _save(options: argparse.Namespace) -> int:
    from .save import save

    return save(_client(options), options.vdisk, options.output)


def _simulate(options: argparse.Namespace) -> int:
    from .simulator.cluster import Cluster
    from .simulator.guest import Guest
    from .simulator.scenes import SCENES
    from .simulator.server import SimulatedCvm

    if options.list:
        print("\n".join(f"{name}: {scene.description}" for name, scene in SCENES.items()))
        return 0
    host, port = options.listen
    if port + options.cvms - 1 > LAST_PORT:
        raise ConfigError(f"--listen: no ports for {options.cvms} CVMs from {port} to {LAST_PORT}; choose a lower port")
    run = options.runs and options.runs / f"simulated-{time.strftime('%Y%m%d-%H%M%S')}"
    cluster = Cluster(options.scene, cvms=options.cvms, vdisks=options.vdisks, seed=options.seed, clock=time.monotonic)
    with ExitStack() as running:
        try:
            cvms = [
                running.enter_context(SimulatedCvm(cluster, number, host=host, port=port + number if port else 0))
                for number in range(options.cvms)
            ]
        except OSError as error:
            raise ConfigError(
                f"--listen: cannot serve on {host}:{port}: {error.strerror}; choose another address or port"
            ) from None
        for cvm in cvms:
            print(f"simulated CVM on {cvm.url}", flush=True)
        try:
            if run is not None:
                Guest(cluster).record(run)
        except OSError as error:
            raise ConfigError(
                f"--runs.path: cannot write {error.filename or run}: {error.strerror}; choose another folder"
            ) from None
        threading.Event().wait()
    return 0
