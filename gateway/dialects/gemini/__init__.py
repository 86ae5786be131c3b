"""The Gemini API, as its providers speak it: Google's own, and Vertex AI with the same bodies.

`calling.py` writes a request and `hearing.py` reads its stream; start there. `chat_body.py` says what is let in.
`turns.py` puts messages into contents, `parts.py` what they hold, `tools.py` functions and the choice among them,
`generation.py` everything else that is asked of the answer; `names.py` knows models by their names. `stops.py`,
`usage.py` and `failures.py` each read one piece of an answer; `embedding.py` is for vectors, both ways.

Beyond Chat Completions, the chat form carries for this dialect, by the names of Google's own OpenAI-compatible API:

On a tool call, an assistant's message and a delta
    `extra_content.google.thought_signature`: what the model thought before this call, or before its text, sealed.
    Models of the third series and later refuse a call that comes back without it. Where a call is not theirs, another
    model's or a client's that dropped the field, the value that Google documents for this stands in its place.
    `reasoning_content`, in answers only: thoughts as text.
On a request
    `thinking` of Messages: its budget, and whether thoughts are shown. `reasoning.summary` of Responses: the latter.
    `safety_settings`: as they are. `top_k`.
On a choice
    `native_finish_reason`, where `finish_reason` does not tell it, and what else Gemini says of a candidate, as it is:
    `finishMessage`, `safetyRatings`, `citationMetadata`, `avgLogprobs`.
On a message of the role `tool`
    `is_error`; images and files in its content.
As parts of a content
    `file.file_url`: the address of a file, on the web or in Google's own store.

Put differently: instructions that come late stand before the conversation with the others, for they have one place.
What stays behind, because it says nothing to this model: `cache_control` and `prompt_cache_key`, because caching here
needs no hint; the name of a file; another model's `thinking_blocks` and `reasoning_items`; `include`, `truncation`,
`output_config` and `context_management`, whose absence leaves the answer what it is. What else this API has no
word for is refused by name, and so is whatever would change the price: tools that Google runs, and its stored caches.

Spec: the Gemini API reference, v1beta, "Generating content", "Caching" (for `Content` and `Part`) and "Embeddings".
"""
