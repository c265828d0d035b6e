"""Writes the dashboards, one JSON file each, into the folder that is named."""

import argparse
import json
import warnings
from pathlib import Path

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # the SDK would rather have Grafana's newer, second format
    from grafana_foundation_sdk.cog.encoder import JSONEncoder

    from benchwatch.tools.registry import TOOLS

    from . import compare, density, exporter, fio, live, locality, nutanix, pgbench, phone, spike, tool
    from .board import Board, build
    from .sharing import shared

MADE = tuple(
    module.BOARD for module in (live, phone, pgbench, fio, nutanix, locality, density, compare, spike, exporter)
)
"""Those made by hand."""


def boards() -> list[Board]:
    """All of them: a tool that has none made by hand has the standard one."""
    uids = {made.uid for made in MADE}
    standard = map(tool.board, TOOLS)
    return [*MADE, *(board for board in standard if board.uid not in uids)]


def main() -> None:
    """Writes the files; those of dashboards that are no more are left to the user."""
    parser = argparse.ArgumentParser(prog="boards", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--import", action="store_true", dest="shared", help="as grafana.com and the page Import take them"
    )
    options = parser.parse_args()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    encoder = JSONEncoder(indent=2, sort_keys=True, ensure_ascii=False)
    for board in boards():
        name = board.uid.removeprefix("benchwatch-")
        text = encoder.encode(build(board))
        if options.shared:
            text = json.dumps(shared(json.loads(text)), indent=2, ensure_ascii=False)
        (folder / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
