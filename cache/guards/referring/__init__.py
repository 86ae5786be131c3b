"""What a question refers to: `names.py` by name, `people.py` by their part in life, `code.py` to the letter."""
