"""A suite's set-up: the launcher as a pytest plugin, and a client of every test's cluster."""

import pathlib
import sys

import pytest
from kubernetes import config

# The folder of terrarium.py. Your own project has it beside its tests.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

pytest_plugins = ["terrarium"]


@pytest.fixture
def api_client(terrarium):
    with config.new_client_from_config(terrarium.kubeconfig) as client:
        yield client
