"""One model file, opened and checked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from local_engine.errors import ModelFileInvalid
from local_engine.load.gguf import read_gguf
from local_engine.load.llama import read_spec, read_weights
from local_engine.load.metadata import Metadata
from local_engine.text.pretokenize import PRE_TOKENIZERS
from local_engine.text.vocabulary import Vocabulary

if TYPE_CHECKING:
    from pathlib import Path

    from local_engine.load.gguf import GgufFile
    from local_engine.model.spec import ModelSpec
    from local_engine.model.weights import ModelWeights

_CONTROL: Final = 3
_USER_DEFINED: Final = 4
_EOS_KEYS: Final = tuple(f"tokenizer.ggml.{name}_token_id" for name in ("eos", "eot", "eom"))

# Files often name one end token and forget the others; a control token of such a name always ends a turn.
_EOS_NAMES: Final = frozenset({"<|endoftext|>", "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "</s>"})


@dataclass(frozen=True, slots=True, eq=False)
class ModelFile:
    """What a model file gives.

    Attributes:
        path: Where it lies.
        name: What the file calls the model.
        spec: The decoder's shape.
        vocabulary: What its tokenizer is made of.
        chat_template: Its jinja source, or None.
        file: The container, from which `read_weights` reads.
    """

    path: Path
    name: str
    spec: ModelSpec
    vocabulary: Vocabulary
    chat_template: str | None
    file: GgufFile

    def read_weights(self) -> ModelWeights:
        """Read and check all tensors; the slow part, so it is done when asked for.

        Raises:
            ModelFileInvalid: A tensor is missing, misshapen or unknown.
        """
        return read_weights(self.file, self.spec)


def open_model(path: Path) -> ModelFile:
    """Open a GGUF file and read everything but its weights.

    Raises:
        ModelFileInvalid: The file is cut short, hostile, or needs what this engine does not do.
        OSError: The file cannot be opened.
    """
    file = read_gguf(path)
    metadata = Metadata(path, file.metadata)
    vocabulary = _read_vocabulary(metadata)
    template = "tokenizer.chat_template"
    return ModelFile(
        path=path,
        name=metadata.text("general.name") if "general.name" in file.metadata else path.stem,
        spec=read_spec(metadata, vocab=len(vocabulary.tokens)),
        vocabulary=vocabulary,
        chat_template=metadata.text(template) if template in file.metadata else None,
        file=file,
    )


def _read_vocabulary(metadata: Metadata) -> Vocabulary:
    if (model := metadata.text("tokenizer.ggml.model")) != "gpt2":
        raise ModelFileInvalid(metadata.path, f"tokenizer {model!r} is not read (gpt2 byte-level BPE is)")
    if (pre := metadata.text("tokenizer.ggml.pre")) not in PRE_TOKENIZERS:
        raise ModelFileInvalid(metadata.path, f"pre-tokenizer {pre!r} is not known")
    tokens = metadata.texts("tokenizer.ggml.tokens")
    kinds = metadata.integers("tokenizer.ggml.token_type")
    if not tokens or len(kinds) != len(tokens) or len(set(tokens)) != len(tokens):
        raise ModelFileInvalid(metadata.path, f"{len(tokens)} tokens, {len(kinds)} token types, or a token twice")
    if _USER_DEFINED in kinds:
        raise ModelFileInvalid(metadata.path, "user-defined tokens are not read")
    control = frozenset(i for i, kind in enumerate(kinds) if kind == _CONTROL)
    return Vocabulary(
        tokens=tokens,
        merges=_read_merges(metadata, frozenset(tokens)),
        control=control,
        pre=pre,
        bos=metadata.token("tokenizer.ggml.bos_token_id", len(tokens)),
        adds_bos=metadata.flag("tokenizer.ggml.add_bos_token", default=False),
        eos=_read_eos(metadata, tokens, control),
    )


def _read_merges(metadata: Metadata, tokens: frozenset[str]) -> tuple[str, ...]:
    merges = metadata.texts("tokenizer.ggml.merges")
    for merge in merges:
        left, space, right = merge.partition(" ")
        if not space or not {left, right, left + right} <= tokens:
            raise ModelFileInvalid(metadata.path, f"merge {merge!r} is not of two tokens into a third")
    return merges


def _read_eos(metadata: Metadata, tokens: tuple[str, ...], control: frozenset[int]) -> tuple[int, ...]:
    declared = [metadata.token(key, len(tokens)) for key in _EOS_KEYS]
    named = [i for i in sorted(control) if tokens[i] in _EOS_NAMES]
    return tuple(dict.fromkeys([i for i in declared if i is not None] + named))
