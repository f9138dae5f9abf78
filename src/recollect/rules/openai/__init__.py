"""What clients of OpenAI's API send and are sent, told apart from what is kept."""
