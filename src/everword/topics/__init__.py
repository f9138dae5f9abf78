"""Messages grouped by meaning, with half-lives."""
