"""A few small native functions that exist before anything was compiled, as x86-64 code with addresses filled in.

`slow_path` is the end of every dispatcher's chain of stubs. In C:

    PyObject *slow_path(PyObject *self, PyObject **args, size_t nargsf, PyObject *kwnames) {
        PyObject *method = PyMethod_New(prepare, self);
        if (!method) return NULL;
        PyObject *result = PyObject_Vectorcall(method, args, nargsf, kwnames);
        Py_DecRef(method);
        if (result != RETRY) return result;
        Py_DecRef(result);
        return self->entry(self, args, nargsf, kwnames);      // a tail call
    }

so `prepare(self, *args, **kwargs)` may either answer the call, or compile and ask for another try, in which case
no Python frame stands between the caller and native code.

`vectorcall` is PyObject_Vectorcall for Python 3.10, whose headers have it inline.

`bind` places the arguments of a call with keywords or omitted defaults; every stub shares it:

    bool bind(Callable_ *self, PyObject **args, size_t nargs, PyObject *kwnames, PyObject **slots, size_t n, size_t only,
              PyObject **names) {
        if (nargs > n) return false;
        for (size_t i = 0; i < n; i++) slots[i] = i < nargs ? args[i] : NULL;
        for (size_t j = 0; kwnames && j < size(kwnames); j++) {     // names are compared by identity: code's are interned
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

`memory_handler` is what NumPy frees and resizes arrays with whose data compiled code allocated (NEP 49): libc's malloc,
calloc, realloc and free, behind a first argument that they do not have.
"""
from __future__ import annotations

import ctypes
import mmap
import struct

__all__ = ["slow_path", "vectorcall", "bind", "memory_handler"]

_PUSH = "53 55 4154 4155 4156"  # push rbx, rbp, r12, r13, r14: keeps the stack aligned for calls
_POP = "415e 415d 415c 5d 5b"
_SAVE = "4889fb 4889f5 4989d4 4989cd"  # mov rbx, rdi; mov rbp, rsi; mov r12, rdx; mov r13, rcx

_SLOW_PATH = f"""
    {_PUSH} {_SAVE}
    48bf {{prepare}} 4889de 48b8 {{PyMethod_New}} ffd0          # rax = PyMethod_New(prepare, self)
    4885c0 746b                                                 # if null: out
    4989c6                                                      # r14 = method
    4889c7 4889ee 4c89e2 4c89e9 48b8 {{PyObject_Vectorcall}} ffd0
    4c89f7 4989c6 48b8 {{Py_DecRef}} ffd0                       # release the method, r14 = result
    4c89f0 48ba {{retry}} 4839d0 752c                           # rax = result; if not RETRY: out
    4889c7 48b8 {{Py_DecRef}} ffd0
    4889df 4889ee 4c89e2 4c89e9 488b83 {{entry}}                # rax = self->entry
    {_POP} ffe0                                                 # jmp rax
    {_POP} c3                                                   # out: return rax
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

_memory: list[mmap.mmap] = []


def slow_path(prepare: object, retry: object, entry: int) -> int:
    """Address of a slow path that calls `prepare` and retries when it answers `retry`; `entry`: offset of the
    vectorcall word in `self`. Lives as long as the process; the caller keeps both objects alive."""
    try:
        call = _address("PyObject_Vectorcall")
    except ValueError:
        call = vectorcall()
    return _place(_SLOW_PATH, prepare=_q(id(prepare)), retry=_q(id(retry)), entry=struct.pack("<i", entry),
                  PyObject_Vectorcall=_q(call), PyMethod_New=_q(_address("PyMethod_New")),
                  Py_DecRef=_q(_address("Py_DecRef")))


def vectorcall() -> int:
    return _place(_VECTORCALL, PyThreadState_Get=_q(_address("PyThreadState_Get")),
                  _PyObject_MakeTpCall=_q(_address("_PyObject_MakeTpCall")))


_WITHOUT_FIRST = "4889f7 4889d6 48b8 {target} ffe0"  # mov rdi, rsi; mov rsi, rdx; jmp target


class _Handler(ctypes.Structure):
    """NumPy's PyDataMem_Handler."""

    _fields_ = [("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("context", ctypes.c_void_p),
                *((name, ctypes.c_void_p) for name in ("malloc", "calloc", "realloc", "free"))]


_handler: list = []


def memory_handler() -> object:
    """The capsule that NumPy wants as an array's memory handler; one for the process."""
    if not _handler:
        libc = ctypes.CDLL(None)
        functions = {name: _place(_WITHOUT_FIRST, target=_q(ctypes.cast(getattr(libc, name), ctypes.c_void_p).value))
                     for name in ("malloc", "calloc", "realloc", "free")}
        record = _Handler(b"pyjitc", 1, None, **functions)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        name = ctypes.c_char_p(b"mem_handler")
        capsule = make(ctypes.addressof(record), name, None)
        _handler.extend([capsule, record, name])
        for part in _handler:
            _never_freed(part)
    return _handler[0]


def bind() -> int:
    """Address of the shared placer of arguments; its layout of `self` is that of runtime/dispatcher.py."""
    return _place(_BIND)


def _address(name: str) -> int:
    return ctypes.addressof(ctypes.c_char.in_dll(ctypes.pythonapi, name))


def _q(value: int) -> bytes:
    return struct.pack("<Q", value)


def _place(template: str, **holes: bytes) -> int:
    text = "".join(line.partition("#")[0] for line in template.splitlines())
    code = bytes.fromhex(text.format(**{name: value.hex() for name, value in holes.items()}))
    memory = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory[:len(code)] = code
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    if ctypes.pythonapi.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(mmap.PAGESIZE), mmap.PROT_READ | mmap.PROT_EXEC):
        raise OSError("the system does not allow executable memory (mprotect failed)")
    _memory.append(memory)
    _never_freed(memory)
    return address


def _never_freed(value: object) -> None:
    """Arrays are still freed when the interpreter ends and has cleared this module."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(value))
