"""What a request meets of the providers' caches: where its prompt should go, and what is marked in it.

One `Prefixed` goes with a request. It is asked for an order of equal deployments (`leaning`) and for the body as one of
them should get it (`prepared`); each call that is made tells its `Placed` how it ended. Where the policy wants nothing
of this, `UNTOUCHED` stands in, which does nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import msgspec

from cache.config import PrefixSection
from cache.prefix.digests import chained
from cache.prefix.memory import Met, PrefixMemory
from cache.prefix.ordering import ToolOrders, stable
from cache.prefix.reuse import MINUTES_S, Kind, Stream
from gateway.catalogue import Catalogue, Leaning, Model
from gateway.policy.reliability import Balance
from gateway.prefix.choosing import chosen
from gateway.prefix.families import Family, FamilyOf
from gateway.prefix.leaning import leaned, place_of
from gateway.prefix.marks import markable, marked
from gateway.prefix.outlines import MARK, End, Outline, outline
from gateway.prefix.placed import Placed
from gateway.steps.admission import Asked, Entitled
from gateway.steps.purchasing import Purchase
from governance.attribution import UNATTRIBUTED

_KEY_DIGITS: Final = 32
_CACHE_KEY: Final = "prompt_cache_key"


class Prepared(NamedTuple):
    """A body as one deployment should get it, and what becomes of the call's prefixes there."""

    body: dict[str, Any]
    placed: Placed | None = None


class Untouched:
    """A request that is left alone."""

    leaning: None = None
    kept: int = 0

    def classes(self, model: str) -> frozenset[str]:
        """Return none."""
        del model
        return frozenset()

    def prepared(self, purchase: Purchase, body: dict[str, Any]) -> Prepared:
        """Return the body as it is."""
        del purchase
        return Prepared(body)


UNTOUCHED: Final = Untouched()


@dataclass(frozen=True, kw_only=True)
class Prefixing:
    """The policy's `cache.prefix`, with what was learnt, which outlives policies. `clock` gives seconds.

    Attributes:
        families: what each provider of the policy keeps, by its name.
        section: the policy's wishes; None for none.
        watches: what providers keep by themselves is to be known as well.
    """

    catalogue: Catalogue
    families: Mapping[str, FamilyOf]
    section: PrefixSection | None
    balance: Balance
    memory: PrefixMemory
    orders: ToolOrders
    clock: Callable[[], float]
    watches: bool = False

    def of(self, asked: Asked[Any], entitled: Entitled, body: dict[str, Any]) -> "Prefixed | Untouched":
        """Return what goes with a request; one that a provider's batch carries is left alone, as that may take a day.

        Args:
            asked: the request.
            entitled: whose it is.
            body: what may go to a provider.
        """
        section = self.section
        if section is None or asked.carrier is not None:
            return UNTOUCHED
        if section.provider_breakpoints == "off" and section.affinity == "off":
            return UNTOUCHED
        return Prefixed(self, section, asked, entitled, body)

    def family(self, model: Model) -> Family | None:
        """Return what is kept for a model."""
        return self.families[model.provider](model.upstream_model)

    @cached_property
    def twins(self) -> frozenset[str]:
        """Models with more than one deployment."""
        models = self.catalogue.models.values()
        return frozenset(name for model in models if model.same_as for name in (model.name, model.same_as))


