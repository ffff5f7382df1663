"""What the tests of the op table need around them."""

import sys
from pathlib import Path

# The modules beside the tests import each other by name.
sys.path.insert(0, str(Path(__file__).parent))
