"""What pyproject.toml cannot say: a compiled part, left out where there is no compiler."""

from setuptools import Extension, setup

setup(ext_modules=[Extension("clew.native._fast", ["src/clew/native/_fast.c"], optional=True)])
