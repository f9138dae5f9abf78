"""How good the memory is, on data sets that others published: their readers, the measures, and the simple methods."""
