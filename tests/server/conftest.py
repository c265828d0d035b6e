import pytest

from tests.support.serving import NETWORK


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the server take NETWORK for an address that others reach."""
    for module in ("connections", "listen"):
        monkeypatch.setattr(f"benchwatch.server.{module}.is_loopback", lambda address: address != NETWORK)
