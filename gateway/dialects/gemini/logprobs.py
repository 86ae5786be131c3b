"""How likely each token was, from Gemini's form to that of a chat. Spec: the Gemini API reference, `LogprobsResult`."""

from itertools import zip_longest
from typing import Any


def to_logprobs(result: dict[str, Any]) -> dict[str, Any]:
    """Return the log probabilities of a choice: for each token that was chosen, it and its likeliest rivals."""
    chosen, rivals = result.get("chosenCandidates") or [], result.get("topCandidates") or []
    steps = zip_longest(chosen, rivals[: len(chosen)], fillvalue={})
    return {
        "content": [
            _token(token) | {"top_logprobs": [_token(rival) for rival in step.get("candidates") or []]}
            for token, step in steps
        ],
        "refusal": None,
    }


def _token(candidate: dict[str, Any]) -> dict[str, Any]:
    text = candidate["token"]
    return {"token": text, "logprob": candidate["logProbability"], "bytes": list(text.encode())}
