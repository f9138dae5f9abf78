"""Facts in English sentences: patterns over clauses, with their word lists."""
