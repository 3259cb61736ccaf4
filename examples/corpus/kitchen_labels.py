"""Labels from a function: what a page's own words say it is."""

from clew.page import Page

WORDS = {"soup": ("simmer", "stock", "broth", "soup"), "bread": ("dough", "loaf", "oven", "rise", "flour")}


def dish(page: Page) -> list[str]:
    """The dishes whose words stand in a page that is no list of others."""
    text = f"{page.title} {page.text}".lower()
    listing = len(page.links) > 3
    return [] if listing else [name for name, words in WORDS.items() if any(word in text for word in words)]
