"""How good a router is, on prompts that it has not learned from.

`routing_metrics.py` has RouteLLM's measures as RouteLLM defines them, `bootstrap.py` their intervals, `baselines.py`
what a router has to beat, `report.py` all of it in one table. It needs scores only, and knows no router from inside.
"""
