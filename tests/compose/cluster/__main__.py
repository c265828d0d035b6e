"""Proves compose.scale.yaml and compose.agent.yaml with the real programs and 40 simulated VMs, without Docker.

    .venv/bin/python -m tests.compose.cluster [--short] [--rules | --receiver mimir|thanos] --programs FOLDER

FOLDER contains vmstorage, vminsert, vmselect, vmalert, vmauth, vmagent and, for the rules' tests, vmalert-tool, of the
version in .env, from the archives victoria-metrics-linux-*-cluster.tar.gz and vmutils-linux-*.tar.gz of
VictoriaMetrics' releases (`-prod` at the end of the names can stay). The short form takes three minutes with 8 VMs, the
long one 20 minutes with 40. --receiver needs vmagent and mimir or thanos in FOLDER.

Two agents send what two exporters and node_exporter say, each through a network that can be cut, to the cluster and,
uncut, to a plain Prometheus that evaluates the same rules. Prometheus sends all it has on to tenant 1 of the cluster:
tenant 1 and Prometheus have the very same samples, and their answers differ by the language only. What is recorded in
tenant 0 is vmalert's.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from demo_processes import Failure
from tests.compose.cluster import checks, others, rules
from tests.compose.cluster.lab import FULL, SHORT, Lab
from tests.compose.cluster.stack import PROGRAMS, find


def main() -> int:
    """The command. The exit code is 1 if a check failed."""
    parser = argparse.ArgumentParser(prog="tests.compose.cluster", description=__doc__.partition("\n\n")[0])
    short = "8 VMs, an interruption of 8 s, one killed store, no refusing receivers: three minutes"
    parser.add_argument("--short", dest="form", action="store_const", const=SHORT, default=FULL, help=short)
    parser.add_argument("--vms", type=int, help=f"simulated VMs (default: {FULL.vms}; short: {SHORT.vms})")
    parser.add_argument(
        "--cut",
        type=int,
        metavar="SECONDS",
        help=f"length of an interruption (default: {FULL.cut}; short: {SHORT.cut})",
    )
    parser.add_argument("--programs", type=Path, required=True, help="folder of VictoriaMetrics' programs")
    parser.add_argument("--keep", action="store_true", help="keep the folder with logs and data")
    rules = "instead, run the rules' tests with vmalert-tool and print what it says (minutes for each file)"
    parser.add_argument("--rules", action="store_true", help=rules)
    other = "instead, try this store with the settings of docs/scale.md; its program is in FOLDER too"
    parser.add_argument("--receiver", choices=others.OTHERS, help=other)
    options = parser.parse_args()
    if options.rules:
        return _rules(parser, find(options.programs, "vmalert-tool"))
    needed = (options.receiver, "vmagent") if options.receiver else PROGRAMS
    missing = [name for name in needed if not find(options.programs, name)]
    if missing:
        parser.error(f"--programs: {options.programs} lacks {', '.join(missing)}")
    given = {name: value for name in ("vms", "cut") if (value := getattr(options, name)) is not None}
    folder = Path(tempfile.mkdtemp(prefix="benchwatch-scale-"))
    lab = Lab(folder, options.programs.resolve(), options.form._replace(**given))
    try:
        if options.receiver:
            others.run(lab, options.receiver, options.programs.resolve())
        else:
            checks.run(lab)
    except Failure as failure:
        print(f"cluster: {failure}", file=sys.stderr)
        lab.failed.append("the test itself")
    finally:
        lab.stack.end()
        if options.keep or lab.failed:
            print(f"     logs and data: {folder}")
        else:
            shutil.rmtree(folder)
    print(f"cluster: {len(lab.failed)} checks failed" if lab.failed else "cluster: passed")
    return 1 if lab.failed else 0


def _rules(parser: argparse.ArgumentParser, program: Path | None) -> int:
    if not program:
        parser.error("--programs: vmalert-tool was not found there")
    with tempfile.TemporaryDirectory() as folder:
        said = rules.run(program.resolve(), Path(folder))
    for name, text in said.items():
        print(f"{'ok  ' if 'FAILED' not in text and 'SUCCESS' in text else 'FAIL'} {name}")
        print("" if "SUCCESS" in text else text)
    return 0 if all("SUCCESS" in text for text in said.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
