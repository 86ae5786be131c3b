"""OpenAI's Responses API, used without its store: everything a request needs is in the request.

Read `asking.py` first, then `calling.py`, its inverse; `answering.py` and `hearing.py` are the same pair for answers.
`shape/` says what is let in, `turns.py` makes messages of items and back, `parts.py` translates their content;
`calls.py` knows the two kinds of tool calls, `tools.py` how tools and formats are declared, `usage.py` the tokens;
`output.py` is one item of an answer while it grows.

Beyond Chat Completions, the chat form carries for this dialect:

* on a request: `reasoning` (all but its effort), `include`, `truncation`; `detail` and `file_url` of a file part;
  images and files in tool messages;
* on an assistant message and in a delta: `reasoning_items`, the items of reasoning as this API has them, with
  `encrypted_content`; `reasoning_content`, their text; `phase`. A tool call has `reasoning_items` where the model
  thought between two calls. In a stream they are merged by `index`, as tool calls are.

What stays behind, because it says nothing to a model: `id`, `status`, `annotations` and `logprobs` of input items. And
because only its maker can read it: the reasoning of another dialect (`thinking_blocks`, a bare `reasoning_content`),
and hints to another maker's cache (`cache_control`).

Spec: the OpenAI API reference, "Responses" and "Streaming events"; the types of the `openai` package.
"""
