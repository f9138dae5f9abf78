"""Finding: the index view, the index of a scope in memory, ranking, the floor."""
