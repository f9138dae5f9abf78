"""How statements are given to PostgreSQL: by its driver itself, past what SQLAlchemy makes around each."""
