"""What the writers of random functions share: lines, nested blocks, and the names that are bound in them."""

__all__ = ["Blocks"]


class Blocks:
    """A function that is being written. names: variables that are bound for sure -> kind; loops: how many loops of the
    function are around the place."""

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
        """A nested block; names bound in it are only maybe bound behind it. Gives what is bound at its end."""
        saved, self.names = self.names, dict(self.names)
        self.depth += 1
        self.loops += loop
        (write or self.block)()
        self.loops -= loop
        self.depth -= 1
        bound, self.names = self.names, saved
        return bound
