"""Rows of a table in Markdown, of what a test has seen: tests/run -v shows what passed tests print."""


def row(*cells):
    print("| " + " | ".join(str(cell).replace("|", "/") for cell in cells) + " |", flush=True)


def head(*cells):
    row(*cells)
    print("|" + "---|" * len(cells), flush=True)
