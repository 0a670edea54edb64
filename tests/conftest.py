"""Settings that every test runs under."""

import os

# Before anything imports matplotlib; inherited by the processes that tests start.
os.environ["MPLBACKEND"] = "Agg"

import pytest
from hypothesis import settings

# No deadline, because a first call compiles; derandomized, so that a failure comes again.
settings.register_profile("dev", max_examples=25, deadline=None, derandomize=True)
settings.register_profile("ci", max_examples=50, deadline=None, derandomize=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the compilation cache of the command line out of the user's, and share it among these tests."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
