"""Numbers that states give to people, each by its own scheme's check digits, which `stdnum` knows.

A scheme whose check proves little, such as nine digits modulo eleven, counts only near a word that names it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from stdnum.au import tfn
from stdnum.be import nn
from stdnum.br import cpf
from stdnum.ca import sin
from stdnum.ch import ssn as ahv
from stdnum.cz import rc
from stdnum.de import idnr
from stdnum.dk import cpr
from stdnum.es import dni, nie
from stdnum.fi import hetu
from stdnum.fr import nir
from stdnum.in_ import aadhaar
from stdnum.iso7064 import mod_11_2
from stdnum.it import codicefiscale
from stdnum.jp import in_ as my_number
from stdnum.kr import rrn
from stdnum.mx import curp
from stdnum.nl import bsn
from stdnum.no import fodselsnummer
from stdnum.pl import pesel
from stdnum.pt import nif
from stdnum.ro import cnp
from stdnum.se import personnummer
from stdnum.tr import tckimlik
from stdnum.us import ssn
from stdnum.za import idnr as za_id

from governance.sensitivity.kinds.context import said

_NAMED: Final = re.compile(
    r"(?i)social security|\bssn\b|national (?:id|insurance|number)|\bnino\b|\bni number|\bpassport|identity|identi[tf]"
    r"|\btax ?(?:id|number|file)|\btin\b|\btfn\b|\bsin\b|steuer|\bidnr|sozialversicherung"
    r"|s[ée]curit[ée] sociale|\bnir\b"
    r"|\bdni\b|\bnie\b|codice fiscale|\bcf\b|\bbsn\b|burgerservice|sofinummer|\bpesel|rijksregister|num[ée]ro national"
    r"|personnummer|\bcpr\b|henkil[öo]tunnus|\bhetu\b|f[øo]dselsnummer|\bahv\b|\bavs\b|\bnif\b|contribuinte|\bcpf\b"
    r"|aadhaar|aadhar|आधार|身份证|身份證|マイナンバー|주민등록|\bcurp\b|\bcnp\b|kimlik|rodn[ée]|\bid (?:no|number|card)"
    r"|id-nummer|инн|снилс"
)


@dataclass(frozen=True, slots=True)
class Scheme:
    """How one state writes its numbers.

    Attributes:
        pattern: What they look like.
        valid: Whether one is possible.
        sure: How they look where no word needs to name them; None for never.
    """

    pattern: re.Pattern[str]
    valid: Callable[[str], bool]
    sure: re.Pattern[str] | None = None


def _nino(number: str) -> bool:
    return number[:2].upper() not in {"BG", "GB", "NK", "KN", "TN", "NT", "ZZ"}


def _resident(number: str) -> bool:
    """Check a number of a resident of China (GB 11643-1999); places that have been renamed since are still places."""
    return mod_11_2.is_valid(number.upper())


def _pattern(shape: str) -> re.Pattern[str]:
    return re.compile(rf"(?i)(?<![\w.+/\-])(?:{shape})(?![\w]|[-./]\d)")


_ANY: Final = re.compile(r"(?s).*")
SCHEMES: Final = (
    Scheme(_pattern(r"\d{3}[- ]?\d{2}[- ]?\d{4}"), ssn.is_valid, re.compile(r"\d{3}-\d{2}-\d{4}")),
    Scheme(
        _pattern(r"[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D]"),
        _nino,
        re.compile(r"(?i)[A-Z]{2} \d{2} \d{2} \d{2} [A-D]"),
    ),
    Scheme(_pattern(r"\d{2} ?\d{3} ?\d{3} ?\d{3}"), idnr.is_valid, re.compile(r"\d{2} \d{3} \d{3} \d{3}")),
    Scheme(
        _pattern(r"[12] ?\d{2} ?(?:0[1-9]|1[0-2]|[2-9]\d) ?(?:\d{2}|2[AB]) ?\d{3} ?\d{3} ?\d{2}"), nir.is_valid, _ANY
    ),
    Scheme(_pattern(r"\d{8}-?[A-Z]|\d{1,2}\.\d{3}\.\d{3}-?[A-Z]"), dni.is_valid, _ANY),
    Scheme(_pattern(r"[XYZ]-?\d{7}-?[A-Z]"), nie.is_valid, _ANY),
    Scheme(
        _pattern(r"[A-Z]{3} ?[A-Z]{3} ?[0-9LMNP-V]{2}[A-EHLMPR-T][0-9LMNP-V]{2} ?[A-Z][0-9LMNP-V]{3}[A-Z]"),
        codicefiscale.is_valid,
        _ANY,
    ),
    Scheme(_pattern(r"\d{9}|\d{4}[. ]\d{2}[. ]\d{3}|\d{3}[. ]\d{3}[. ]\d{3}"), bsn.is_valid),
    Scheme(_pattern(r"\d{11}"), pesel.is_valid),
    Scheme(
        _pattern(r"\d{2}[. ]?\d{2}[. ]?\d{2}[- .]?\d{3}[. ]?\d{2}"),
        nn.is_valid,
        re.compile(r"\d{2}\.\d{2}\.\d{2}-\d{3}\.\d{2}"),
    ),
    Scheme(
        _pattern(r"(?:19|20)?\d{6}[-+]?\d{4}"), personnummer.is_valid, re.compile(r"(?:(?:19|20)\d{6}|\d{6})[-+]\d{4}")
    ),
    Scheme(_pattern(r"\d{6}-?\d{4}"), cpr.is_valid),
    Scheme(_pattern(r"\d{6}[-+A-FU-Y]\d{3}[0-9A-FHJ-NPR-Y]"), hetu.is_valid, _ANY),
    Scheme(_pattern(r"\d{6} ?\d{5}"), fodselsnummer.is_valid),
    Scheme(_pattern(r"756[. ]?\d{4}[. ]?\d{4}[. ]?\d{2}"), ahv.is_valid, _ANY),
    Scheme(_pattern(r"\d{9}|\d{3} \d{3} \d{3}"), nif.is_valid),
    Scheme(_pattern(r"\d{3}\.?\d{3}\.?\d{3}-?\d{2}"), cpf.is_valid, re.compile(r"\d{3}\.\d{3}\.\d{3}-\d{2}")),
    Scheme(_pattern(r"[2-9]\d{3}[ -]?\d{4}[ -]?\d{4}"), aadhaar.is_valid, re.compile(r"\d{4} \d{4} \d{4}")),
    Scheme(_pattern(r"\d{6}(?:19|20)\d{2}(?:0[1-9]|1[0-2])[0-3]\d{4}[\dX]"), _resident, _ANY),
    Scheme(_pattern(r"\d{6}-?[1-8]\d{6}"), rrn.is_valid, re.compile(r"\d{6}-\d{7}")),
    Scheme(_pattern(r"\d{3}[- ]?\d{3}[- ]?\d{3}"), sin.is_valid),
    Scheme(_pattern(r"\d{13}"), za_id.is_valid),
    Scheme(_pattern(r"\d{3} ?\d{3} ?\d{3}"), tfn.is_valid),
    Scheme(_pattern(r"\d{4}[- ]?\d{4}[- ]?\d{4}"), my_number.is_valid),
    Scheme(_pattern(r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z0-9]\d"), curp.is_valid, _ANY),
    Scheme(_pattern(r"[1-8]\d{12}"), cnp.is_valid),
    Scheme(_pattern(r"[1-9]\d{10}"), tckimlik.is_valid),
    Scheme(_pattern(r"\d{6}/?\d{3,4}"), rc.is_valid, re.compile(r"\d{6}/\d{4}")),
)
_PREFILTER: Final = re.compile(r"\d(?:\D{0,2}\d){4}")


def find(text: str) -> Iterator[tuple[int, int]]:
    """Yield where numbers of people are."""
    if _PREFILTER.search(text) is None:
        return
    for scheme in SCHEMES:
        for match in scheme.pattern.finditer(text):
            sure = scheme.sure is not None and scheme.sure.fullmatch(match[0]) is not None
            if scheme.valid(match[0]) and (sure or said(_NAMED, text, match.start(), match.end())):
                yield match.start(), match.end()
