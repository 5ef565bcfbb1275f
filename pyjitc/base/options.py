"""Options of a compilation: one frozen value that is passed to all stages; and the environment variables, in one table.

`Options` determines the code, so it is part of every cache key. Environment variables are for the user who runs the
program; they never change the results of functions.
"""
from __future__ import annotations

import os

from .errors import suggest
from .named import Named

__all__ = ["Options", "NAMES", "make_options", "ENVIRONMENT", "environment", "with_environment"]


class Options(Named, fields="boundscheck overflow fastmath nogil error_model debug cache inline errstate parallel "
                            "declared objects races numba",
              defaults=(True, "raise", False, False, "python", False, True, "auto", False, False, False, False, False,
                        False)):
    """
    They also apply to all functions that the function calls, even if these have options of their own; only `parallel`
    of a called function takes effect in it.

    - `boundscheck`: check every index.
    - `overflow`: 'raise' OverflowError where an int does not fit in 64 bits, or 'wrap'.
    - `fastmath`: let floating-point arithmetic be reordered (True, or a tuple of LLVM's flag names).
    - `nogil`: release the interpreter lock during calls.
    - `error_model`: 'python' raises ZeroDivisionError for Python numbers, 'numpy' gives inf and nan.
    - `debug`: True: raise FloatingPointError at the operation that computes a NaN from operands that are not NaN;
      'races': raise RaceError where two iterations of a parallel loop access one element of an array, and one writes
      it: the calls are interpreted.
    - `cache`: store compiled code on disk, where later processes find it.
    - `inline`: a hint for calls of this function from compiled code, 'auto', 'always' (within a limit) or 'never'.
    - `parallel`: divide the iterations of loops over `prange`, and of whole-array expressions, among threads.
    - `errstate`: check NumPy's operations for floating-point errors, and warn or raise as np.errstate and np.seterr
      say; programs with an np.errstate that does more than ignore errors are compiled with this option.
    """

    __slots__ = ()


# declared: set by njit(signature): a type without an order accepts arrays of every order; "only" where the function
# has no other signature, so that calls convert numbers to its types; objects: set by jit: the interpreter does
# operations without a native form; races: set by debug="races"; numba: set by pyjitc.numba: the function is compiled
# with the semantics of Numba where these accept more programs (lib/extended.py). After a refusal it is "constants":
# constants that a function of the program passes to another one are compile-time constants there; or "names": a name
# of a field that is known only at run time is compared with those of all fields, although these have several types.
_OWN = ("declared", "objects", "races", "numba")
NAMES = tuple(name for name in Options._fields if name not in _OWN)
_CHOICES = {"overflow": ("raise", "wrap"), "error_model": ("python", "numpy"), "inline": ("auto", "always", "never")}
_FASTMATH = ("nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast")
# Options of Numba that have no effect here, or (with a text) have another name.
_ACCEPTED = {"nopython": None, "no_cpython_wrapper": None, "no_cfunc_wrapper": None, "no_rewrites": None,
             "looplift": None}
_REFUSED = {
    "forceobj": "njit has no object mode for the program's own operations; under pyjitc.jit the interpreter does what "
                "has no native form",
    "locals": "types of locals are inferred; convert where a type must change, as in np.float32(x)",
    "pipeline_class": "the compiler pipeline is fixed",
    "target": "targets are chosen by decorator",
    "target_backend": "targets are chosen by decorator",
}


def make_options(given: dict[str, object], base: Options = Options()) -> Options:
    """`base` with the keyword arguments of a decorator applied; raises TypeError or ValueError for wrong ones."""
    chosen = {}
    for name, value in given.items():
        if name in _ACCEPTED:
            continue
        if name in _REFUSED:
            if value:
                raise TypeError(f"option {name}={value!r}: {_REFUSED[name]}")
            continue
        if name not in NAMES:
            # the last two are options of njit only
            near = suggest(name, (*NAMES, *_ACCEPTED, *_REFUSED, "static_argnames", "static_argnums"))
            raise TypeError(f"unknown option {name!r}" + (f"; did you mean {near!r}?" if near else
                                                          f"; options are {', '.join(NAMES)}"))
        if name == "boundscheck" and value is None:
            continue
        if name == "fastmath" and not isinstance(value, bool):
            if isinstance(value, str):
                raise TypeError(f"option fastmath={value!r}: must be True, False or a list of flags "
                                f"({', '.join(_FASTMATH)})")
            flags = [f for f, on in value.items() if on] if isinstance(value, dict) else list(value or ())
            wrong = [repr(f) for f in value or () if f not in _FASTMATH]
            if wrong:
                raise ValueError(f"Unrecognized fastmath flags: {', '.join(wrong)}; flags are {', '.join(_FASTMATH)}")
            value = tuple(sorted(flags)) or False
        elif name == "debug" and value == "races":
            value = False
            chosen["races"] = chosen["parallel"] = True
        elif name == "parallel" and isinstance(value, dict):  # Numba's dict of the parallel transformations that are on
            value = any(value.values())
        elif name in _CHOICES:
            if value not in _CHOICES[name]:
                raise ValueError(f"option {name}={value!r}: choose one of {', '.join(map(repr, _CHOICES[name]))}")
        elif name != "fastmath":
            if not isinstance(value, bool):
                allowed = "True, False or 'races'" if name == "debug" else "True or False"
                raise TypeError(f"option {name}={value!r}: must be {allowed}")
        chosen[name] = value
    return base._replace(**chosen)


ENVIRONMENT = {
    "PYJITC_DISABLE": "1: decorators leave functions to the interpreter",
    "PYJITC_CACHE": "0: keep no compiled code on disk; 1: for every function, whatever decorators say",
    "PYJITC_CACHE_DIR": "folder of the disk cache (else pyjitc/ in XDG_CACHE_HOME or ~/.cache)",
    "PYJITC_CACHE_SIZE": "how many megabytes the disk cache may hold (else 256)",
    "PYJITC_DUMP": "stage[:function],...: print IR after a stage (generic, typed, a pass, llvm, asm; all) to stderr",
    "PYJITC_TIME": "1: print the time of every stage of a compile to stderr at exit",
    "PYJITC_PERF": "1: give compiled functions names for perf and py-spy, in temporary files and /tmp/perf-PID.map",
    "PYJITC_NUM_THREADS": "most threads of parallel regions and of kernels on the CPU (else the number of processors)",
    "PYJITC_BLAS": "none: matrix products and factorisations by own loops, without the BLAS and LAPACK that NumPy uses",
    "PYJITC_VERIFY": "1: verify the IR after every pass; last: after inference and the last passes",
    "PYJITC_AS_NUMBA": "1: `import numba` gives pyjitc.numba (`pyjitc run --as-numba` sets it)",
    "PYJITC_CUDA": "cpu, gpu or auto: where kernels run (else on a GPU where there is one, and on the CPU where not)",
}


def with_environment(options: Options) -> Options:
    """The options of a decorator, updated by the environment variables of the disk cache."""
    switch = environment("PYJITC_CACHE")
    return options._replace(cache=switch != "0") if switch else options


def environment(name: str) -> str:
    """The present value of the variable, or an empty text."""
    if name not in ENVIRONMENT:
        raise KeyError(name)
    return os.environ.get(name, "")
