"""The tour that `recollect demo` gives."""
