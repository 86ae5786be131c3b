"""The bundled engine: a small language model and an embedding model behind the OpenAI API, in a process of its own.

It knows tokens, blocks and text; it knows nothing of keys, budgets, routes or who asks. HTTP is in `server.py` alone,
torch in the folders that compute.

The path of a request, which is also the order to read in:

1. `server.py` reads a body; `wire/` decodes it, renders the chat (`text/`) and makes a `request.py` Request.
2. `service.py` hands it to the one thread that owns the model, and hands its events back to whoever awaits them.
3. `engine.py` steps: `schedule/` plans, `cache/` finds what is known already and gives out blocks, `model/` computes
   (`attention/`, `quant/`), `sample/` chooses, `choice.py` makes text of it and sees where it ends.
4. `wire/` writes the events down, as a stream or as one reply.

`measure/` says how fast it does all this, for whoever prices a token by the machine's time. `process.py` and `launch/`
start and end it, `workers.py` keeps long work off the event loop, `models.py` and `load/` read the weights, `embed/`
makes embeddings, `config.py` holds the settings, `errors.py` what can go wrong, `types.py` the values that cross the
seams.
"""
