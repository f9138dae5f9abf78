"""Where a text holds a secret (an API key, a password, a card number), and the text without it.

`detector.find_secrets` reads a text in one pass of three steps: what is a secret by its own form (`formats`), what the
words around it announce (`announced`), and runs of letters so random that nothing else explains them (`tokens`). Each
step spares what only looks like one (`values`). The words, by language, and the formats are text files in `data`, which
`words` reads. `marks` says where the secrets are. Nothing here imports another package of ours.
"""
