"""A few small native functions that are needed before anything was compiled, as x86-64 code with addresses filled in.

`slow_path` is the end of every dispatcher's chain of stubs. In C:

    PyObject *slow_path(PyObject *self, PyObject **args, size_t nargsf, PyObject *kwnames) {
        PyObject *method = PyMethod_New(prepare, self);
        if (!method) return NULL;
        PyObject *result = PyObject_Vectorcall(method, args, nargsf, kwnames);
        Py_DecRef(method);
        if (!result) {                          // the frame of `prepare` is no part of the user's program
            PyErr_Fetch(&type, &value, &tb);
            if (tb) {
                PyObject *inner = tb->tb_next;
                Py_IncRef(inner);
                Py_DecRef(tb);
                tb = inner;
            }
            PyErr_Restore(type, value, tb);
            return NULL;
        }
        if (result != RETRY) return result;
        Py_DecRef(result);
        return self->entry(self, args, nargsf, kwnames);      // a tail call
    }

so `prepare(self, *args, **kwargs)` may either return the result, or compile and request that the call is repeated, in
which case there is no Python frame between the caller and native code.

`traceback` adds the entry of a frame of compiled code to the traceback of the current exception. Unlike
_PyTraceback_Add it makes a code object with the first line of the function, which shows its source in notebooks and
debuggers, and with the columns of the expression. It is made once for each place that raises, at the first time:

    struct Place { PyObject *made; int line; unsigned size; char table[16]; };
    struct Function { char *name, *qualname, *filename; int first; struct Place places[]; };

    void traceback(struct Function *function, unsigned where) {         // where: offset of the place in the data
        struct Place *place = (void *)((char *)function + where);
        PyErr_Fetch(&type, &value, &tb);
        if (!place->made) {
            PyObject *parts = Py_BuildValue("{s:s,s:s,s:i,s:N,s:s}", "co_name", function->name,
                "co_filename", function->filename, "co_firstlineno", function->first,
                "co_linetable", PyBytes_FromStringAndSize(place->table, place->size),
                "co_qualname", function->qualname);
            if (parts) {
                place->made = PyObject_Call(replace, empty, parts);     // the `replace` of an empty code object
                Py_DecRef(parts);
            }
        }
        if (place->made) frame = PyFrame_New(PyThreadState_Get(), place->made, globals, locals);
        if (frame) {
            frame->f_lineno = place->line;
            entry = PyObject_CallFunction(&PyTraceBack_Type, "OOii", tb ? tb : Py_None, frame, 0, place->line);
            if (entry) { Py_DecRef(tb); tb = entry; }
            Py_DecRef(frame);
        }
        PyErr_Restore(type, value, tb);
    }

`vectorcall` is PyObject_Vectorcall for Python 3.10, whose headers have it inline.

`bind` stores the arguments of a call with keywords or omitted defaults in the slots of parameters; all stubs share it:

    bool bind(Callable_ *self, PyObject **args, size_t nargs, PyObject *kwnames, PyObject **slots, size_t n, size_t
    only,
              PyObject **names) {
        if (nargs > n) return false;
        for (size_t i = 0; i < n; i++) slots[i] = i < nargs ? args[i] : NULL;
        for (size_t j = 0; kwnames && j < size(kwnames); j++) {     // names are compared by identity: code's are
        interned
            size_t i = only;                                        // the first parameter that has a keyword
            for (;; i++) {
                if (i >= n) return false;
                if (names[i] == item(kwnames, j)) break;
            }
            if (slots[i]) return false;
            slots[i] = args[nargs + j];
        }
        for (size_t i = 0; i < n; i++)
            if (!slots[i]) {
                ssize_t k = i - (n - size(self->defaults));
                if (k < 0) return false;
                slots[i] = item(self->defaults, k);
            }
        return true;
    }

`next_of` is the `tp_iternext` of an iterator of compiled code (native_iterators.py), which keeps the compiled function
that makes a step of it:

    PyObject *next(NativeIterator *self) { return PyObject_Vectorcall(self->step, &self, 1, NULL); }

`caller` makes a C function with four word-sized parameters, which calls a Python function with them:

    int call(void *a, void *b, void *c, void *d) {
        PyObject *result = PyObject_CallFunction(function, "KKKK", a, b, c, d);
        if (!result) return -1;                             // the exception is the caller's
        Py_DecRef(result);
        return 0;
    }

`signals` lets Python handle signals, for polls of loops. It is a thunk because it saves all registers but r11, rax and
those of vectors (LLVM's `preserve_mostcc`), and every loop needs it. It takes the interpreter lock, since
code may run without it; where the thread already holds the lock, that costs a few nanoseconds:

    int signals(void) {
        PyGILState_STATE state = PyGILState_Ensure();
        int status = PyErr_CheckSignals();
        PyGILState_Release(state);
        return status != 0;
    }

With `memory_handler` NumPy frees and resizes arrays whose data compiled code allocated (NEP 49): libc's malloc, calloc,
realloc and free, with an additional first argument.
"""
from __future__ import annotations

