"""What pyproject.toml cannot say: a compiled part, left out where there is no compiler."""

import sys

from setuptools import Extension, setup

NAMES = ("_elementary", "_fast", "_look", "_rows", "_sparse")
#: A product and a sum fused into one operation are rounded once, not twice: other bits than without.
FLAGS = [] if sys.platform == "win32" else ["-ffp-contract=off"]

setup(
    ext_modules=[
        Extension(f"clew.native.{n}", [f"src/clew/native/{n}.c"], extra_compile_args=FLAGS, optional=True)
        for n in NAMES
    ]
)
