"""`python -m torchere` is the command `torchere`."""

import sys

from torchere.command_line import main

sys.exit(main())
