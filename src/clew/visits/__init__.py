"""People's logs: lines of proxies, servers and browsers go in, visits come out.

A *visit* is (time, person, page): the person a keyed hash from the first moment (`privacy`), the page a
canonical URL without what is personal in it. `formats` and `histories` read logs, `importing` takes them into
a database, `people` says who of them is a person, and `reading` hands the arrays of a `VisitLog` to the pure
part. Invariants: no address, user name or agent is ever written; every line of a log is counted once, as a
visit or with the reason why it is none; of a page that fewer than k people saw, nothing leaves.
"""

from clew.visits.database import VisitsDatabase
from clew.visits.importing import ImportSettings, import_log
from clew.visits.people import PersonLimits
from clew.visits.privacy import Secret
from clew.visits.reading import read_visits

__all__ = ["ImportSettings", "PersonLimits", "Secret", "VisitsDatabase", "import_log", "read_visits"]
