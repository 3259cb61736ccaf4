"""Every test that takes `loops` runs twice: with the compiled part, and with its twins."""

import pytest

from clew import native
from clew.native import pure

try:
    from clew.native import _compiled as compiled
except ImportError:
    compiled = None


@pytest.fixture(scope="module", params=["pure", "compiled"])
def loops(request):
    """The functions in use: all of clew calls these for as long as a test runs."""
    module = pure if request.param == "pure" else compiled
    if module is None:
        pytest.skip("not compiled here: there was no compiler when clew was installed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(native, "_loops", module)
        for name in ("best", "flat", "sketch", "exp_of", "log_of", "log1p_of", "tanh_of"):
            patch.setattr(native, name, getattr(module, name))
        yield module
