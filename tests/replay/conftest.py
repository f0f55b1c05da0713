"""The scripted worker of tests/fixtures/bags.py as a fixture."""

import pytest

from tests.fixtures.bags import Workers


@pytest.fixture
def workers():
    return Workers()