import builtins
import ctypes
import mmap
import struct
import sys

__all__ = ["slow_path", "next_of", "traceback", "position_table", "PLACES", "PLACE", "vectorcall", "bind", "caller",
           "memory_handler", "place", "signals", "quad", "never_freed"]

PLACES, PLACE = 32, 32  # the offset of the places in a Function, and the size of one

_PUSH = "53 55 4154 4155 4156"  # push rbx, rbp, r12, r13, r14: keeps the stack aligned for calls
_POP = "415e 415d 415c 5d 5b"
_SAVE = "4889fb 4889f5 4989d4 4989cd"  # mov rbx, rdi; mov rbp, rsi; mov r12, rdx; mov r13, rcx

_SLOW_PATH = """
    48b8 {PyMethod_New} 4157 4156 4989ce 4155 4989d5 4154 4989f4 4889fe 55 4889fd 48bf {prepare} 53 4883ec38 ffd0
    4885c0 0f8497000000 4889c7 4889442408 4c89f1 4c89ea 48b8 {PyObject_Vectorcall} 4c89e6 49bf {Py_DecRef} ffd0
    488b7c2408 4889c3 41ffd7 4885db 7564 48b8 {PyErr_Fetch} 488d542428 488d742420 488d7c2418 ffd0 488b442428 4885c0
    7420 488b5810 48b8 {Py_IncRef} 4889df ffd0 488b7c2428 41ffd7 48895c2428 488b542428 488b742420 48b8
    {PyErr_Restore} 488b7c2418 ffd0 31db eb38 48b8 {retry} 4839c3 7529 4889df 41ffd7 488b85 {offset} 4c89f1 4c89ea
    4883c438 4c89e6 4889ef 5b 5d 415c 415d 415e 415f ffe0 4883c438 4889d8 5b 5d 415c 415d 415e 415f c3
"""

_TRACEBACK = """
    48b8 {PyErr_Fetch} 4154 55 4889fd 53 89f3 4801fb 4883ec20 488d542418 488d742410 488d7c2408 ffd0 4c8b23 4d85e4
    0f84d9000000 48b8 {PyThreadState_Get} ffd0 4c89e6 48b9 {locals} 48ba {globals} 4889c7 48b8 {PyFrame_New} ffd0 4889c5
    4885c0 7477 448b4b08 488b542418 4889e9 48be {entry} 48bf {PyTraceBack_Type} 49ba {PyObject_CallFunction} 4885d2
    448988 {offset} 48b8 {none} 480f44d0 4531c0 31c0 41ffd2 4889c3 4885c0 7416 48b8 {Py_DecRef} 488b7c2418 ffd0
    48895c2418 48b8 {Py_DecRef} 4889ef ffd0 488b542418 488b742410 48b8 {PyErr_Restore} 488b7c2408 ffd0 4883c420 5b 5d
    415c c3 0f1f4000 4c8b6508 8b730c 488d7b10 48b8 {PyBytes_FromStringAndSize} ffd0 4883ec08 488b5500 48b9 {qualname}
    48be {table} 4154 49b9 {first} 48bf {parts} 49ba {Py_BuildValue} 51 48b9 {filename} 50 8b4518 56 4c8b4510 48be
    {name} 50 31c0 41ffd2 4889c5 4883c430 4885c0 7435 48bf {replace} 4889c2 48be {empty} 48b8 {PyObject_Call} ffd0
    4889ef 488903 48b8 {Py_DecRef} ffd0 4c8b23 4d85e4 0f8414ffffff e95efeffff
"""

_VECTORCALL = f"""
    488b4708 f680a900000008 740f                                # rax = type; if it has no vectorcall: generic
    488b4038 488b0407 4885c0 7402 ffe0                          # rax = the callable's vectorcall; jmp rax
    {_PUSH} {_SAVE}                                             # generic:
    48b8 {{PyThreadState_Get}} ffd0
    4889c7 4889de 4889ea 4c89e1 48d1e1 48d1e9 4d89e8            # (tstate, callable, args, nargs, kwnames)
    48b8 {{_PyObject_MakeTpCall}} {_POP} ffe0
"""

