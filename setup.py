"""What pyproject.toml cannot say: a compiled part, left out where there is no compiler."""

import sys
from glob import glob

from setuptools import Extension, setup

#: A product and a sum fused into one operation are rounded once, not twice: other bits than without.
FLAGS = [] if sys.platform == "win32" else ["-ffp-contract=off"]

setup(
    ext_modules=[
        Extension(
            "clew.native._compiled",
            sorted(glob("src/clew/native/*.c")),
            depends=glob("src/clew/native/*.h"),
            extra_compile_args=FLAGS,
            optional=True,
        )
    ]
)
