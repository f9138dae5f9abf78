"""How a database gets the tables of today, whichever version of recollect made it."""