_BIND = """
    4c39ca760331c0c3                                            # nargs > n: false
    4d85c9741c31c04839d073064c8b14c6eb034531d24d8914c048ffc04c39c872e6
    415741565348 85c9744c 488b4110 4885c07443                   # push r15, r14, rbx; no names: to the defaults
    4c8b5424284c8b5c2420488d14d631f6                            # the loop over names
    488b5cf1184d89df 4d39cf736e 4d8d77014b391cfa4d89f775ee
    4b837cf0f8007559488b1cf24b895cf0f848ffc64839c672cd
    b0014d85c97443                                              # the defaults of `self`
    488b5718488b4a104a8d34cd00000000488d14ca4829f24883c2184c29c931f6
    49833cf00075104889cf4801f77812488b3cf249893cf048ffc64c39ce72e1
    eb02 31c0 5b415e415f c3                                     # pop; return
"""

_NEXT = """
    4883ec18 48897c2408 488bbf {step} 488d742408 ba01000000 31c9  # sub rsp, 24; [rsp+8] = self; rdi = step
    48b8 {PyObject_Vectorcall} ffd0 4883c418 c3
"""

_CALLER = """
    53 4989c9 4989d0 4889f1 4889fa 48bf {function} 48be {format} 31c0 49ba {PyObject_CallFunction} 41ffd2 4885c0 7414
    4889c7 49ba {Py_DecRef} 41ffd2 31c0 5b c3 b8ffffffff 5b c3
"""

_SIGNALS = """
    51 52 56 57 4150 4151 4152 53 55                            # push rcx, rdx, rsi, rdi, r8, r9, r10, rbx, rbp
    48b8 {PyGILState_Ensure} ffd0 89c3                          # ebx = state
    48b8 {PyErr_CheckSignals} ffd0 89c5                         # ebp = status
    89df 48b8 {PyGILState_Release} ffd0
    31c0 85ed 0f95c0 5d 5b 415a 4159 4158 5f 5e 5a 59 c3        # eax = ebp != 0; pop
"""

_memory: list[mmap.mmap] = []


def slow_path(prepare: object, retry: object, entry: int) -> int:
    """The address of a slow path that calls `prepare`, and repeats the call when the result is `retry`; `entry`: offset
    of the vectorcall word in `self`. It lives as long as the process; the caller keeps both objects alive."""
    try:
        call = _address("PyObject_Vectorcall")
    except ValueError:
        call = vectorcall()
    return place(_SLOW_PATH, prepare=quad(id(prepare)), retry=quad(id(retry)), offset=struct.pack("<i", entry),
                  PyObject_Vectorcall=quad(call),
                  **_addresses("PyMethod_New", "Py_DecRef", "Py_IncRef", "PyErr_Fetch", "PyErr_Restore"))


def next_of(step: int) -> int:
    """The address of code that calls the function at offset `step` of an object with the object."""
    try:
        call = _address("PyObject_Vectorcall")
    except ValueError:
        call = vectorcall()
    return place(_NEXT, step=struct.pack("<i", step), PyObject_Vectorcall=quad(call))


def traceback(line: int) -> int:
    """The address of the function that adds entries to tracebacks; `line`: offset of the line in a frame."""
    new = ctypes.pythonapi.PyCode_NewEmpty
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int]
    with_names = sys.version_info >= (3, 11)
    texts = {"name": b"co_name", "filename": b"co_filename", "first": b"co_firstlineno", "table": b"co_linetable",
             "qualname": b"co_qualname", "parts": b"{s:s,s:s,s:i,s:N,s:s}" if with_names else b"{s:s,s:s,s:i,s:N}",
             "entry": b"OOii"}
    kept = ctypes.create_string_buffer(b"\0".join(texts.values()))
    places, at = {}, ctypes.addressof(kept)
    for name, text in texts.items():
        places[name] = quad(at)
        at += len(text) + 1
    objects = {"replace": new(b"", b"", 1).replace, "empty": (), "globals": {}, "locals": _Locals(), "none": None}
    for part in (kept, *objects.values()):
        never_freed(part)
    return place(_TRACEBACK, offset=struct.pack("<i", line), **places,
                  **{name: quad(id(value)) for name, value in objects.items()},
                  **_addresses("PyErr_Fetch", "PyErr_Restore", "Py_BuildValue", "PyBytes_FromStringAndSize",
                               "PyObject_Call", "Py_DecRef", "PyFrame_New", "PyThreadState_Get",
                               "PyObject_CallFunction", "PyTraceBack_Type"))


