"""everword under the interfaces of other libraries. Each module needs its own library, and says so if it is missing.

An adapter is thin: it turns one library's calls into calls of a `Memory` or an `AsyncMemory`, and nothing else.
"""
