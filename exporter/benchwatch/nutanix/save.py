"""`benchwatch nutanix save`: a sanitised copy of a CVM's pages, to look through and share."""

import sys
from collections.abc import Sequence
from pathlib import Path

from ..values.printable import printable
from .client import Client, PageError
from .fetch import ADVICE, MAIN, OPLOG, fetch
from .pages.main_page import read_main_page
from .pages.vdisk_page import read_vdisk_page
from .sanitise import Sanitiser, numbers


def save(client: Client, vdisks: Sequence[str] | None, folder: Path) -> int:
    """Writes main.html, vdisk-<id>.html and oplog_flush_stats.html; exit code 0 if all could be saved, else 1."""
    try:
        pages = fetch(client, vdisks)
    except PageError as error:
        print(f"{client.url}: {printable(error.text)}.\n\n{ADVICE}", file=sys.stderr)
        return 1
    sanitiser = Sanitiser()
    sanitiser.learn(pages.main)
    clean = {name: sanitiser.clean(body) for name, body in pages.bodies.items()}
    problems = dict(pages.problems)
    for name, body in clean.items():
        if left := sanitiser.leftovers(body):
            problems[name] = f"not saved: cannot replace {len(left)} names or addresses"
    if numbers(read_main_page(clean[MAIN])) != numbers(pages.main):
        problems[MAIN] = "not saved: the copy would show other numbers"
    for vdisk in pages.vdisks:
        if read_vdisk_page(clean[vdisk]).vdisks != read_vdisk_page(pages.bodies[vdisk]).vdisks:
            problems[vdisk] = "not saved: the copy would show other numbers"
    folder.mkdir(parents=True, exist_ok=True)
    for name, body in clean.items():
        if name not in problems:
            path = folder / f"{name if name in (MAIN, OPLOG) else f'vdisk-{name}'}.html"
            path.write_bytes(body)
            print(f"{path}: {len(body)} bytes")
    print(f"Replaced: {', '.join(f'{count} {kind}' for kind, count in sanitiser.replaced.items())}.")
    print(
        "Unchanged: ids, versions, times, all numbers, and texts in unknown places."
        " Look through the files before you share them."
    )
    for name, problem in problems.items():
        print(printable(f"Page {name}: {problem}"), file=sys.stderr)
    return 1 if problems else 0
