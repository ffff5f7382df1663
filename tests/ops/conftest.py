"""What the tests of the op table need around them."""

import logging
import sys
from pathlib import Path

# The modules beside the tests import each other by name.
sys.path.insert(0, str(Path(__file__).parent))

# pytest would collect every record of torch's trace of an export, at three times the cost.
logging.getLogger("torch.__trace").propagate = False
