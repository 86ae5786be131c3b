"""What was learned, as one safetensors file: numbers and a card in JSON, so that opening it runs nothing."""
# ruff: noqa: PLC0415  numpy and safetensors are imported when a router is opened: a gateway without them starts

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Final

import msgspec

from router_models.errors import ArtifactUnusable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from router_models.learned import LearnedRouter
    from router_models.learning.similarity_ranking import SimilarityRanking

_EXTRA: Final = "a learned router needs numpy and safetensors: pip install 'sluicegate[semantic]'"
_SCALARS: Final = (
    "ridge.bias",
    "factorisation.bias",
    "terms.bias",
    "ranking.slope",
    "ranking.mean",
    "topics.slope",
    "topics.mean",
    "stack.bias",
    "centre",
    "spread",
)
_RIDGE: Final = ("centre", "scale", "weights")
_THRESHOLDS: Final = ("at", "strong_share", "kept", "kept_least")


def open_scorer(path: Path | None = None) -> LearnedRouter:
    """Open a trained router.

    Args:
        path: The artifact; None is the one that comes with the package.

    Raises:
        ArtifactUnusable: It is not there, it is damaged, it was made for other features, or numpy and safetensors
            are not installed.
    """
    try:
        import safetensors
        from safetensors.numpy import load
    except ImportError as missing:
        raise ArtifactUnusable(_EXTRA) from missing
    where = path or files("router_models") / "weights" / "default.safetensors"
    try:
        return _assembled(load(where.read_bytes()))
    except (OSError, safetensors.SafetensorError, msgspec.MsgspecError, KeyError, ValueError) as error:
        raise ArtifactUnusable(f"the router {where} cannot be used: {error}") from error


def require_embedding(router: LearnedRouter, embedding: str) -> None:
    """Refuse vectors of another embedding than a router was trained on.

    Raises:
        ArtifactUnusable: They are of another one.
    """
    if router.embedding != embedding:
        raise ArtifactUnusable(f"the router was trained on {router.embedding}, and this is {embedding}: train it again")


def write_artifact(path: Path, router: LearnedRouter) -> None:
    """Write a router; the same router gives the same bytes."""
    from safetensors.numpy import save

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(save(_taken_apart(router)))


def _taken_apart(router: LearnedRouter) -> dict[str, NDArray[np.generic]]:
    import numpy as np

    heads, seen = router.heads, router.seen
    weights, weight_scale = _packed(heads.terms.weights[None, :])
    scalars = (
        heads.ridge.bias, heads.factorisation.bias, heads.terms.bias, heads.ranking.slope, heads.ranking.mean,
        heads.topics.slope, heads.topics.mean,
        router.stack.bias, router.calibration.centre, router.calibration.spread,
    )  # fmt: skip
    return {
        "card": np.frombuffer(msgspec.json.encode(router.card), np.uint8),
        "scalars": np.array(scalars, np.float64),
        **{f"ridge.{part}": getattr(heads.ridge, part) for part in _RIDGE},
        **{f"factorisation.{part}": getattr(heads.factorisation, part) for part in _RIDGE},
        "terms.known": heads.terms.known,
        "terms.rarity": heads.terms.rarity.astype(np.float16),
        "terms.weights": weights[0],
        "terms.weight_scale": weight_scale,
        **_ranking("ranking", heads.ranking),
        **_ranking("topics", heads.topics),
        "stack.weights": router.stack.weights,
        "calibration.at": router.calibration.at,
        "calibration.need": router.calibration.need,
        **{f"coverage.{part}": getattr(router.coverage, part) for part in ("centre", "scale", "nearness")},
        "coverage.counts": router.coverage.counts.astype(np.float16),
        **{f"thresholds.{part}": getattr(router.thresholds, part) for part in _THRESHOLDS},
        "seen.whole": seen.whole,
        "seen.minima": seen.minima,
    }


def _assembled(found: Mapping[str, NDArray[np.generic]]) -> LearnedRouter:
    import numpy as np

    from router_models.calibrating.coverage import Coverage
    from router_models.calibrating.isotonic import Calibration
    from router_models.calibrating.thresholds import Thresholds
    from router_models.features import NAMES
    from router_models.labelled.fingerprints import Fingerprints
    from router_models.learned import Card, Heads, LearnedRouter
    from router_models.learning.ensemble import Stack
    from router_models.learning.ridge import Ridge
    from router_models.learning.similarity_ranking import SimilarityRanking
    from router_models.learning.terms import Terms

    card = msgspec.json.decode(found["card"].tobytes(), type=Card)
    if card.features != NAMES:
        raise ValueError("it was trained on other features; train it again")
    scalar: dict[str, float] = dict(zip(_SCALARS, found["scalars"].tolist(), strict=True))

    def floats(name: str) -> NDArray[np.float32]:
        return found[name].astype(np.float32)

    def ridge(name: str) -> Ridge:
        centre, scale, weights = (floats(f"{name}.{part}") for part in _RIDGE)
        return Ridge(centre, scale, weights, scalar[f"{name}.bias"])

    def ranking(name: str) -> SimilarityRanking:
        prototypes = floats(f"{name}.prototypes") * floats(f"{name}.prototype_scale")
        battles, gains = floats(f"{name}.battles"), floats(f"{name}.gains")
        return SimilarityRanking(prototypes, battles, gains, scalar[f"{name}.slope"], scalar[f"{name}.mean"])

    weights = floats("terms.weights") * floats("terms.weight_scale")[0]
    return LearnedRouter(
        card=card,
        heads=Heads(
            ridge=ridge("ridge"),
            factorisation=ridge("factorisation"),
            terms=Terms(found["terms.known"].astype(np.uint32), floats("terms.rarity"), weights, scalar["terms.bias"]),
            ranking=ranking("ranking"),
            topics=ranking("topics"),
        ),
        stack=Stack(floats("stack.weights"), scalar["stack.bias"]),
        calibration=Calibration(
            floats("calibration.at"), floats("calibration.need"), scalar["centre"], scalar["spread"]
        ),
        coverage=Coverage(*(floats(f"coverage.{part}") for part in ("centre", "scale", "counts", "nearness"))),
        thresholds=Thresholds(*(floats(f"thresholds.{part}") for part in _THRESHOLDS)),
        seen=Fingerprints(found["seen.whole"].astype(np.uint64), found["seen.minima"].astype(np.uint8)),
    )


def _ranking(name: str, head: SimilarityRanking) -> dict[str, NDArray[np.generic]]:
    prototypes, scale = _packed(head.prototypes)
    return {
        f"{name}.prototypes": prototypes,
        f"{name}.prototype_scale": scale,
        f"{name}.battles": head.battles,
        f"{name}.gains": head.gains,
    }


def _packed(rows: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Pack rows as whole numbers of a byte, with a scale for each row, float32 [rows, 1]."""
    import numpy as np

    scale = np.maximum(np.abs(rows).max(axis=1, keepdims=True, initial=0.0), 1e-9).astype(np.float32) / 127
    return np.rint(rows / scale).astype(np.int8), scale.astype(np.float32)
