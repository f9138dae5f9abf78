"""The bot on Telegram."""
