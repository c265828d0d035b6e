"""`benchwatch push URL PATH...`: sends runs, recorded or still growing, to an exporter elsewhere.

A folder in which no folder is a run is a run itself. A run's files are sent if they are named like those of
`benchwatch run`: `<worker>.out`, `.err`, `.json`, `.yaml`, and logs `<worker>.<pid>[.<thread>]` beside one of these.
With `--follow`, new ones are found while it runs, as beside a benchmark in another container.
"""

import argparse
import re
import signal
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..runs.files import Listing, listing
from ..settings.settings import RunsSettings
from ..values.errors import FAILED, UserError
from ..values.printable import say
from .worker_record import RunRecord

_WORKER = re.compile(r"([^.].*)\.(?:out|err|json|yaml)")
_EVERY = 0.5
_PATIENCE = 50.0
"""Seconds that the rest may take after the signal to end; container managers kill after 30 or 60."""


def add_parser(add: Any, _: argparse.ArgumentParser) -> None:
    """Register the command `push`."""
    parser = add(
        usage="benchwatch push [options] URL PATH...",
        description="Sends recorded runs to an exporter elsewhere, except for what it already has.",
        examples=(
            "benchwatch push host:19777 runs/test1",
            "benchwatch push host:19777 runs",
            "benchwatch push --follow host:19777 /runs",
        ),
    )
    parser.add_argument("url", metavar="URL", help="address of the exporter, such as host:19777")
    parser.add_argument(
        "paths",
        nargs="+",
        type=Path,
        metavar="PATH",
        help="the folder of a run, a folder of runs, or the name of a repeated experiment",
    )
    push = parser.add_argument_group("what to send")
    push.add_argument(
        "--follow",
        action="store_true",
        help="also send what is written from now on; after Ctrl-C or SIGTERM, send the rest within 50 s",
    )
    parser.set_defaults(func=_push)


def _push(options: argparse.Namespace) -> int:
    return _follow(options.url, options.paths) if options.follow else _send(options.url, options.paths)


def _send(url: str, paths: Sequence[Path]) -> int:
    from ..history.find import one_thing
    from .delivery import Delivery

    found, unreadable = _records([one for path in paths for one in one_thing(path, RunsSettings())])
    for sentence in unreadable.values():
        say(sentence)
    if not found and not unreadable:
        shown = ", ".join(map(str, paths))
        raise UserError(f"nothing to send in {shown}: expected a folder with output such as db1.out", FAILED)
    troubles = 0
    for record in found:
        if trouble := Delivery(url, record, takes_name=False).deliver():
            say(trouble)
            troubles += 1
        else:
            print(f"{record.folder / record.worker}.* delivered")
    return FAILED if troubles or unreadable else 0


def _follow(url: str, paths: Sequence[Path]) -> int:
    from .delivery import Delivery

    ending = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ending.set())
    for path in paths:
        if not path.exists():
            say(f"{path} does not exist yet: waiting for it")
    deliveries: dict[Path, Delivery] = {}
    reported: dict[Path, str] = {}
    while True:
        last = ending.is_set()
        found, unreadable = _records(paths)
        for record in found:
            if record.path not in deliveries:
                delivery = deliveries[record.path] = Delivery(url, record, takes_name=False)
                delivery.follow()
        troubles = unreadable | {path: delivery.trouble for path, delivery in deliveries.items()}
        for path, trouble in troubles.items():
            if trouble != reported.get(path, ""):
                reported[path] = trouble
                where = "" if path in unreadable else f"{path.parent.name}/{path.stem}: "
                say(f"{where}{trouble or 'delivered again'}")
        if last:
            break
        ending.wait(_EVERY)
    for delivery in deliveries.values():
        delivery.end(_PATIENCE)
    wrong = [sentence for delivery in deliveries.values() if (sentence := delivery.finish())]
    for sentence in wrong:
        say(sentence)
    return FAILED if wrong else 0


def _records(paths: Sequence[Path]) -> tuple[list[RunRecord], dict[Path, str]]:
    """The workers of all runs in these folders, or of the runs that they are; the record of a run counts as a worker.

    Then a sentence for each folder that cannot be read.
    """
    unreadable: dict[Path, str] = {}

    def listed(folder: Path) -> Listing:
        try:
            return listing(folder)
        except (FileNotFoundError, NotADirectoryError):  # it may come later
            pass
        except OSError as error:
            unreadable[folder] = f"{folder} cannot be read: {error.strerror}"
        return Listing(frozenset(), {})

    def workers(run: Path) -> list[RunRecord]:
        names = {found[1] for file in listed(run).files if (found := _WORKER.fullmatch(file))}
        return [RunRecord(run.parent, run.name, name) for name in sorted(names)]

    records: list[RunRecord] = []
    for folder in (path.resolve() for path in paths):
        of_runs = [record for run in sorted(listed(folder).folders) for record in workers(folder / run)]
        records += of_runs or workers(folder)
    return records, unreadable
