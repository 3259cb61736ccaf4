"""URLs: text of unknown quality goes in, canonical http(s) URLs come out, or nothing.

An href passes through three hands: `whatwg` parses and joins it exactly as a browser would, `canon`
strips what does not change the page (fragment, tracking, session ids, order of parameters), and `names`
reads hosts, registrable domains, tokens and 64-bit keys off the result. The invariant: `canonical` is
idempotent, so two canonical URLs are the same page exactly when their text is equal, and everything else
in clew may compare, hash and slice them as plain strings.
"""

from clew.url.canon import DEFAULT, PLAIN, Canon, canonical
from clew.url.many import canonical_many
from clew.url.names import host, is_ip, key, keys, origin, registrable, site, slot, tokens
from clew.url.whatwg import Joiner, resolve, to_ascii

__all__ = [
    "DEFAULT",
    "PLAIN",
    "Canon",
    "Joiner",
    "canonical",
    "canonical_many",
    "host",
    "is_ip",
    "key",
    "keys",
    "origin",
    "registrable",
    "resolve",
    "site",
    "slot",
    "to_ascii",
    "tokens",
]
