"""The one place that knows the parser library (turbohtml): markup and bytes in, plain data out.

`read` takes HTML apart, `read_xml` feeds and other XML, `plain` a scrap of markup; the rest guess charsets
and languages. Nothing of the library's own types leaves this package; every walk is linear in the document
and without recursion.
"""

from clew.parse.html.detect import charset_name, decode, detect_charset, detect_language
from clew.parse.html.document import Found, plain, read
from clew.parse.html.xml import Entry, Feed, read_xml

__all__ = [
    "Entry",
    "Feed",
    "Found",
    "charset_name",
    "decode",
    "detect_charset",
    "detect_language",
    "plain",
    "read",
    "read_xml",
]