class _Locals(dict):
    """The locals of all frames of compiled functions, which are empty. A debugger that reads one by name gets an
    explanation."""

    def __missing__(self, name):
        if hasattr(builtins, name):
            raise KeyError(name)
        raise NameError(f"no value of {name!r} is known here: compiled functions keep their locals in registers; "
                        "run the program with PYJITC_DISABLE=1, and the interpreter keeps them")


def position_table(first: int, line: int, end_line: int, col: int, end_col: int) -> bytes:
    """The table of positions of a code object with one place, in a function that starts at line `first`
    (Objects/locations.md of CPython). At most 16 bytes: without columns where these need more."""
    if sys.version_info < (3, 11):
        return b""
    delta = line - first
    signed = _varint(delta * 2 if delta >= 0 else -delta * 2 + 1)
    if col >= 0 and end_col >= 0 and end_line >= line:
        table = bytes([_ENTRY | 14 << 3]) + signed + _varint(end_line - line) + _varint(col + 1) + _varint(end_col + 1)
        if len(table) <= 16:
            return table
    return bytes([_ENTRY | 13 << 3]) + signed  # a line without columns


_ENTRY = 0x80 | 3 - 1  # for the three instructions of an empty code object


def _varint(value: int) -> bytes:
    parts = []
    while value >= 64:
        parts.append(64 | value & 63)
        value >>= 6
    return bytes([*parts, value])


def vectorcall() -> int:
    return place(_VECTORCALL, **_addresses("PyThreadState_Get", "_PyObject_MakeTpCall"))


_MEMORY = "malloc", "calloc", "realloc", "free"
# for each of them: mov rdi, rsi; mov rsi, rdx; jmp to it; and six bytes to make its size 24
_WITHOUT_FIRST = " ".join([f"4889f7 4889d6 48b8 {{{name}}} ffe0 cccccccccccc" for name in _MEMORY])


class _Handler(ctypes.Structure):
    """NumPy's PyDataMem_Handler."""

    _fields_ = [("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("context", ctypes.c_void_p),
                *((name, ctypes.c_void_p) for name in _MEMORY)]


_handler: list = []


def memory_handler() -> object:
    """The capsule with the memory handler for NumPy arrays; one for the process."""
    if not _handler:
        first = place(_WITHOUT_FIRST, **_addresses(*_MEMORY))
        record = _Handler(b"pyjitc", 1, None, *[first + 24 * n for n in range(len(_MEMORY))])
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        name = ctypes.c_char_p(b"mem_handler")
        capsule = make(ctypes.addressof(record), name, None)
        _handler.extend([capsule, record, name])
        for part in _handler:
            never_freed(part)
    return _handler[0]


def bind() -> int:
    """The address of the shared function that stores arguments; it uses the layout of `self` of
    runtime/dispatcher.py."""
    return place(_BIND)


def signals() -> int:
    """The address of the function by which loops let Python handle signals."""
    return place(_SIGNALS, **_addresses("PyGILState_Ensure", "PyErr_CheckSignals", "PyGILState_Release"))


def caller(function: object) -> int:
    """The address of a C function with four word-sized parameters, which calls `function` with them, as ints."""
    text = ctypes.create_string_buffer(b"KKKK")
    for part in (function, text):
        never_freed(part)
    return place(_CALLER, function=quad(id(function)), format=quad(ctypes.addressof(text)),
                  **_addresses("PyObject_CallFunction", "Py_DecRef"))


def _addresses(*names: str) -> dict[str, bytes]:
    return {name: quad(_address(name)) for name in names}


def _address(name: str) -> int:
    return ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, name))


def quad(value: int) -> bytes:
    return struct.pack("<Q", value)


def place(template: str, **holes: bytes) -> int:
    text = "".join(line.partition("#")[0] for line in template.splitlines())
    code = bytes.fromhex(text.format(**{name: value.hex() for name, value in holes.items()}))
    memory = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory[:len(code)] = code
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    if ctypes.pythonapi.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE),
                                 mmap.PROT_READ | mmap.PROT_EXEC):
        raise OSError("the system does not allow executable memory (mprotect failed)")
    _memory.append(memory)
    never_freed(memory)
    return address


def never_freed(value: object) -> None:
    """Keep an object alive until the process ends. Arrays are still freed when the interpreter ends and has cleared
    this module."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))
