"""One reading of a text: language, sentences, words, names, dates; what any rule may ask of it."""
