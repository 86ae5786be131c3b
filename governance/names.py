"""Names as people may see them: callers choose some of them, and a terminal obeys what it cannot print."""


def shown(text: str) -> str:
    """Return a name with a mark in the place of every character that does not print (control, bidirectional, …)."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
