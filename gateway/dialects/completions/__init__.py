"""OpenAI's legacy Completions API, as old clients speak it.

`asking.py` reads a prompt as one message of the user, `answering.py` writes what the model says as text. A model of
chat sees the prompt in its chat template: it answers the text rather than continuing it. What only the bare model
could do (`suffix`, prompts of tokens, several prompts at once) is refused by name. Of an answer, text and refusal are
said; reasoning has no place beside text and stays behind, though its tokens are counted.

Spec: the OpenAI API reference, "Completions"; the types of the `openai` package.
"""
