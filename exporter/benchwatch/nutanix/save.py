"""`benchwatch nutanix save`: a sanitised copy of a CVM's pages, to look through and share."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from ..values.errors import FAILED, UserError
from ..values.printable import say
from .client import Client
from .fetch import MAIN, OPLOG, fetch
from .pages.main_page import read_main_page
from .pages.vdisk_page import read_vdisk_page
from .sanitise import Sanitiser, numbers


def save(client: Client, vdisks: Sequence[str] | None, folder: Path) -> int:
    """Write main.html, vdisk-<id>.html and oplog_flush_stats.html; the exit code is 0 if all could be saved, else 1.

    Raises UserError if the main page cannot be read, a file already exists, or the folder cannot be written to.
    """
    pages = fetch(client, vdisks)
    sanitiser = Sanitiser()
    sanitiser.learn(pages.main)
    clean = {name: sanitiser.clean(body) for name, body in pages.bodies.items()}
    problems = dict(pages.problems)
    for name, body in clean.items():
        if left := sanitiser.leftovers(body):
            problems[name] = f"not saved: cannot replace {len(left)} names or addresses"
    different = [vdisk for vdisk, page in pages.vdisks.items() if read_vdisk_page(clean[vdisk]).vdisks != page.vdisks]
    if numbers(read_main_page(clean[MAIN])) != numbers(pages.main):
        different.append(MAIN)
    problems |= dict.fromkeys(different, "not saved: the copy would show other numbers")
    files = {MAIN: f"{MAIN}.html", OPLOG: f"{OPLOG}.html"}
    for number, vdisk in enumerate(pages.vdisks, 1):  # a page without ids has names only, which the copy must not show
        files[vdisk] = f"vdisk-{vdisk if vdisk.isdecimal() else number}.html"
    _write({folder / files[name]: body for name, body in clean.items() if name not in problems})
    print(f"Replaced: {', '.join(f'{count} {kind}' for kind, count in sanitiser.replaced.items())}.")
    print(
        "Not replaced: ids, versions, times, all numbers, and text in unknown places."
        " Review the files before you share them."
    )
    for name, problem in problems.items():
        say(f"page {name}: {problem}")
    return 1 if problems else 0


def _write(files: Mapping[Path, bytes]) -> None:
    """Write all of the files, or none if one exists."""
    for path in files:
        if os.path.lexists(path):
            raise UserError(f"{path} already exists: choose another folder with --output; nothing was written")
    for path, body in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                file.write(body)
        except OSError as error:
            raise UserError(f"--output: {path} cannot be written: {error.strerror}", FAILED) from error
        print(f"{path}: {len(body)} bytes")
