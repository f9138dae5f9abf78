"""Memory as lists and pages show it."""
