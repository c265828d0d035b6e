"""A heatmap as a PNG image of 256 colours in a data URL (https://www.w3.org/TR/png/); colour 0 is transparent.

The other colours go from pale to strong with the logarithm of the count, so that they work on light and dark pages.
"""

import base64
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .time_lines import Array

_STOPS = np.array(
    [(0.24, 0.53, 0.86, 0.22), (0.29, 0.44, 0.84, 0.75), (0.74, 0.30, 0.62, 0.95), (0.96, 0.53, 0.22, 1.0)]
)
"""Red, green, blue and opacity, at equal distances."""
_WIDE, _HIGH = 720, 160
"""Pixels; each shows the count at its middle."""


def _palette() -> NDArray[np.uint8]:
    places = np.linspace(0, len(_STOPS) - 1, 255)
    colours = np.stack([np.interp(places, range(len(_STOPS)), channel) for channel in _STOPS.T], axis=1)
    return np.concatenate((np.zeros((1, 4)), 255 * colours)).round().astype(np.uint8)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


_COLOURS = _chunk(b"PLTE", _palette()[:, :3].tobytes()) + _chunk(b"tRNS", _palette()[:, 3].tobytes())


def _png(pixels: NDArray[np.uint8]) -> str:
    rows = np.zeros((pixels.shape[0], pixels.shape[1] + 1), np.uint8)
    rows[:, 1:] = pixels
    head = struct.pack(">IIBBBBB", pixels.shape[1], pixels.shape[0], 8, 3, 0, 0, 0)
    content = _chunk(b"IDAT", zlib.compress(rows.tobytes(), 1)) + _chunk(b"IEND", b"")
    image = b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _COLOURS + content
    return "data:image/png;base64," + base64.b64encode(image).decode()


BAR = _png(np.arange(255, 0, -1).astype(np.uint8)[:, np.newaxis])
"""All colours, the strong ones at the top."""


def heat(edges: Array, bounds: Array, counts: NDArray[Any], least: float, most: float) -> str:
    """Counts of shape (rows, columns) as an image: `edges` of the columns and `bounds` of the rows are parts of its
    width and height, ascending; rows begin at the bottom."""
    across, up = (np.arange(size) / size + 0.5 / size for size in (_WIDE, _HIGH))
    columns, rows = (np.searchsorted(borders, at) - 1 for borders, at in ((edges, across), (bounds, up[::-1])))
    with np.errstate(divide="ignore"):
        strength = np.log(counts / least) / np.log(most / least)
    colours = np.where(counts > 0, 1 + np.clip(254 * strength, 0, 254), 0).astype(np.uint8)
    inside = (columns >= 0) & (columns < counts.shape[1])
    pixels = colours[np.clip(rows, 0, counts.shape[0] - 1)][:, np.clip(columns, 0, counts.shape[1] - 1)]
    return _png(np.where(inside, pixels, 0).astype(np.uint8))
