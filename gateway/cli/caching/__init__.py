"""`sluice cache`: a module for each verb; `group.py` is where they meet."""
