"""The verdict as `watch` and the report say it, beside the alert's own, from the same rules at the same time."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from benchwatch.values.verdict import answered, question
from tests.support.programs import GROUPS, RULE_FILES, program

from .test_layers import AFTER, CASES, DURING, FAULT, USUAL, Course, machine

AWAIT = (0.0008, 0.0424)
"""53 times, not 52.5."""
UNPOLLED = FAULT[0] + 4
"""Before the next poll of the CVM, when averages of 3 s move no longer: the alert is evaluated before the layers."""
SAID = {
    UNPOLLED: {
        "the way to the vdisk": "log device sdb 42.4 ms, 53x its usual.",
        "a full oplog": "log device sdb 42.4 ms, 53x its usual.",
        "processors": "server CPU: busy.",
    },
    DURING: {
        "the way to the vdisk": "log device sdb 42.4 ms, 53x its usual; vdisk 40043 as usual: guest or network path.",
        "a full oplog": "log device sdb 42.4 ms, 53x its usual; vdisk 40043 57x its usual: oplog.",
        "a vdisk": "front end: 40043 57x its usual.",
        "processors": "server CPU: busy.",
        "slow for no reason that is seen": "No layer stands out.",
        "a log device without a CVM": (
            "No layer can be judged: nothing is measured below the benchmark, or not for long enough."
        ),
    },
}
"""At these seconds of these cases."""
UNMEASURED = {"a vdisk": r"node_disk_|benchwatch_run_disk_info", "a log device without a CVM": r"node_|pg_"}
"""Series that are not there, though the case has them."""
LABEL = r'(\w+)="((?:[^"\\]|\\.)*)"'


def labels(text: str) -> dict[str, str]:
    return {name: json.loads(f'"{value}"') for name, value in re.findall(LABEL, text)}


def fault(name: str) -> dict[str, Course]:
    now = {**USUAL, **CASES[name][1]}
    return now if now["log_await"] == USUAL["log_await"] else {**now, "log_await": AWAIT}


@pytest.mark.slow(10)
def test_the_sentence_is_that_of_the_alert_and_there_is_none_once_the_run_is_as_usual(tmp_path: Path) -> None:
    """promtool is told to expect nothing, and prints what there is."""
    loads = [
        one
        for name in SAID[DURING]
        for one in machine(name, fault(name), CASES[name][2])
        if name not in UNMEASURED or not re.match(UNMEASURED[name], one["series"])
    ]
    asked = [{"expr": question(35), "eval_time": f"{second}s"} for second in (*SAID, AFTER)]
    alerts = [{"alertname": "LatencySpike", "eval_time": f"{second}s"} for second in SAID]
    content = {
        "rule_files": [*map(str, RULE_FILES)],
        "evaluation_interval": "1s",
        "group_eval_order": list(GROUPS),
        "tests": [{"interval": "1s", "input_series": loads, "promql_expr_test": asked, "alert_rule_test": alerts}],
    }
    path = tmp_path / "test.yml"
    path.write_text(json.dumps(content))
    finished = subprocess.run(
        [program("promtool"), "test", "rules", path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    by_time = [
        [labels(found) for found in re.findall(r"(?:Labels|Annotations):\{(.*)\}", part)]
        for part in finished.stdout.split("alertname: ")[1:]
    ]
    answers = re.findall(r"exp: nil\s+got: (.*)", finished.stdout)
    assert len(by_time) == len(answers) == len(SAID), finished.stdout
    for printed, answer, said in zip(by_time, answers, SAID.values(), strict=True):
        verdicts = {
            labelled["run"]: annotated["verdict"]
            for labelled, annotated in zip(printed[::2], printed[1::2], strict=True)
        }
        found = re.findall(rf"\{{((?:{LABEL}(?:, )?)+)\}} ([^ ,]+)", answer)
        known = answered((labels(one[0]), float(one[-1])) for one in found)
        assert {name: evidence.sentence() for name, evidence in known.items() if name in said} == said
        moved = {name: ", ".join(evidence.moved_most()) for name, evidence in known.items()}
        whole = {
            name: f"{evidence.sentence()}{f' Moved most: {moved[name]}.' if moved[name] else ''}"
            for name, evidence in known.items()
        }
        assert whole == verdicts
