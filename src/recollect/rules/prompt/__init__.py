"""How stored text stands before a model: fences, labels, markers, and what fits a budget."""
