"""Rounds of every simulated fault: plays them, has the product's rules judge them, and two peers rank them."""

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from attribution_rounds import AROUND, EXPECTED, Round, judge, play
from attribution_series import CHECKOUT, Tape
from attribution_table import Judged, insert, plain, tables

_AT_ONCE = 80
"""Rounds that are played side by side."""


def main() -> None:
    """Plays, judges and prints."""
    parser = argparse.ArgumentParser(prog="attribution", description=(__doc__ or "").strip())
    parser.add_argument("--rounds", type=int, default=20, help="of each scene (20)")
    parser.add_argument("--promtool", default="promtool")
    parser.add_argument("--peers", help="a Python that has fse-baro and scipy; without, peers are left out")
    parser.add_argument("--document", type=Path, help="the page whose section `simulated` is written")
    arguments = parser.parse_args()
    planned = [(scene, number) for number, scene in enumerate(list(EXPECTED) * arguments.rounds, 1)]
    judged: list[Judged] = []
    for begin in range(0, len(planned), _AT_ONCE):
        scenes = planned[begin : begin + _AT_ONCE]
        with tempfile.TemporaryDirectory(prefix="attribution-") as name:
            folder = Path(name)
            tape = play(scenes, folder)
            rounds = judge(tape, scenes, folder, arguments.promtool)
            ranked = rank(tape, rounds, folder, arguments.peers) if arguments.peers else {}
        judged += [conclude(one, ranked.get(one.name, {})) for one in rounds]
        print(f"{len(judged)} of {len(planned)} rounds", file=sys.stderr, flush=True)
    for one in judged:
        if one.ours != one.expected or one.wrong:
            print(f"not right: {one}", file=sys.stderr)
    told = f"{arguments.rounds} rounds of each scene, seeds 1 to {len(planned)}."
    text = tables(sorted(judged, key=lambda one: list(EXPECTED).index(one.fault)), told)
    print(plain(text))
    if arguments.document:
        insert(arguments.document, "simulated", text)


def conclude(one: Round, peers: dict[str, str]) -> Judged:
    """What is told of a round."""
    named: dict[str, int] = {}
    for second, layer in one.verdicts.items():
        if one.begin <= second < one.end + AROUND or one.expected == "none":
            named[layer] = named.get(layer, 0) + 1
    right = [second for second, layer in one.verdicts.items() if layer == one.expected and second >= one.begin]
    delay = min(right) - one.begin if right else None
    return Judged(one.fault, one.expected, named, delay, len(one.slow), notes=f"{one.name}: {one.notes}", **peers)


def rank(tape: Tape, rounds: list[Round], folder: Path, python: str) -> dict[str, dict[str, str]]:
    """The layers that the peers put first, by round."""
    path = folder / "rounds.jsonl"
    with path.open("w") as file:
        for one in rounds:
            span = {key: value for key, value in asdict(one).items() if key in ("name", "begin", "end")}
            file.write(json.dumps({**span, "series": tape.of(one.name)}) + "\n")
    peers: list[str | Path] = [python, CHECKOUT / "scripts" / "experiments" / "attribution_peers.py", path]
    said = subprocess.run(peers, stdout=subprocess.PIPE, text=True, check=True).stdout
    found = [json.loads(line) for line in said.splitlines()]
    return {one["name"]: {"ks": one["ks"], "baro": one["baro"]} for one in found}


if __name__ == "__main__":
    main()
