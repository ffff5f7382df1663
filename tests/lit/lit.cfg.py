# The lit suite: text, verifiers and passes of the dialect, one file an op or a transformation.
import os

import lit.formats

config.name = "torchere"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.dirname(__file__)

# FileCheck and `not` of the LLVM that the tools are built on, whatever else is installed.
config.environment["PATH"] = os.pathsep.join(
    [config.torchere_tools, config.llvm_tools, config.environment.get("PATH", "")]
)
