"""The web side: landing page, metrics, health, pushes; TLS and users by a web configuration file."""

from .app import Scrapes, make_app
from .connections import Doors
from .model import Board, CvmView, WorkerView
from .server import listen_address, serve
from .webconfig import WebConfig, load_web_config

__all__ = [
    "Board",
    "CvmView",
    "Doors",
    "Scrapes",
    "WebConfig",
    "WorkerView",
    "listen_address",
    "load_web_config",
    "make_app",
    "serve",
]
