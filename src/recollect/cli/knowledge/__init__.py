"""Commands on what is known of people: facts, statements, questions about them."""
