"""Set-up of the comparison with other packages. Without the binary there is nothing to compare."""
import warnings

import pytest
import sklearn

import fuseval_cli


def pytest_configure(config):
    """Peers warn about degenerate draws, which are there on purpose."""
    warnings.simplefilter("ignore")
    sklearn.set_config(assume_finite=True, skip_parameter_validation=True)  # halves the time of its calls
    config.addinivalue_line("filterwarnings", "ignore")


def pytest_sessionstart():
    """Says at once what is missing."""
    if not fuseval_cli.BINARY.exists():
        pytest.exit(f"{fuseval_cli.BINARY} is not there: run `make build`, or set FUSEVAL", returncode=1)
