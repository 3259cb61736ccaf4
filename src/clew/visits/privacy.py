"""Privacy: people as keyed hashes, and URLs without what is personal in them.

The secret that the hashes are made with lies in the user's own configuration, never beside the data: whoever
gets hold of a database of visits alone cannot try out addresses against it.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path

from clew.errors import ConfigError
from clew.url import canonical

#: Parameters that name a person or open a door, whatever their value; compared without case, `-` and `_`.
_NAMES = """
    accesskey accesstoken account accountid address apikey apitoken auth authcode authkey authorization
    authtoken bearer birthday birthdate clientsecret credential credentials csrf csrftoken customerid dob
    email emailaddress firstname fullname idtoken jwt lastname login loginname mail memberid mobile name
    nickname nonce oauthtoken oauthverifier otp pass passcode passphrase passwd password phone phonenumber pin
    privatekey profileid pwd recipient refreshtoken samlresponse secret sessionkey sessiontoken sig signature
    ssn surname tel telephone token uid user userid username verifier xsrftoken
"""
PERSONAL = frozenset(_NAMES.split())
#: Values that are personal under any name: an e-mail address, a JSON web token, what looks drawn by lot.
_EMAIL = re.compile(r"[^/?&=\s]{1,64}(?:@|%40)[^/?&=\s@]{1,190}\.[A-Za-z]{2,}")
_TOKEN = re.compile(
    r"eyJ[\w-]{8,}\.[\w.-]+|[0-9A-Fa-f]{32,}|(?=[^/]*\d)(?=[^/]*[A-Z])(?=[^/]*[a-z])[\w-]{40,}"
)
_BYTES = 32


@dataclass(frozen=True, slots=True)
class Secret:
    """The key of the hashes that stand for people.

    >>> Secret(b"k" * 32).person(b"192.0.2.7") == Secret(b"k" * 32).person(b"192.0.2.7")
    True
    >>> Secret(b"k" * 32).person(b"192.0.2.7") == Secret(b"x" * 32).person(b"192.0.2.7")
    False
    """

    key: bytes = field(repr=False)

    def person(self, identity: bytes) -> int:
        """The number that stands for an address or a user name: 63 bits of a keyed BLAKE2b."""
        return (
            int.from_bytes(blake2b(identity, digest_size=8, key=self.key, person=b"clew-visit").digest()) >> 1
        )

    def digest(self, content: bytes) -> bytes:
        """A keyed digest of the content of a log."""
        return blake2b(content, digest_size=16, key=self.key, person=b"clew-log").digest()

    @property
    def fingerprint(self) -> str:
        """Tells one secret from another, and nothing more."""
        return blake2b(b"", digest_size=8, key=self.key, person=b"clew-key").hexdigest()

    @classmethod
    def kept(cls, place: Path | None = None) -> Secret:
        """The user's secret, which was made before; at another `place` than `secret_place()`."""
        place = secret_place() if place is None else place
        try:
            return cls(_read(place))
        except OSError as error:
            raise ConfigError(
                f"the secret {place} cannot be read ({error.strerror}): clew visits import made one with the "
                "visits; name it by --key"
            ) from None

    @classmethod
    def of_user(cls, place: Path | None = None, *, beside: Path | None = None) -> Secret:
        """The user's secret, made on first use; readable by its owner only.

        Parameters: another `place` than `secret_place()`; the data that it must not lie `beside`.
        """
        place = secret_place() if place is None else place
        if beside is not None and place.resolve().parent == beside.resolve().parent:
            raise ConfigError(
                f"the secret {place} would lie beside the data: whoever copies the folder could tell who is "
                "who. Keep it elsewhere, or the data"
            )
        try:
            place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            made = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            return cls.kept(place)
        except OSError as error:
            raise ConfigError(f"the secret cannot be kept in {place}: {error.strerror}") from None
        key = secrets.token_bytes(_BYTES)
        with os.fdopen(made, "wb") as file:
            file.write(key.hex().encode())
        return cls(key)


def secret_place() -> Path:
    """Where the secret lies: `clew/visits.key` in the user's configuration."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "clew" / "visits.key"


def _read(place: Path) -> bytes:
    if stat.S_IMODE(place.stat().st_mode) & 0o077:
        raise ConfigError(f"others may read the secret {place}: run chmod 600 {place}")
    try:
        key = bytes.fromhex(place.read_text("ascii"))
    except (ValueError, UnicodeDecodeError):
        key = b""
    if len(key) != _BYTES:
        raise ConfigError(f"{place} is no secret of clew's: move it away, and a new one is made")
    return key


def public_url(text: str, base: str | None = None) -> str | None:
    """The canonical URL of a page without what is personal in it.

    Credentials before the host, fragments, tracking and session parameters go with `clew.url.canonical`.
    Parameters named in `PERSONAL`, and any whose value is an e-mail address or a token, are dropped. None for
    what is no web address.

    >>> public_url("http://ann:pw@a.example/x?id=3&token=abc&to=ann%40b.example")
    'http://a.example/x?id=3'
    """
    url = canonical(text, base)
    if url is None or "?" not in url:
        return url
    address, _, query = url.partition("?")
    kept = [part for part in query.split("&") if not _personal(part)]
    return canonical(f"{address}?{'&'.join(kept)}" if kept else address)


def is_personal(url: str) -> bool:
    """Whether the path of a canonical URL holds an e-mail address or a token; such a page is left out whole,
    since its URL without them is another page's.

    >>> is_personal("http://a.example/reset/eyJhbGciOiJI.eyJzdWIiOiIx/"), is_personal("http://a.example/~ann/")
    (True, False)
    """
    path = url.partition("://")[2].partition("?")[0].partition("/")[2]
    return _secretive(path.split("/"))


def _personal(part: str) -> bool:
    name, _, value = part.partition("=")
    plain = name.lower().replace("-", "").replace("_", "").removesuffix("[]")
    return plain in PERSONAL or _secretive((value,))


def _secretive(texts: Sequence[str]) -> bool:
    return any((_EMAIL.fullmatch(text) or _TOKEN.fullmatch(text)) is not None for text in texts)
