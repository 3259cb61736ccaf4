"""Topics made of examples: documents come in from files, hosts, crawls and corpora, models go out.

A taxonomy is a folder (`folder`), examples come from many places (`sources`), `train` turns them into
models and says how well those do on examples they were not shown. Only `train` needs scikit-learn, which is
loaded when a model other than a keyword list is trained; whatever crawls reads the finished numbers
(`clew.topic`). The invariant: a topic is trained from its own examples and those of others as they are now,
and from nothing else; training one changes no other.
"""

from clew.training.folder import TaxonomyFolder, find_taxonomy, read_library

__all__ = ["TaxonomyFolder", "find_taxonomy", "read_library"]
