"""Secrets that open something: keys and tokens by their issuers' formats, and what is called a password or a key.

A value that is only called one counts when it is no placeholder and looks drawn by chance, or chosen to be hard to
guess; formats count by themselves.
"""

from __future__ import annotations

import re
from collections import Counter
from math import log2
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

_FORMATS: Final[tuple[tuple[str, str], ...]] = (
    ("AKIA", r"AKIA[0-9A-Z]{16}"),
    ("ASIA", r"ASIA[0-9A-Z]{16}"),
    ("AIza", r"AIza[0-9A-Za-z_-]{35}"),
    ("ya29.", r"ya29\.[0-9A-Za-z_-]{20,400}"),
    ("ghp_", r"ghp_[0-9A-Za-z]{36}"),
    ("gho_", r"gho_[0-9A-Za-z]{36}"),
    ("ghs_", r"ghs_[0-9A-Za-z]{36}"),
    ("ghu_", r"ghu_[0-9A-Za-z]{36}"),
    ("ghr_", r"ghr_[0-9A-Za-z]{36}"),
    ("github_pat_", r"github_pat_[0-9A-Za-z]{22}_[0-9A-Za-z]{59}"),
    ("glpat-", r"glpat-[0-9A-Za-z_-]{20,64}"),
    ("xox", r"xox[abeoprs]-[0-9A-Za-z-]{10,250}"),
    ("hooks.slack.com", r"hooks\.slack\.com/services/T[0-9A-Z]{6,12}/B[0-9A-Z]{6,12}/[0-9A-Za-z]{20,30}"),
    ("k_live_", r"[sr]k_live_[0-9A-Za-z]{16,120}"),
    ("k_test_", r"[sr]k_test_[0-9A-Za-z]{16,120}"),
    ("whsec_", r"whsec_[0-9A-Za-z+/=]{20,80}"),
    ("sk-ant-", r"sk-ant-[0-9A-Za-z_-]{20,200}"),
    ("sk-sluice-", r"sk-sluice-[0-9A-Za-z]{4,40}-[0-9A-Za-z_-]{16,100}"),
    ("sk-", r"sk-(?:proj-|svcacct-|or-v1-)?(?=[A-Za-z_-]{0,80}[0-9])[0-9A-Za-z_-]{32,200}"),
    ("hf_", r"hf_[0-9A-Za-z]{30,60}"),
    ("npm_", r"npm_[0-9A-Za-z]{36}"),
    ("pypi-", r"pypi-AgE[0-9A-Za-z_-]{50,250}"),
    ("SG.", r"SG\.[0-9A-Za-z_-]{16,32}\.[0-9A-Za-z_-]{32,64}"),
    ("SK", r"(?<![0-9A-Za-z])SK[0-9a-f]{32}(?![0-9A-Za-z])"),
    ("dop_v1_", r"dop_v1_[0-9a-f]{64}"),
    ("shpat_", r"shpat_[0-9a-fA-F]{32}"),
    ("AccountKey=", r"AccountKey=[0-9A-Za-z+/]{60,100}={0,2}"),
    ("SharedAccessKey=", r"SharedAccessKey=[0-9A-Za-z+/]{30,64}={0,2}"),
    ("sig=", r"[?&]sig=[0-9A-Za-z%+/]{40,90}"),
    ("eyJ", r"eyJ[0-9A-Za-z_-]{10,2000}\.eyJ[0-9A-Za-z_-]{10,4000}\.[0-9A-Za-z_-]{10,1000}"),
    ("://", r"[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"'<>]{1,64}:(?![\"'<{$*\[])[^\s:/@\"'<>]{3,128}@[\w.\-\[\]]{1,253}"),
    ("Basic ", r"(?:[Aa]uthorization|AUTHORIZATION)\W{1,6}Basic [0-9A-Za-z+/]{8,200}={0,2}"),
    ("earer ", r"[Bb]earer (?=[A-Za-z._~+/-]{0,80}[0-9])[0-9A-Za-z._~+/-]{20,2000}={0,2}"),
)
_COMPILED: Final = tuple((hint, re.compile(rf"(?<![0-9A-Za-z_]){shape}")) for hint, shape in _FORMATS if hint != "sig=")
_SIGNED: Final = re.compile(_FORMATS[[hint for hint, _ in _FORMATS].index("sig=")][1])
_CALLED: Final = re.compile(
    r"(?i)(?:pass(?:word|wd|phrase|code)|\bpwd|\bpw\b|secret|token|credential|api[ _-]?key"
    r"|access[ _-]?key|auth[ _-]?key"
    r"|private[ _-]?key|client[ _-]?key|\bpin\b|passwort|kennwort|mot de passe|contrase[ñn]a|clave|senha"
    r"|wachtwoord|has[łl]o"
    r"|l[öo]senord|salasana|парол\w{0,2}|密码|密碼|パスワード|비밀번호|पासवर्ड|şifre|password è)[\w-]{0,20}"
    r"[\"'`*]{0,3}(?:\s{0,3}(?:[:=]|\uff1a|=>|:=|\bis\b|\bist\b|\bes\b|\best\b|\bé\b|\bè\b|\bis:|是|は"
    r"|to\b)\s{0,3}){1,2}[\"'`*<(]{0,2}"
    r"(?P<value>[^\s\"'`,;<>(){}]{6,200})"
)
_PLACEHOLDER: Final = re.compile(
    r"(?i)\$|%\(|your|example|sample|changeme|change_me|placeholder|redacted|xxx|\*\*\*|\.\.\.|…|dummy"
    r"|\bnone\b|\bnull\b|true|false"
    r"|required|string|process\.env|os\.environ|getenv|secrets?\.|config\.|settings\.|self\.|args\."
    r"|env\.|todo|<|\[|insert"
)
_HINTS: Final = (
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "pwd",
    "pw:",
    "pw=",
    "secret",
    "token",
    "credential",
    "apikey",
    "accesskey",
    "authkey",
    "privatekey",
    "clientkey",
    "pin:",
    "pin=",
    "pinis",
    "passwort",
    "kennwort",
    "motdepasse",
    "contrase",
    "clave",
    "senha",
    "wachtwoord",
    "hasło",
    "haslo",
    "lösenord",
    "losenord",
    "salasana",
    "парол",
    "密码",
    "密碼",
    "パスワード",
    "비밀번호",
    "पासवर्ड",
    "şifre",
)
"""What all names of secrets contain, once case is gone and what parts their words."""

_RANDOM_BITS: Final = 3.0
_LONG: Final = 16
_FEWEST: Final = 6
"""Letters of which a real token has more."""

_CLASSES: Final = tuple(re.compile(shape) for shape in (r"[a-z]", r"[A-Z]", r"[0-9]", r"[^A-Za-z0-9]"))


def find(text: str) -> Iterator[tuple[int, int]]:
    """Yield where secrets are."""
    for hint, pattern in _COMPILED:
        if hint in text:
            yield from ((match.start(), match.end()) for match in pattern.finditer(text) if _is_used(match[0]))
    if "sig=" in text:
        yield from ((match.start(), match.end()) for match in _SIGNED.finditer(text))
    names = text.lower().replace(" ", "").replace("-", "").replace("_", "")
    if any(hint in names for hint in _HINTS):
        for match in _CALLED.finditer(text):
            value = match["value"].rstrip(".?")
            if _looks_secret(value):
                yield match.start("value"), match.start("value") + len(value)


def _is_used(token: str) -> bool:
    """Say whether a token of a known format could be real: documents write the same letter, or one after another."""
    if "://" in token:
        return not _is_shown(token)
    return len(set(token[-24:])) > _FEWEST and _PLACEHOLDER.search(token) is None


def _is_shown(address: str) -> bool:
    user, _, rest = address.partition("://")[2].partition(":")
    password = rest.rpartition("@")[0]
    return _PLACEHOLDER.search(password) is not None or password.lower() in {"password", "pass", "pwd", "secret", user}


def _looks_secret(value: str) -> bool:
    if _PLACEHOLDER.search(value):
        return False
    classes = sum(pattern.search(value) is not None for pattern in _CLASSES)
    if len(value) >= _LONG:
        return _bits(value) >= _RANDOM_BITS and _CLASSES[2].search(value) is not None
    return classes >= 3 or (classes == 2 and _CLASSES[2].search(value) is not None and not value.isdigit())  # noqa: PLR2004


def _bits(value: str) -> float:
    """Return the entropy of a value's letters, in bits each (Shannon 1948)."""
    return -sum(count / len(value) * log2(count / len(value)) for count in Counter(value).values())
