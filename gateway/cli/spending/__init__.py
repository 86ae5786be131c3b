"""`sluice spend`: `spend.py` shows what was spent, `forecast.py` where budgets will end."""
