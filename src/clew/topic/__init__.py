"""Topics: what they are, how they lie in a tree, and how far a text is about one.

Pages and links come in, degrees between 0 and 1 go out. A topic's model is plain numbers and stands alone;
nothing here trains, reads a file or asks a host (that is `clew.training`). The invariant: a degree depends
on the model and the text, to the last bit, and on nothing else.
"""

from clew.topic.library import TopicLibrary
from clew.topic.model import KINDS, HeldOut, TopicModel
from clew.topic.scorer import TopicScorers
from clew.topic.taxonomy import ANY, Example, Taxonomy, topic_path

__all__ = [
    "ANY",
    "KINDS",
    "Example",
    "HeldOut",
    "Taxonomy",
    "TopicLibrary",
    "TopicModel",
    "TopicScorers",
    "topic_path",
]
