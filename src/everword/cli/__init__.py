"""The command line: what a person can do with a memory from a terminal. One module a command group."""
