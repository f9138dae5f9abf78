"""Ten secrets as people paste them, each in a message with ordinary words, and a way to look for them anywhere.

Each has a distinct `core`: a part of the secret that is in no placeholder and in no other text, so that a secret that
was cut, escaped or broken into lines is found, too. None of them opens anything.
"""

from __future__ import annotations

from everword import Draft

BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7Zq9kJ2yXw3Vt"
SECRETS = {
    "kQ81xZpL0mVn4TyUw92RcJ": ("Our OpenAI key is ", "sk-proj-" + "aB3dE5fG7hkQ81xZpL0mVn4TyUw92RcJ6sDf", ", try it."),
    "J5XQ7RTWVNMPK": ("Our AWS access key id is ", "AKIA" + "J5XQ7RTWVNMPK3QZ", ", keep it safe."),
    "q1W2e3R4t5Y6u7I8": ("GitHub token: ", "ghp_" + "q1W2e3R4t5Y6u7I8o9P0aSdFgHjKlZxCvBnM", " as we said."),
    "k9ZxQ2mVb7LtYw4HnRd8Pc3J": (
        "The Slack bot has ", "xoxb-" + "248163957204-7305918264471-k9ZxQ2mVb7LtYw4HnRd8Pc3J", " now."
    ),
    "4532981276049319": ("My card is ", "4532981276049319", ", it ends in May."),
    "tr0ub4dor": ("My password is ", "tr0ub4dor&3x", " since last week."),
    "370400440532013000": ("Send it to ", "DE89370400440532013000", " please."),
    BODY[20:44]: (
        "This is the deploy key:\n",
        f"-----BEGIN PRIVATE KEY-----\n{BODY}\n{BODY[::-1]}\n-----END PRIVATE KEY-----",
        "\nPut it on the server.",
    ),
    "dbs3cr3tpw": ("The database is ", "postgresql://app:dbs3cr3tpw9@db.example.com/shop", " in the cloud."),
    "TcmVhZGluZ0tleQ": (
        "Use this header: Bearer ",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhbGV4IiwibmFtZSI6ImFsZXgifQ.TcmVhZGluZ0tleQx8f7s9d2kL0pQ",
        " with curl.",
    ),
}  # fmt: skip
TALK = (
    "I live in Delft and I work as a gardener.",
    "The tulips near the old windmill are in flower.",
    "My sister Mia plays the cello in an orchestra.",
    "Tomorrow I meet Tom at the harbour.",
)


def pasted_texts() -> list[str]:
    return ["".join(parts) for parts in SECRETS.values()]


def drafts() -> list[Draft]:
    """The ten messages among ordinary talk, with an answer after each."""
    messages: list[Draft] = []
    for number, text in enumerate(pasted_texts()):
        messages.append(Draft("user", TALK[number % len(TALK)]))
        messages.append(Draft("user", text))
        messages.append(Draft("assistant", f"Noted, that is thing number {number}."))
    return messages


def secrets_in(text: object) -> list[str]:
    """The cores of the secrets that are in a text, in whatever case."""
    folded = (text if isinstance(text, str) else repr(text)).casefold()
    return [core for core in SECRETS if core.casefold() in folded]
