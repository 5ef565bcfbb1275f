"""The methods of the emitter that lowerings of operations may call: the protocol between this package and `codegen`.

A record's lowering is called as lower(e, inst, *operands): `e` is an emitter, `inst` the instruction, and each operand
the list of the LLVM values that represent it, its components. The result is the list for the result, empty or None
where there is none. A value is a name (`%v3`), a symbol (`@f`) or a constant (`0`), without its type.

Code is appended to the current block. A call that ends the block (`jump`, `branch`, `error`, a `line` with another
terminator) must be followed by `start`. Methods whose code may raise get the instruction, which has the failure edge.

This module is for readers and for the type checker; nothing imports it when the program runs. `codegen/emitter.py` and
`codegen/function.py` implement it for the CPU, `codegen/grid.py` and `codegen/nvptx.py` for kernels, which refuse
whatever needs Python. `tests/ops/test_emitter.py` checks that lowerings call no other methods.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from ..ir.core import Function, Inst
from ..types.kinds import Type

__all__ = ["Emitter"]


class Emitter(Protocol):
    """Builds the body of one LLVM function."""

    current: str  # the label of the block that is being emitted: the origin of an arm of `phi`
    flags: str  # the fast-math flags of the options, with a space at the end, or ""
    fn: Function  # the function that is being emitted, for messages
    # whether an array parameter accepts more arrays than its type says: any order, and writable ones for readonly
    any_order: bool
    array_class: type | None  # the class of the array that is unboxed, if it is not ndarray
    computed: dict[tuple[str, str], list[str]]  # operands -> results of operations that share work, in this block of IR
    leaving: bool  # whether the code is on a path that leaves the function after a failure
    crowded: bool  # whether the function releases so many arrays that each release is a call
    counters: int  # the number of words that share the cost that may accumulate between two polls
    # Whether the processor converts a float that does not fit in an int64 to INT_MIN, as x86 does, and LLVM has an
    # intrinsic for that instruction. The result of LLVM's own conversion is undefined there, so it needs two
    # comparisons first.
    indefinite: bool

    # -- instructions and blocks

    def assign(self, rhs: str) -> str:
        """Write an instruction that has a result, and return the result's new name."""

    def line(self, text: str) -> None:
        """Write an instruction that has no result."""

    def release_lock(self) -> str | None:
        """Release the interpreter lock if it is held; the result is for `take_lock`."""

    def take_lock(self, thread: str | None) -> None:
        """Take the interpreter lock again."""

    def label(self, hint: str) -> str:
        """A new label for a block, without its `%`."""

    def start(self, label: str) -> None:
        """Begin the block `label`."""

    def jump(self, label: str) -> None:
        """End the block; control goes on at `label`."""

    def branch(self, condition: str, yes: str, no: str, likely: bool | None = None) -> None:
        """End the block; control continues at `yes` where the i1 `condition` is true. likely: which target is nearly
        always taken; None where that is not known."""

    def when(self, condition: str, hint: str, likely: bool | None = None) -> AbstractContextManager[None]:
        """Context for code that runs only where the i1 `condition` is true. likely: whether it nearly always is."""

    def unless(self, condition: str, hint: str, likely: bool | None = None) -> AbstractContextManager[None]:
        """Context for code that runs only where the i1 `condition` is false. likely: whether it nearly always is."""

    def phi(self, t: str, arms: Iterable[tuple[str, str]]) -> str:
        """A phi instruction: the value of LLVM type `t` that belongs to the preceding block, by (value, label) pairs.
        It must be first in its block."""

    def hidden(self, value: str) -> str:
        """An i64 with the same value, of which LLVM does not see how it was computed, where the target has a way."""

    # -- memory in the frame

    def alloca(self, t: str, n: int = 1) -> str:
        """A pointer to `n` variables of LLVM type `t` in the frame: the same place each time that the code runs."""

    def memory_of(self, size: int) -> str:
        """A pointer to bytes in the frame for the elements of an array."""

    def at_entry(self, text: str) -> None:
        """Write an instruction that runs once, when the function is entered."""

    def clear(self, pointer: str, size: int) -> None:
        """Set bytes from `memory_of` to zero."""

    # -- contents of the module besides functions

    def declare(self, text: str) -> None:
        """Add a declaration to the module, if it is not there yet."""

    def external(self, name: str) -> str:
        """The symbol of a function or variable outside the object file, of Python's C API or one that runtime/loader.py
        provides: the loader finds it by its name."""

    def string(self, text: str) -> str:
        """Symbol of a C string."""

    def object(self, value: object) -> str:
        """The symbol of a Python object that the code needs; the loader sets it to the object's address."""

    def helper(self, name: str) -> str:
        """The symbol of a helper of codegen/helpers.py, which becomes part of the module."""

    def lasting_helper(self, name: str) -> str:
        """The symbol of a helper that is never unloaded, so that objects of the interpreter may refer to it."""

    def scopes(self, *scopes: tuple[int, int]) -> str:
        """The metadata of a list of alias scopes, each the number of an array in a group (see `array_load`)."""

    def memory_kind(self, name: str) -> str:
        """The metadata of an access to memory of a native list: memory with different names does not alias."""

    def rare(self, symbol: str, values: Sequence[str], t: str) -> str:
        """The text after `call` for a libm function of numbers of type `t` that few elements need."""

    def lookup(self, table: tuple[float, ...], t: str, index_type: str, index: str) -> str:
        """The number of type `t` in a table with a power of two of entries, at the lowest bits of the index."""

    def constants(self, t: str, values: Sequence[str]) -> str | None:
        """The symbol of an array in memory with these constants, or None where the target has none."""

    # -- types and values

    def components(self, t: Type) -> tuple[str, ...]:
        """LLVM types of the scalars that represent a value of type `t`."""

    def scalar(self, t: Type) -> str:
        """LLVM type of a value of type `t`, which has one component."""

    def memory(self, t: Type) -> str:
        """LLVM type of an array element of NumPy type `t`."""

    def zeros(self, t: Type) -> list[str]:
        """The components of some value of type `t`, which is not used."""

    def constant(self, t: Type, value: Any) -> list[str]:
        """Components of the Python constant `value` as type `t`."""

    def store_components(self, t: Type, box_pointer: str, values: Iterable[str], head: int = 16) -> None:
        """Write a value into a box: each component takes 8 bytes, after the head."""

    def load_components(self, t: Type, box_pointer: str, head: int = 16) -> list[str]:
        """Components of the value in a box."""

    # -- failure

    def fail(self, inst: Inst) -> str:
        """The label of the exit that the failure of `inst` takes, once Python's error indicator is set."""

    def error(self, inst: Inst, cls: type | str, message: str, *args: str) -> None:
        """End the block and raise cls(message). The message is a format for `args`, each with its LLVM type, in which
        `%%` stands for `%`."""

    def raise_unless(self, condition: str, inst: Inst, cls: type | str, message: str, *args: str) -> None:
        """Like `error`, where the i1 `condition` is false; otherwise the code continues."""

    def fail_unless(self, condition: str, fail: Callable[[], None]) -> None:
        """Let `fail` emit, in a cold block, the code that raises one of several errors where `condition` is false."""

    def lock(self) -> str | None:
        """Take the interpreter lock if it is not held; the result is for `unlock`."""

    def unlock(self, state: str | None) -> None:
        """Release the interpreter lock if `lock` has taken it."""

    def fail_by(self, inst: Inst, raises: Callable[[], None]) -> None:
        """Take the failure exit with the exception that the code which `raises` emits sets, under the interpreter
        lock."""

    def check_status(self, status: str, inst: Inst) -> None:
        """Take the failure exit where the i32 `status` that a call returned is not 0."""

    def check_null(self, pointer: str, inst: Inst) -> None:
        """Take the failure exit where a pointer that a call returned is null."""

    def warn(self, inst: Inst, cls: type, message: str) -> None:
        """Issue a warning at the line that calls the compiled function, as the interpreter's builtin functions do."""

    # -- Python objects

    def box(self, t: Type, values: Sequence[str], inst: Inst) -> str:
        """A new reference to the Python object of a value; takes the failure exit of `inst` on an error."""

    def unbox(self, t: Type, pointer: str, wrong: str) -> list[str]:
        """The components of the object as type `t`, with borrowed references; for another class it jumps to the label
        `wrong`. Arrays may be of a stricter order than their type."""

    def python_call(self, inst: Inst, callee: str, args: list[str], kwnames: tuple[str, ...]) -> str:
        """Call a Python object; consumes the references in `args`. Returns a new reference to the result."""

    # -- signals

    def fuel(self) -> str:
        """A pointer to the counter that counts down to the next poll of the interpreter. It keeps its value between
        calls, so that a loop of many short calls polls, too."""
