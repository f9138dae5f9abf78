"""How a database gets the tables of today, whichever version of everword made it."""
