"""Chat models: messages in, an answer out, at once or as a stream. Every failure is a `ModelError`.

`openai` calls any OpenAI-compatible server, `local` runs a small model in this process; `answers` reads and checks what
they say, and makes their errors. `roles` puts them together: the next model is asked when one fails, the cost of a call
is counted, and a ceiling stops them. A module here is imported only when it is used; nothing is downloaded.
"""
