"""What the lowering of an operation may ask of the emitter: the protocol between this room and `codegen`.

A record's lowering is called as lower(e, inst, *operands): `e` is an emitter, `inst` the instruction, an operand the
list of the LLVM values that represent it, its components. The result is the list for the result, empty or None where
there is none. A value is a name (`%v3`), a symbol (`@f`) or a constant (`0`), without its type.

Code is written at the end of the current block. Whatever ends a block (`jump`, `branch`, `error`, a `line` with another
terminator) is followed by `start`. Whatever may raise takes the instruction, which says where its failure goes.

This module is for readers and for the type checker; nothing imports it when the program runs. `codegen/emitter.py` and
`codegen/function.py` implement it for the CPU, `codegen/grid.py` and `codegen/nvptx.py` for kernels, where what needs
Python is refused. `tests/ops/test_emitter.py` holds that lowerings ask for nothing else.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from ..ir.core import Function, Inst
from ..types.kinds import Type

__all__ = ["Emitter"]


class Emitter(Protocol):
    """Builds the body of one LLVM function."""

    current: str  # the label of the block that is being written: the origin of an arm of `phi`
    flags: str  # the fast-math flags of the options, with a space at the end, or ""
    fn: Function  # the function that is being written, for messages
    any_order: bool  # whether more arrays than those of a type are taken: in whatever order, writable for readonly
    computed: dict[tuple[str, str], list[str]]  # operands -> results of operations that share work, in this block of IR
    leaving: bool  # whether the code is of a way out of a function that fails
    counters: int  # how many words share the cost that may run up between two polls
    # Whether the processor gives INT_MIN for a float that fits in no int64, as x86 does, and has an intrinsic for it;
    # what LLVM's own conversion gives is undefined, and needs two comparisons first.
    indefinite: bool

    # -- instructions and blocks

    def assign(self, rhs: str) -> str:
        """Write an instruction that has a result, and return the result's new name."""

    def line(self, text: str) -> None:
        """Write an instruction that has no result."""

    def release_lock(self) -> str | None:
        """Give up the interpreter lock where it is held; the answer is for `take_lock`."""

    def take_lock(self, thread: str | None) -> None:
        """Take the interpreter lock again."""

    def label(self, hint: str) -> str:
        """A new label for a block, without its `%`."""

    def start(self, label: str) -> None:
        """Begin the block `label`."""

    def jump(self, label: str) -> None:
        """End the block; control goes on at `label`."""

    def branch(self, condition: str, yes: str, no: str, likely: bool | None = None) -> None:
        """End the block; control goes on at `yes` where the i1 `condition` is true. likely: which way is taken nearly
        always; None where that is not known."""

    def phi(self, t: str, arms: Iterable[tuple[str, str]]) -> str:
        """The value of LLVM type `t` by where control came from: (value, label) pairs. First in its block."""

    # -- memory in the frame

    def alloca(self, t: str, n: int = 1) -> str:
        """Pointer to `n` variables of LLVM type `t` in the frame, one place for all times that the code runs."""

    def memory_of(self, size: int) -> str:
        """Pointer to bytes in the frame for the elements of an array."""

    def at_entry(self, text: str) -> None:
        """Write an instruction that runs once, when the function is entered."""

    def clear(self, pointer: str, size: int) -> None:
        """Set bytes that `memory_of` gave to zero."""

    # -- what the module has beside functions

    def declare(self, text: str) -> None:
        """Have a declaration of LLVM in the module, once."""

    def external(self, name: str) -> str:
        """Symbol of something outside the object that the loader knows by name: of Python's C API, or of
        runtime/symbols.py."""

    def string(self, text: str) -> str:
        """Symbol of a C string."""

    def object(self, value: object) -> str:
        """Symbol of a Python object that the code needs; the loader gives it the object's address."""

    def helper(self, name: str) -> str:
        """Symbol of a helper of codegen/helpers.py, which becomes part of the module."""

    def scopes(self, *scopes: tuple[int, int]) -> str:
        """Metadata of a list of scopes, each the number of an array in a group (see `array_load`)."""

    def memory_kind(self, name: str) -> str:
        """Metadata of an access to memory of a native list: what has another name shares no memory with it."""

    def rare(self, symbol: str, values: Sequence[str], t: str) -> str:
        """The rest of a call of a libm function of numbers of type `t` that few elements need."""

    def lookup(self, table: tuple[float, ...], t: str, index_type: str, index: str) -> str:
        """The number of type `t` in a table of a power of two of them, at the lowest bits of the index."""

    # -- types and their values

    def components(self, t: Type) -> tuple[str, ...]:
        """LLVM types of the scalars that represent a value of type `t`."""

    def scalar(self, t: Type) -> str:
        """LLVM type of a value of type `t`, which has one component."""

    def memory(self, t: Type) -> str:
        """LLVM type of an array element of NumPy type `t`."""

    def zeros(self, t: Type) -> list[str]:
        """Components of some value of type `t`, where nobody reads it."""

    def constant(self, t: Type, value: Any) -> list[str]:
        """Components of the Python constant `value` as type `t`."""

    def store_components(self, t: Type, box_pointer: str, values: Iterable[str], head: int = 16) -> None:
        """Write a value into a box: each component takes 8 bytes, after the head."""

    def load_components(self, t: Type, box_pointer: str, head: int = 16) -> list[str]:
        """Components of the value in a box."""

    # -- failure

    def fail(self, inst: Inst) -> str:
        """Label of the way out that the failure of `inst` takes, once Python's error indicator is set."""

    def error(self, inst: Inst, cls: type | str, message: str, *args: str) -> None:
        """End the block: raise cls(message), a format for `args`, each with its LLVM type, in which `%%` stands for
        `%`."""

    def raise_unless(self, condition: str, inst: Inst, cls: type | str, message: str, *args: str) -> None:
        """As `error`, where the i1 `condition` is false; otherwise the code goes on."""

    def fail_unless(self, condition: str, fail: Callable[[], None]) -> None:
        """Have `fail` write the code, in a place apart, that raises one of several errors where `condition` is
        false."""

    def check_status(self, status: str, inst: Inst) -> None:
        """Fail where the i32 `status` that a call returned is not 0."""

    def check_null(self, pointer: str, inst: Inst) -> None:
        """Fail where a pointer that a call returned is null."""

    def warn(self, inst: Inst, cls: type, message: str) -> None:
        """Warn where the compiled function is called, as the interpreter's functions in C do."""

    # -- Python objects

    def box(self, t: Type, values: Sequence[str], inst: Inst) -> str:
        """A new reference to the Python object of a value; fails through `inst`."""

    def unbox(self, t: Type, pointer: str, wrong: str) -> list[str]:
        """Components of the object as exactly type `t`, with borrowed references; otherwise control goes to label
        `wrong`."""

    def python_call(self, inst: Inst, callee: str, args: list[str], kwnames: tuple[str, ...]) -> str:
        """Call a Python object; takes over the references in `args`. A new reference to what it returns."""

    # -- signals

    def fuel(self) -> str:
        """Pointer to the word that counts down to the next poll of the interpreter. It stays from call to call: a loop
        of many short calls lets signals in as well."""