class Prefixed:
    """One request."""

    def __init__(
        self, prefixing: Prefixing, section: PrefixSection, asked: Asked[Any], entitled: Entitled, body: dict[str, Any]
    ) -> None:
        who = entitled.attribution
        self._prefixing = prefixing
        self._request = asked.request_id
        self._size = asked.size
        self._body = body
        self._whose = (f"{who.team}/{who.app}", who.feature)
        self._salt = self._whose[0].encode()
        self._changes = section.provider_breakpoints == "auto"
        self._hour = self._changes and section.longest == "1h"
        self._leans = section.affinity == "auto"
        self._session = None if who.session == UNATTRIBUTED else _session(self._salt, who.session)
        self._met = False

    def classes(self, model: str) -> frozenset[str]:
        """Return the classes of tokens that it may use because of us at a model."""
        family = self._prefixing.family(self._prefixing.catalogue.models[model]) if self._hour else None
        return frozenset({"cache_write_1h"}) if family is not None and family.hour else frozenset()

    @property
    def kept(self) -> int:
        """The tokens of its prompt that a provider has in its cache just now, as far as is known; the most of any."""
        memory, found = self._prefixing.memory, self._outline
        digests = [] if found is None else [end.digest for end in found.ends]
        return max(memory.homes(digests, self._prefixing.clock()).values(), default=0)

    @property
    def leaning(self) -> Leaning | None:
        """Put equal deployments into the order in which they should answer; None where the policy wants no affinity."""
        return self._lean if self._leans else None

    def prepared(self, purchase: Purchase, body: dict[str, Any]) -> Prepared:
        """Return the body as the model of a purchase should get it: ordered, and marked or named where that pays.

        Args:
            purchase: who is called.
            body: the request's body, with the provider's own name of the model.
        """
        model = purchase.model
        family = self._prefixing.family(model)
        if self._changes:
            body = stable(body | self._ordered)
        # No token is without a byte: what has fewer of these than the least to be kept needs no second look.
        useful = None if family is None or (family.idle and not self._prefixing.watches) else family
        kept = useful is not None and self._size >= useful.least_tokens
        found = self._outline if model.name in self._prefixing.twins or (self._changes and kept) else None
        if found is None or family is None:
            return Prepared(body)
        self._meet(found)
        spots = dict.fromkeys([*(end for _, end in found.lasting), found.latest], MINUTES_S)
        ours: dict[End, int] = {}
        if family.marked:
            ours = self._marks(body, found, family, purchase) if self._changes else {}
            own = [end for end in spots if found.marks and end not in ours and not markable(body, end)]
            spots = ours | dict.fromkeys(own, MINUTES_S)
            body = marked(body, ours)
        elif family.keyed and self._changes and not body.get(_CACHE_KEY):
            body = body | {_CACHE_KEY: (found.system or found.ends[0]).digest.hex()[:_KEY_DIGITS]}
        return Prepared(body, self._placed(model, family, found, spots, tuple(ours)))

    def _marks(self, body: dict[str, Any], found: Outline, family: Family, purchase: Purchase) -> dict[End, int]:
        return chosen(
            body,
            found,
            family,
            memory=self._prefixing.memory,
            place=place_of(purchase.model),
            whose=self._whose,
            price=purchase.price,
            tokens=purchase.tally.likely,
            hour=self._hour,
            now=self._prefixing.clock(),
        )

    def _placed(
        self, model: Model, family: Family, found: Outline, spots: Mapping[End, int], ours: tuple[End, ...]
    ) -> Placed:
        memory, place, now = self._prefixing.memory, place_of(model), self._prefixing.clock()
        return Placed(
            memory=memory,
            clock=self._prefixing.clock,
            place=place,
            family=family,
            outline=found,
            known=[end for end in found.ends if memory.kept(place, end.digest, now) is not None],
            spots=spots,
            ours=ours,
            session=self._session,
        )

    @cached_property
    def _ordered(self) -> dict[str, Any]:
        """The tools in the order in which their set was first met; a client that marks one has chosen its order."""
        tools = self._body.get("tools")
        if not isinstance(tools, list) or len(tools) < 2:  # noqa: PLR2004  one has no order
            return {}
        if any(not isinstance(tool, dict) or MARK in tool for tool in tools):
            return {}
        try:
            order = self._prefixing.orders.order(self._salt, [msgspec.json.encode(tool) for tool in tools])
        except (RecursionError, UnicodeEncodeError):
            return {}
        return {"tools": [tools[place] for place in order]}

    @cached_property
    def _outline(self) -> Outline | None:
        return outline(self._body | self._ordered if self._changes else self._body, self._salt)

    def _meet(self, found: Outline) -> None:
        """Let the memory learn from the request, once."""
        if self._met:
            return
        self._met = True
        lasting = [Met(end.digest, self._stream(kind)) for kind, end in found.lasting]
        latest = Met(found.latest.digest, self._stream(found.kind))
        before = [end.digest for end in found.turns[:-1]]
        self._prefixing.memory.meet(self._request, lasting, before, latest, self._prefixing.clock())

    def _stream(self, kind: Kind) -> Stream:
        return Stream(*self._whose, kind)

    def _lean(self, models: Sequence[Model]) -> Sequence[Model]:
        prefixing, found = self._prefixing, self._outline
        if found is None:
            return models
        return leaned(
            models,
            found,
            self._session,
            catalogue=prefixing.catalogue,
            memory=prefixing.memory,
            balance=prefixing.balance,
            now=prefixing.clock(),
        )


def _session(salt: bytes, session: str) -> bytes:
    *_, digest = chained(salt, (b"session", session.encode(errors="surrogatepass")))
    return digest
