"""For all Python tests: what they run is compiled unless they say otherwise; the user's cache is left be."""

import os

os.environ.setdefault("TORCHERE_CACHE", "0")
