"""Embedders: text in, vectors of length one out. Each names its vectors, so that two kinds are never
compared.

`static` needs nothing and is the default; `minilm` and `endpoint` need an extra; `cache` wraps any of them.
Nothing here is imported until it is asked for, and nothing is ever downloaded.
"""
