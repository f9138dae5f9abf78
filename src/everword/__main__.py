"""`python -m everword`: the command line, where its script is not on the path."""

from everword.cli.main import main

if __name__ == "__main__":
    main()
