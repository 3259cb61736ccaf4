"""What pyproject.toml cannot say: a compiled part, left out where there is no compiler."""

from setuptools import Extension, setup

NAMES = ("_fast", "_look", "_rows", "_sparse")

setup(ext_modules=[Extension(f"clew.native.{n}", [f"src/clew/native/{n}.c"], optional=True) for n in NAMES])
