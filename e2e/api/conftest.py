"""What all tests share."""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parent))


@pytest.fixture(scope="session")
def work():
    """The folder for everything that servers write and that a person may want to look at afterwards."""
    folder = os.environ["E2E_WORK"]
    os.makedirs(folder, exist_ok=True)
    return folder


def pytest_report_header():
    import test_schemathesis
    return [f"program: {os.environ['PORTCULLIS']}",
            f"schemathesis: seed {test_schemathesis.SEED}, {test_schemathesis.EXAMPLES} examples an operation"]
