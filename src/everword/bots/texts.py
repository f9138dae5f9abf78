"""What a bot says, where it does not depend on what is remembered."""

from __future__ import annotations

from everword.bots.settings import LEAST_THRESHOLD, MOST_THRESHOLD

COMMANDS = {
    "start": "what this bot is",
    "help": "all commands",
    "summary": "set up how memory is kept",
    "summary_status": "how memory stands",
    "summary_on": "use memory again",
    "summary_off": "stop using memory; nothing is removed",
    "summary_now": "summarise now",
    "whatdoyouknow": "what is known about you, or about NAME",
    "remember": "keep something: /remember I like tea",
    "forget": "take something out: /forget that I like tea",
    "undo": "bring back what was forgotten last",
    "search": "find messages: /search night train",
    "digest": "what happened today, or in the week: /digest week",
    "export": "your messages as a file",
    "erase": "remove what you said, for good",
    "cancel": "end a question of mine",
}

START_PRIVATE = """\
I am {name}. I remember what you tell me.
{model}
What I keep: your messages with your name, their times and my replies, and what follows from them: summaries and \
facts. I show it to nobody but you; whoever runs me can read it.
/summary sets up how it is kept, /whatdoyouknow shows what I know, /erase removes it all. /help lists all commands."""

START_GROUP = """\
I am {name}. I keep the messages of this group that I am shown, with their authors, and remember what was said.
{model}
What is said here is shown here only. /whatdoyouknow shows what I know about you from this group, /erase removes \
what you said. Those who run the group set me up: /summary. /help lists all commands."""

WITH_MODEL = 'Talk to me, or say "{name}, remember that …".'
WITHOUT_MODEL = (
    "No model is set up for me: I remember, find and answer memory commands, but I do not reply to anything else."
)

CHOOSE_STORAGE = "Where should I keep the memory of this chat?"
ASK_THRESHOLD = f"After how many messages should I summarise? Send a number from {LEAST_THRESHOLD} to {MOST_THRESHOLD}."
REFUSE_THRESHOLD = (
    f"{{text}} is no number from {LEAST_THRESHOLD} to {MOST_THRESHOLD}. Send one, such as 15, or /cancel."
)
SET_UP = "Memory is set up.\nStorage: {storage}\nSummary after: {threshold}"
CANCELLED = "Nothing was changed."
NOTHING_TO_CANCEL = "There is no question to end."
NOT_FOR_YOU = "This question is over, or it is not for you."
ADMINS_ONLY = "Only those who run this group may do that."
IS_OFF = "Memory is off here. /summary_on turns it on again; everything is still there."
NO_COMMAND = "There is no command /{name}. /help lists all commands."
NO_MODEL_YET = (
    "I keep what you write, and find it again. I have no model to reply with; /help shows what I can do without one."
)
MODEL_AWAY = "I cannot reply now: the model is away. Your message is kept; ask again in a while."
NOT_KEPT = "I could not keep your message: the store refused it. Say it again in a while."
NOT_DONE = "I could not do that: my store refused it. Try again in a while."
NOT_SET_UP = "I could not set that up: my store refused it. Nothing was changed; send the number again in a while."
INTERRUPTED = (
    "I was ended while I did this, so I do not do it again. /whatdoyouknow and /summary_status show whether it is done."
)
TOO_MANY = "I have too much to answer here. What you write is kept; ask me again in a while."
OUTAGE = (
    "I cannot write to my disk now. I hold what is said in memory and write it as soon as I can; it is lost if I am "
    "ended before that."
)
OUTAGE_OVER = "My disk takes messages again: {messages} held in memory written."
FAILED = "That did not work: {reason}"
FAILED_INSIDE = "That did not work. Whoever runs me finds the reason in my log: {kind}."
FAILED_SUMMARY = (
    "Summarising has failed. The messages stay as they are, nothing is lost, and it is tried again at the next "
    "trigger; /summary_now tries at once."
)
STAND_IN_SUMMARY = (
    "The model could not write the summary. A plainer one of my own stands in, nothing is lost, and the model is "
    "asked again at the next trigger."
)
NEED_WORDS = {
    "remember": "What should I remember? Write it as in: /remember I like tea",
    "forget": "What should I forget? Write it as in: /forget that I like tea",
    "search": "What should I look for? Write it as in: /search night train",
}
DIGEST_USAGE = (
    "/digest is of today, /digest yesterday of the day before, /digest week of the last days. Those who run the group "
    "can have it sent: /digest daily 08:30, /digest weekly mon 08:30, /digest off."
)
NOT_SENT = "I could not send the file; it may be too large. Whoever runs me can do it with `everword export`."
START_FIRST = "I send your messages to you alone: open a private chat with me, send /start there, and ask here again."
SYSTEM = "You are {name}, who takes part in a chat on {platform}. Write plain text, without markup, and be brief."


def help_text() -> str:
    """All commands, one a line."""
    lines = [f"/{name} – {about}" for name, about in COMMANDS.items()]
    return "\n".join(lines)


def count_messages(number: int) -> str:
    return f"{number:,} message{'' if number == 1 else 's'}"
