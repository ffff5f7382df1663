"""What the tests of the op table need around them."""

import logging
import sys
from pathlib import Path

import torch  # noqa: F401 - sets up the logger below

# The modules beside the tests import each other by name.
sys.path.insert(0, str(Path(__file__).parent))

# torch writes a trace of an export to this logger while it has handlers. pytest gives handlers of its own to
# loggers that do not propagate, which makes an export three times as slow.
logging.getLogger("torch.__trace").propagate = True
