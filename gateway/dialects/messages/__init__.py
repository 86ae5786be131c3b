"""The Anthropic Messages dialect: requests, answers, streams, token counts and errors, both ways.

Start at `asking.py` and `answering.py` for a client that speaks it, `calling.py` and `hearing.py` for a provider.

The chat form says most of it. These extensions carry the rest, each under the name that OpenAI-compatible servers use
where they have one:

On a request
    `thinking`, `top_k`, `cache_control`, `output_config` (less effort and format) and fields unknown here: as they are.
    `anthropic_beta`: the header of that name, which says what of tomorrow's API is meant.
    `reasoning_effort` is `output_config.effort`, `response_format` its format, `user` is `metadata.user_id`.
On a message, a part, a tool or a tool call
    `cache_control` and whatever else Messages knows beside what chat knows: as it is.
On an assistant's message, a completion's message and a delta
    `thinking_blocks`: thinking and redacted thinking with their signatures; chunks merge by `index`.
    `reasoning_content`: the same thinking as text, in answers only.
    `layout`: the order of the blocks, with `chars` and `citations` of each text, where it is not the plain order of
    thinking, one text, tool calls. One that no longer fits the message is passed over.
On a message of the role `tool`
    `is_error`.
As parts of a content
    `search_result`, `document` (one whose source is content), `tool_reference`, `browser_state`: the blocks themselves.
    `image_url.file_id`, `file.file_url`: sources that chat has no word for.
On a choice
    `stop_reason`: the stop sequence that was met. `native_finish_reason`: where `finish_reason` does not tell it.
    `stop_details`: why the model refused.
In usage
    `prompt_tokens_details.cache_write_tokens` (kept five minutes) and `cache_write_1h_tokens`, which do not overlap;
    fields that chat does not know.
"""

from typing import Final

BETAS: Final = "anthropic_beta"
