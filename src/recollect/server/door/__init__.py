"""Who may enter: keys, rates, and who comes from where."""
