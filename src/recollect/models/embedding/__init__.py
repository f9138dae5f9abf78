"""Embedders: text in, vectors of length one out. Each names its vectors, so that vectors of two kinds are
never compared.

`static` needs nothing and is the default; `minilm` and `endpoint` need an extra; `cache` wraps any of them.
A module here is imported only when it is used, and nothing is ever downloaded.
"""
