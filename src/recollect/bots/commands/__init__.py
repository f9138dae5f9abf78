"""The commands of a bot: how memory is kept, what is remembered, digests, and leaving with one's words or without."""
