"""What an operation record says in place of partial derivatives."""

__all__ = ["NONDIFF", "STRUCTURAL", "NO_RULE"]


class _Mark:
    __slots__ = ("text",)

    def __init__(self, text: str):
        self.text = text

    def __repr__(self):
        return self.text


NONDIFF = _Mark("NONDIFF")  # derivative zero wherever there is one: comparisons, integers, rounding
STRUCTURAL = _Mark("STRUCTURAL")  # moves values without computing: autodiff handles the operation by name
NO_RULE = _Mark("NO_RULE")  # has a derivative that nobody wrote down yet: autodiff says so
