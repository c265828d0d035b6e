"""How long a browser takes to show the overview of 500 runs anew, once the reader has searched, filtered or sorted.

    .venv/bin/python tests/benchmarks/overview.py [RUNS]

A real exporter with all of them in memory, a real Chromium on the same machine.
"""

import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))

from tests.support.browser import Browser
from tests.support.servers import Exporter

from demo_processes import Processes

_TIMES = 15
_VIEWS = ("?sort=throughput", "?q=pgbench+4", "?state=finished&sort=p99", "?tool=pgbench&page=3", "?")
_CHOOSE = """new Promise(done => {{
  const began = performance.now(), shown = document.getElementById("live");
  new MutationObserver((_, observer) => {{
    if (shown.isConnected) return;
    observer.disconnect();
    document.body.offsetHeight;
    done(performance.now() - began);
  }}).observe(document.querySelector("main"), {{childList: true}});
  history.replaceState(null, "", "{}");
  dispatchEvent(new PopStateEvent("popstate"));
}})"""


def main() -> None:
    """Makes the runs, and prints a line a view."""
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        begin = time.time() - 40_000
        for run in range(number):
            place = folder / "runs" / f"run{run}"
            place.mkdir(parents=True)
            lines = (
                f"progress: {begin + 70 * run + n:.3f} s, {100 + run + n % 7:.1f} tps, lat 2.{run:03} ms stddev 0.100\n"
                for n in range(1, 61)
            )
            (place / "db1.err").write_text("".join(lines))
            (place / "db1.yaml").write_text(f"{{end: {begin + 70 * run + 60}, exit_code: 0}}\n")
        (folder / "benchwatch.yaml").write_text(f"runs: {{keep: {number}}}\n")
        processes = Processes(folder, os.environ)
        browser = Browser(folder / "profile")
        try:
            Exporter.options = lambda _: [f"--config.file={folder / 'benchwatch.yaml'}"]  # type: ignore[method-assign]
            url = Exporter(processes, folder / "runs").url
            browser.open(url, "document.querySelector('th a')")
            for view in _VIEWS:
                found = [float(browser.value(_CHOOSE.format(view))) for _ in range(_TIMES)]
                print(f"{number} runs, {view:28} shown after {median(found):5.1f} ms (from {min(found):.1f})")
        finally:
            browser.close()
            processes.stop_all()


if __name__ == "__main__":
    main()
