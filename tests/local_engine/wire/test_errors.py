import inspect
from pathlib import Path

import msgspec
import pytest

from local_engine import errors
from local_engine.wire.errors import error_reply

EXAMPLES: dict[str, tuple[errors.EngineError, str]] = {
    "InvalidRequest": (errors.InvalidRequest("no", "n"), "invalid_request_error"),
    "ContextTooLong": (errors.ContextTooLong(5, 6, 10), "context_length_exceeded"),
    "TemplateRefused": (errors.TemplateRefused("no"), "invalid_request_error"),
    "TokenOutOfVocabulary": (errors.TokenOutOfVocabulary(9, 5), "invalid_request_error"),
    "ModelNotFound": (errors.ModelNotFound("x"), "model_not_found"),
    "ModelLoading": (errors.ModelLoading("x"), "model_loading"),
    "Overloaded": (errors.Overloaded(3), "overloaded"),
    "NothingToChoose": (errors.NothingToChoose("x"), "generation_failed"),
    "GenerationFailed": (errors.GenerationFailed("x"), "generation_failed"),
    "CallerGone": (errors.CallerGone(), "internal_error"),
    "EngineStopped": (errors.EngineStopped(), "engine_stopped"),
    "CannotListen": (errors.CannotListen("x", "y"), "internal_error"),
    "ModelFileInvalid": (errors.ModelFileInvalid(Path("x"), "y"), "internal_error"),
    "EngineError": (errors.EngineError("x"), "internal_error"),
}


def test_every_error_of_the_engine_has_an_example_here() -> None:
    tree = {name for name, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, errors.EngineError)}
    assert tree == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_error_is_told_by_its_code(name: str) -> None:
    error, code = EXAMPLES[name]
    body = error_reply(error).error
    assert body.code == code
    assert body.message == str(error)


def test_the_field_at_fault_and_the_counts_are_told() -> None:
    told = msgspec.to_builtins(error_reply(errors.ContextTooLong(5, 6, 10, "prompt")))
    assert told["error"]["param"] == "prompt"
    assert (told["error"]["prompt_tokens"], told["error"]["max_tokens"], told["error"]["limit"]) == (5, 6, 10)
