"""The fetcher says where hosts live, and goes nowhere else afterwards."""

import pytest

from clew.errors import FetchError, Reason
from clew.fetch import HttpFetcher, HttpSettings, Request


def changing(*answers):
    """A look-up that gives the next answer each time."""
    left = list(answers)

    async def lookup(host):
        found = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(found, Exception):
            raise found
        return found

    return lookup


async def test_requests_go_where_the_last_look_up_said(serve, reply):
    server = await serve(reply(b"x"))
    settings = HttpSettings(allow_private=("127.0.0.1",), timeout=60.0, dns_ttl=3600.0)
    async with HttpFetcher(settings, lookup=changing(["127.0.0.1"], ["10.9.9.9"])) as fetcher:
        assert fetcher.locates
        assert await fetcher.locate("site.example") == ("127.0.0.1",)
        found = await fetcher.fetch(Request(server.url(host="site.example")))
        assert (found.status, found.address) == (200, "127.0.0.1")
        with pytest.raises(FetchError) as caught:
            await fetcher.locate("site.example")
        assert caught.value.reason is Reason.FORBIDDEN_ADDRESS


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (["10.0.0.1"], Reason.FORBIDDEN_ADDRESS),
        ([], Reason.DNS),
        (OSError("no such name"), Reason.DNS),
        (["8.8.8.8", "127.0.0.1"], Reason.FORBIDDEN_ADDRESS),
    ],
)
async def test_a_name_that_leads_nowhere_or_inwards_is_an_error_of_the_door(answer, reason):
    async with HttpFetcher(HttpSettings(), lookup=changing(answer)) as fetcher:
        with pytest.raises(FetchError) as caught:
            await fetcher.locate("site.example")
    assert caught.value.reason is reason


async def test_an_address_lives_at_itself_and_a_proxy_hides_everyone():
    async with HttpFetcher(HttpSettings(), lookup=changing(["8.8.8.8"])) as fetcher:
        assert await fetcher.locate("8.8.4.4") == ("8.8.4.4",)
        assert await fetcher.locate("[2001:4860::1]") == ("2001:4860::1",)
    async with HttpFetcher(HttpSettings(proxy="http://127.0.0.1:9")) as fetcher:
        assert not fetcher.locates
        assert await fetcher.locate("site.example") == ()
