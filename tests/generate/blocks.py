"""The common part of the writers of random functions: lines, nested blocks, and the names that are bound in them."""

__all__ = ["Blocks"]


class Blocks:
    """A function that is being written. names: variables that are certainly bound -> kind; loops: the number of loops
    of the function around the present line."""

    def __init__(self, r):
        self.r = r
        self.lines: list = []
        self.names: dict = {}
        self.depth = 1
        self.loops = 0
        self.count = 0

    def line(self, text):
        self.lines.append("    " * self.depth + text)

    def inside(self, *, loop=False, write=None):
        """A nested block; names bound in it may be unbound after it. Yields the names that are bound at its end."""
        saved, self.names = self.names, dict(self.names)
        self.depth += 1
        self.loops += loop
        (write or self.block)()
        self.loops -= loop
        self.depth -= 1
        bound, self.names = self.names, saved
        return bound
