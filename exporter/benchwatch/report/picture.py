"""A picture of 1200 x 630 pixels (PNG), the size of previews in posts: title, main figures and one plot.

It is a page of its own, which a Chromium without a window photographs; it is always light.
"""

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from ..plots import theme
from ..plots.figure import encoded
from ..plots.plot import Plot
from ..plots.section import Section, rendered
from ..values.errors import ConfigError
from ..values.printable import in_html
from ..values.version import VERSION
from .page import document

_WIDTH, _HEIGHT = 1200, 630
_CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
_PLOT, _ALONE = 350, 430
"""Height of the plot, pixels: below tiles, and without any."""
_PATIENCE = 60
"""Seconds that Chromium may take."""
_STYLE = f"""
:root{{color-scheme:light}}body{{width:{_WIDTH}px;height:{_HEIGHT}px;overflow:hidden;background:var(--card);
padding:34px 48px 20px;display:flex;flex-direction:column}}
body>*{{padding:0!important;max-width:none;margin:0;width:100%}}
h1{{font-size:34px;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}}h2,h3,figcaption{{display:none}}
header p{{max-width:none;font-size:18px;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}}
.tiles{{display:flex;gap:20px;margin:10px 0 0}}.tiles div{{border:0;padding:0;flex:1 1 0;min-width:0}}
.tiles dt,.tiles dd{{overflow:hidden;text-overflow:ellipsis;white-space:nowrap}}.tiles dt{{font-size:17px}}
.tiles dd{{font-size:27px}}.tiles dd small{{display:block;font-size:17px;font-weight:400}}
figure{{border:0;padding:0;margin:0}}main{{flex:1;font-size:18px;min-height:0}}.modebar-container{{display:none}}footer{{font-size:15px}}
"""


class Tile(NamedTuple):
    """A main figure: its name, its value, and a smaller line below."""

    name: str
    value: str
    more: str = ""
    colour: str = theme.SOFT


def picture(title: str, summary: str, tiles: Sequence[Tile], plot: Plot | None) -> bytes:
    """The picture, a PNG file. Raises ConfigError without a Chromium, or if that makes none in time."""
    shown = "".join(
        f'<div><dt style="color:{theme.variable(tile.colour)}">{in_html(tile.name)}</dt>'
        f"<dd>{in_html(tile.value)}<small>{in_html(tile.more)}</small></dd></div>"
        for tile in tiles
    )
    header = f'<h1>{in_html(title)}</h1><p class="soft">{in_html(summary)}</p><dl class="tiles">{shown}</dl>'
    main = (
        rendered(Section("", [plot._replace(source=encoded(plot, _PLOT if tiles else _ALONE))]))
        if plot
        else "<p>no reports while it ran</p>"
    )
    return photographed(document(title, header, main, f"benchwatch {VERSION}", _STYLE))


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
