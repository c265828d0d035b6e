"""Runs with known figures, in the formats of pgbench 15 and of `benchwatch run`."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

START = 1_790_000_000
Floats = NDArray[np.float64]


def summary(tps: float, seconds: int = 60, latency: float = 0.16, clients: int = 10, **more: str) -> str:
    """What pgbench prints at the end."""
    failed = int(more.get("failed", 0))
    done = round(tps * seconds)
    skipped = f"number of transactions skipped: {more['skipped']} (0.000%)\n" if "skipped" in more else ""
    lag = f"rate limit schedule lag: avg {more['lag']} (max 9.000) ms\n" if "lag" in more else ""
    return (
        f"pgbench ({more.get('version', '15.18')})\n"
        f"transaction type: {more.get('script', '<builtin: select only>')}\n"
        f"scaling factor: {more.get('scale', 100)}\n"
        "query mode: simple\n"
        f"number of clients: {clients}\n"
        f"number of threads: {clients}\n"
        "maximum number of tries: 1\n"
        f"duration: {seconds} s\n"
        f"number of transactions actually processed: {done}\n"
        f"number of failed transactions: {failed} ({100 * failed / (done + failed):.3f}%)\n{skipped}"
        f"latency average = {latency:.3f} ms\n{lag}"
        f"initial connection time = {more.get('connection', '20.000')} ms\n"
        f"tps = {tps:.6f} (without initial connection time)\n"
    )


def progress(tps: Sequence[float] | Floats, latency: float = 0.16, lag: str = "") -> str:
    """A line a second, with -P 1 --progress-timestamp."""
    added = f", lag {lag} ms" if lag else ""
    return "".join(
        f"progress: {START + second}.000 s, {rate:.1f} tps, lat {latency if rate else 0:.3f} ms stddev 0.010, "
        f"0 failed{added}\n"
        for second, rate in enumerate(tps, 1)
    )


def place(folder: Path, tps: Sequence[float] | Floats | float, *, record: str = "", **more: object) -> Path:
    """A run of one worker: with one number its final report alone, with several their progress lines too."""
    folder.mkdir(parents=True)
    rates = np.atleast_1d(np.asarray(tps, dtype=np.float64))
    if len(rates) > 1:
        latency = float(str(more.get("latency", 0.16)))
        (folder / "db.err").write_text(progress(rates, latency, str(more.get("lag", ""))))
        more["seconds"] = len(rates)
    (folder / "db.out").write_text(summary(float(rates.mean()), **more))  # type: ignore[arg-type]
    if record:
        (folder / "run.yaml").write_text(record)
    return folder


def autoregressive(seed: int, size: int, mean: float, correlation: float = 0.0, deviation: float = 0.1) -> Floats:
    """A stationary AR(1) series: `deviation` is the standard deviation over the mean, `correlation` that of neighbours.

    Its integrated autocorrelation time is (1 + correlation) / (1 - correlation).
    """
    noise = np.random.default_rng(seed).normal(size=size) * np.sqrt(1 - correlation**2)
    noise[0] /= np.sqrt(1 - correlation**2)
    for place in range(1, size):
        noise[place] += correlation * noise[place - 1]
    return np.asarray(mean * (1 + deviation * noise))
