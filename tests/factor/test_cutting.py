"""Parts of many URLs, cut together, have the words that each has for itself."""

from hypothesis import given
from hypothesis import strategies as st

from clew.factor.cutting import cut
from clew.url import tokens

#: Letters of both kinds, digits, what stands between words, escapes whole and broken, letters of two bytes.
PART = st.text(alphabet="abzABZ019-_./ %C3A9éÀß\n", max_size=12)


@given(st.lists(PART, max_size=40))
def test_words_are_those_of_each_part(parts):
    lengths, words = cut(parts)
    each = [[word for segment in part.split("/") for word in tokens(segment)] for part in parts]
    assert lengths.tolist() == [len(found) for found in each]
    assert words == [word for found in each for word in found]


def test_humps_and_escapes():
    lengths, words = cut(["windFarm2Sea", "list%C3%A9", "", "HTML5", "a/B/cD"])
    assert words == ["wind", "farm2", "sea", "listé", "html5", "a", "b", "c", "d"]
    assert lengths.tolist() == [3, 1, 0, 1, 4]
