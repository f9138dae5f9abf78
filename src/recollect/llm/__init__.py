"""Chat models: messages in, an answer out, whole or piece by piece. Whatever goes wrong is a `ModelError`.

`openai` speaks to any OpenAI-compatible server, `local` runs a small model in this process, `absent` stands where
none is configured. Around them: `chain` goes on to the next when one fails, `meter` counts what a call cost and stops
at a ceiling, `role` puts these together. Nothing here is imported until it is asked for; nothing is downloaded.
"""
