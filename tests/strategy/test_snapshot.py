"""What a crawl has learned is put into words where it is stored, as it was when it was handed over."""

from clew.engine import Crawl, CrawlRules
from clew.knowledge import loads
from clew.messages import Learned
from clew.policy import Scope
from clew.predicate import compile as compile_predicate
from clew.strategy import Intelligent


def test_intelligent_gives_its_state_as_of_the_call():
    strategy = Intelligent()
    strategy.knowledge.pages = 7.0
    before, text = strategy.state(), strategy.snapshot()
    strategy.knowledge.pages = 8.0
    assert text() == before != strategy.state()


def test_a_checkpoint_hands_over_what_was_known_then():
    strategy = Intelligent()
    crawl = Crawl(compile_predicate("wind"), strategy, CrawlRules(scope=Scope()), str)
    strategy.knowledge.pages = 7.0
    (effect,) = crawl.drain()
    strategy.knowledge.pages = 8.0
    assert isinstance(effect, Learned)
    assert loads(effect.text).pages == 7.0
    assert Learned("plain").text == "plain"
