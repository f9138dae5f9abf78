"""Chat models: messages in, an answer out, at once or as a stream. Every failure is a `ModelError`.

`openai` calls any OpenAI-compatible server, `local` runs a small model in this process, `absent` is used where no
model is configured. Around them: `chain` asks the next model when one fails, `meter` counts what a call cost and stops
at a ceiling, `role` puts these together. A module here is imported only when it is used; nothing is downloaded.
"""
