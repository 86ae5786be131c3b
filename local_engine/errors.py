"""What can go wrong in the engine, as one tree.

EngineError
├── InvalidRequest(reason, param)                        the caller's fault; nothing was started
│   ├── ContextTooLong(prompt_tokens, max_tokens, limit)
│   ├── TemplateRefused(reason)                          the chat template raised
│   └── TokenOutOfVocabulary(token, vocab_size, param)
├── ModelNotFound(model)                                 no model of that name is served here
├── ModelLoading(model)                                  it will be, once its weights are read
├── Overloaded(retry_after_s)                            the queue is full
├── GenerationFailed(reason)                             the model failed while it made the answer
│   └── NothingToChoose(reason)                          no token of one row of logits can be sampled
├── EngineStopped                                        the engine is stopping, or died
├── CallerGone                                           nobody waits for the answer any more
├── CannotListen(address, reason)                        somebody listens there, or nobody may
└── ModelFileInvalid(path, reason)                       truncated, hostile or unknown weights

The classes carry facts, not statuses: what an error means on a wire is the server's business.
"""

from pathlib import Path


class EngineError(Exception):
    """Whatever the engine raises on purpose."""


class InvalidRequest(EngineError):
    """A request that can never be served as it stands.

    Attributes:
        reason: What is wrong, for the caller to read; never prompt text.
        param: The field at fault, or None when it is the body as a whole.
    """

    def __init__(self, reason: str, param: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.param = param


class ContextTooLong(InvalidRequest):
    """A prompt and its answer that together exceed what one sequence may hold.

    Attributes:
        prompt_tokens: Tokens in the prompt, or a lower bound when it was not worth counting them.
        max_tokens: Tokens asked for; 0 for an embedding.
        limit: Tokens that a sequence may hold.
    """

    def __init__(
        self, prompt_tokens: int, max_tokens: int, limit: int, param: str | None = None, *, is_at_least: bool = False
    ) -> None:
        counted = f"at least {prompt_tokens}" if is_at_least else f"{prompt_tokens}"
        asked = f"{counted} prompt tokens" + (f" + {max_tokens} to generate" if max_tokens else "")
        super().__init__(f"maximum context length is {limit} tokens, the request has {asked}", param)
        self.prompt_tokens = prompt_tokens
        self.max_tokens = max_tokens
        self.limit = limit


class TemplateRefused(InvalidRequest):
    """Messages that the model's chat template does not accept."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"the chat template refused the messages: {reason}", "messages")


class TokenOutOfVocabulary(InvalidRequest):
    """A token id that the model does not have.

    Attributes:
        token: The id.
        vocab_size: Valid ids are 0 .. vocab_size - 1.
    """

    def __init__(self, token: int, vocab_size: int, param: str | None = None) -> None:
        super().__init__(f"token id {token} is not in the vocabulary of {vocab_size}", param)
        self.token = token
        self.vocab_size = vocab_size


class ModelNotFound(EngineError):
    """A request for a model that this process does not serve.

    Attributes:
        model: The name that was asked for.
    """

    def __init__(self, model: str) -> None:
        super().__init__(f"the model {model!r} does not exist")
        self.model = model


class ModelLoading(EngineError):
    """A request that came before the model's weights were read.

    Attributes:
        model: The model's name.
    """

    def __init__(self, model: str) -> None:
        super().__init__(f"the model {model!r} is still loading")
        self.model = model


class Overloaded(EngineError):
    """No room in the queue now.

    Attributes:
        retry_after_s: Seconds after which a place is likely to be free, at least 1.
    """

    def __init__(self, retry_after_s: int) -> None:
        super().__init__(f"the queue is full, try again in {retry_after_s} s")
        self.retry_after_s = retry_after_s


class GenerationFailed(EngineError):
    """An answer that broke off because a step of the model failed.

    Attributes:
        reason: What failed, without prompt text.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(f"the answer could not be completed: {reason}")
        self.reason = reason


class NothingToChoose(GenerationFailed):
    """A row of logits in which no token can be sampled: all are banned, or one is not a number."""


class EngineStopped(EngineError):
    """The engine takes no more requests: it is stopping, or its thread has died."""

    def __init__(self) -> None:
        super().__init__("the engine has stopped")


class CallerGone(EngineError):
    """The caller left before it had its answer."""

    def __init__(self) -> None:
        super().__init__("the caller has gone")


class CannotListen(EngineError):
    """An address that the process cannot have.

    Attributes:
        address: A path, or host and port.
        reason: Why.
    """

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"cannot listen on {address}: {reason}")
        self.address = address
        self.reason = reason


class ModelFileInvalid(EngineError):
    """A file of weights that cannot be trusted or understood.

    Attributes:
        path: The file.
        reason: What is wrong with it.
    """

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason
