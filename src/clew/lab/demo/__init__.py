"""The demo web: a plan of hosts, pages and links is drawn from a seed, and pages are written on demand.

`dice` fall the same everywhere; `plan` and `links` decide what there is; `prose`, `render` and `extras`
write it; `web` answers requests. The invariant: a page is a function of the seed and its URL alone, so
that two processes, or one process twice, see the same web to the byte.
"""

from clew.lab.demo.web import DemoWeb

__all__ = ["DemoWeb"]
