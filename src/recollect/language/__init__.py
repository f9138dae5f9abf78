"""What any rule may use about text: terms, sentences, dates, names of things. No decision is made here."""
