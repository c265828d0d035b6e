import pytest

from benchwatch.values.addresses import is_loopback
from tests.support.serving import NETWORK


@pytest.fixture
def network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Has the server take NETWORK for an address that others reach."""
    monkeypatch.setattr("benchwatch.server.listen.is_loopback", lambda host: host != NETWORK and is_loopback(host))
