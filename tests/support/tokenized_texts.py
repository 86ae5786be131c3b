"""Texts of kinds that tokenizers treat differently, written by a seeded chance from small stocks of words."""

from collections.abc import Callable, Mapping
from random import Random
from typing import Final


def _stock(words: str) -> tuple[str, ...]:
    return tuple(words.split())


_ENGLISH: Final = _stock("""
the of and to in that we is it was for on are with as he be at one have this from by had not but what all were
when there can an your which their said if do will each about how up out them then she many some so these
would other into has more her two like him see time could no make than first been its who now people my made
over did down only way find use may water long little very after words called just where most know government
between development international understanding particular environment information experience management
organisation responsibility
""")
_GERMAN: Final = _stock("""
der die das und ist nicht mit von auf für ein eine werden über können müssen Größe Straße Schlüssel
Verständnis Rechnung Vertragsänderung Geschäftsführer Überprüfung möglicherweise selbstverständlich
Bundesregierung Krankenversicherung Zusammenarbeit Entwicklung Möglichkeiten zwischen während bereits deshalb
außerdem Wörterbuch
""")
_CHINESE: Final = _stock("""
我 们 的 一 是 不 了 人 在 有 他 这 中 大 来 上 个 国 到 说 时 要 就 出 会 也 你 对
生 能 而 子 那 得 于 着 下 自 之 年 过 发 后 作 里 用 道 行 所 然 家 种 事 成 方 多
经 么 去 法 学 如 都 同 现 当 没 动 面 起 看 定 天 分 还 进 好 小 部 其 些 主 样 理
""")
_NAMES: Final = _stock("request index total value count result user item key path size response buffer handler")

_Writer = Callable[[Random], str]


def _english(chance: Random) -> str:
    sentences = (" ".join(chance.choices(_ENGLISH, k=chance.randrange(4, 18))) for _ in range(chance.randrange(1, 30)))
    return " ".join(sentence.capitalize() + chance.choice(".,?!") for sentence in sentences)


def _german(chance: Random) -> str:
    sentences = (" ".join(chance.choices(_GERMAN, k=chance.randrange(4, 14))) for _ in range(chance.randrange(1, 25)))
    return " ".join(sentence + chance.choice(".,?!") for sentence in sentences)


def _chinese(chance: Random) -> str:
    sentences = ("".join(chance.choices(_CHINESE, k=chance.randrange(5, 30))) for _ in range(chance.randrange(1, 25)))
    return "。".join(sentences)


def _code(chance: Random) -> str:
    lines: list[str] = []
    for _ in range(chance.randrange(2, 30)):
        name, other = chance.choice(_NAMES), chance.choice(_NAMES)
        lines += [
            f"def {name}_{other}(self, {other}: int) -> str:",
            f"    if self._{name}[{chance.randrange(99)}] != {other}:",
            f'        raise ValueError(f"{{{other}}} is not {name}")',
            f"    return self.{other}{name.capitalize()}(**{{'{name}': {other} + 1}})\n",
        ]
    return "\n".join(lines)


def _digits(chance: Random) -> str:
    rows = range(chance.randrange(2, 40))
    return "\n".join(",".join(f"{chance.uniform(0, 10**6):.2f}" for _ in range(6)) for _ in rows)


WRITERS: Final[Mapping[str, _Writer]] = {
    "english": _english,
    "german": _german,
    "chinese": _chinese,
    "code": _code,
    "digits": _digits,
}


def texts(count: int, seed: int) -> list[str]:
    """Return so many texts: each of one kind, or of two, one after the other."""
    chance = Random(seed)
    kinds = list(WRITERS.values())
    return ["\n".join(write(chance) for write in chance.sample(kinds, chance.choice((1, 1, 2)))) for _ in range(count)]
