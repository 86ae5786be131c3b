"""How much is cut and how seldom the answer is cut with it, on conversations whose answer-bearing part is known.

Read `measuring.py` first. `facts.py` are facts with questions worded otherwise, `conversations.py` builds long prompts
around them, `public.py` builds others from public texts.
"""
