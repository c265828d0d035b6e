"""A picture of 1200 x 630 pixels (PNG), the size of previews in posts: what came out, and one plot.

It is a page of its own, which a Chromium without a window photographs; it is always light.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from ..plots.plot import Plot
from ..plots.section import Section, rendered
from ..values.errors import ConfigError
from ..values.version import VERSION
from .page import document, opening

_WIDTH, _HEIGHT = 1200, 630
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_PLOT, _LINE = 440, 34
"""Height of the plot below a single line, and of each further line, pixels."""
_PATIENCE = 60
"""Seconds that Chromium may take."""
_STYLE = f"""
:root{{color-scheme:light}}body{{width:{_WIDTH}px;height:{_HEIGHT}px;overflow:hidden;background:var(--card);
padding:34px 48px 20px;display:flex;flex-direction:column}}
body>*{{padding:0!important;max-width:none;margin:0;width:100%}}
h1{{font-size:28px;max-height:68px;overflow:hidden}}h2,h3,figcaption{{display:none}}
header p{{max-width:none;font-size:18px;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}}
header .found{{font-size:22px;font-weight:400;margin:4px 0}}
figure{{border:0;padding:0;margin:0}}main{{flex:1;font-size:18px;min-height:0}}.modebar-container{{display:none}}footer{{font-size:15px}}
"""


def picture(title: str, lines: Sequence[str], plot: Plot | None) -> bytes:
    """The picture, a PNG file. Raises ConfigError without a Chromium, or if that makes none in time."""
    main = "<p>no reports while it ran</p>"
    if plot:
        height = _PLOT - _LINE * (len(lines) - 1)
        main = rendered(Section("", [plot._replace(height=height)]))
    return photographed(document(title, opening(title, lines), main, f"benchwatch {VERSION}", _STYLE))


def photographed(html: str, width: int = _WIDTH, height: int = _HEIGHT) -> bytes:
    """A picture of the beginning of a page, PNG. Raises ConfigError as `picture` does."""
    program = next((path for name in _CHROMIUM if (path := shutil.which(name))), None)
    if program is None:
        raise ConfigError("--png needs Chromium or Chrome: install the package chromium")
    with TemporaryDirectory() as folder:
        page, taken = Path(folder, "page.html"), Path(folder, "picture.png")
        page.write_bytes(html.encode(errors="replace"))
        command = [program, "--headless", "--disable-gpu", "--hide-scrollbars", "--disable-dev-shm-usage"]
        command += ["--no-sandbox"] * (os.geteuid() == 0)  # which Chromium refuses to root
        command += ["--no-first-run", "--blink-settings=preferredColorScheme=1", "--virtual-time-budget=20000"]
        command += [f"--user-data-dir={folder}/profile", f"--window-size={width},{height}"]
        command += [f"--screenshot={taken}", page.as_uri()]
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        ) as browser:
            try:
                browser.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                os.killpg(browser.pid, signal.SIGKILL)
        if not taken.is_file():
            raise ConfigError(f"--png: {program} made no picture within {_PATIENCE} s")
        return taken.read_bytes()
