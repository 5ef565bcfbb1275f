"""Arrays in the memory of a device: creation, copies, views, and exchange with other libraries.

A `DeviceArray` refers to memory that it keeps alive. NumPy itself computes views, of an ndarray with the address of the
memory, whose elements are never read. Without a GPU the memory is the host's, and everything works in the same way.
"""
from __future__ import annotations

import contextlib
import math
import operator
import struct
import sys
from typing import Any, Iterable, Iterator

import numpy as np

from ..base.errors import with_article
from ..types.kinds import Array
from ..types.typeof import element_type, record_type
from . import dlpack
from .devices import CudaError, Event, Stream, current_device, devices, raise_failures, stream_handle

__all__ = ["DeviceArray", "adopt", "as_cuda_array", "copies", "device_array", "device_array_like", "from_dlpack",
           "from_cuda_array_interface", "is_cuda_array", "mapped", "mapped_address", "mapped_array",
           "mapped_array_like", "pinned", "pinned_array", "pinned_array_like", "to_device", "wrap"]

_types: dict[tuple, Array] = {}


class Memory:
    """Memory of a device, or pinned host memory. address: None once it was freed; live: the device until then; owner:
    the object to which it belongs, if that is not this one; release: called with the address at the end."""

    __slots__ = ("device", "live", "address", "size", "owner", "release", "device_address", "__weakref__")

    def __init__(self, device, address: int, size: int, owner=None, release=None, device_address: int | None = None):
        self.device = self.live = device
        self.address, self.size, self.owner, self.release = address, size, owner, release
        self.device_address = device_address

    def free(self) -> None:
        address, self.address = self.address, None
        self.owner = self.live = None
        if address is not None and self.release is not None:
            self.release(address)

    def __del__(self, at_end=sys.is_finalizing):
        if not at_end():  # at the end of the process, names of this module may be gone, and the driver frees all memory
            with contextlib.suppress(CudaError, AttributeError):
                self.free()


def _bounds(x: np.ndarray) -> tuple[int, int]:
    """(the address of the first byte of an array, the address after its last byte)"""
    return np.lib.array_utils.byte_bounds(x)


def _array_at(memory, address, shape, strides, dtype, writable=True) -> np.ndarray:
    """A NumPy array in the memory, which it keeps alive."""
    found = np.asarray(_Place(memory, address, shape, strides, dtype, writable))
    return found.view(dtype) if dtype.names else found  # the description has no fields


class _Place:
    """The description of memory for NumPy; it keeps the memory alive."""

    __slots__ = ("__array_interface__", "memory")

    def __init__(self, memory, address, shape, strides, dtype, writable=True):
        self.memory = memory
        self.__array_interface__ = {"data": (address, not writable), "shape": shape, "strides": strides,
                                    "typestr": dtype.str, "version": 3}


class DeviceArray:
    """An array on a device. shape, strides (bytes), dtype, ndim, size, nbytes: as in NumPy; device: where it is; type:
    its type in kernels."""

    __slots__ = ("memory", "start", "shape", "strides", "dtype", "writable", "type", "stream", "passed", "__weakref__")
    __array_priority__ = 1000

    def __init__(self, memory: Memory, start: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype,
                 writable: bool = True, stream: int = 0):
        self.memory, self.start, self.shape, self.strides, self.dtype = memory, start, shape, strides, dtype
        self.writable, self.stream = writable, stream
        self.type = _type(start, shape, strides, dtype, writable)
        # the parameters of a kernel for it; strides where its type needs them
        self.passed = struct.pack(f"P{2 * len(shape)}q", start, *shape, *strides)

    # -- properties

    @property
    def device(self) -> Any:
        return self.memory.device

    @property
    def address(self) -> int:
        """The address of the first element on the device; raises ValueError where the memory was freed."""
        if self.memory.address is None:
            raise ValueError("the device array was freed")
        return self.start

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    def is_c_contiguous(self) -> bool:
        return self.strides == _strides(self.shape, self.dtype.itemsize, "C") or self.type.layout == "C"

    @property
    def flags(self) -> Any:
        """The flags of a NumPy array like this: c_contiguous, f_contiguous, writeable and the others."""
        return self._window().flags

    def is_f_contiguous(self) -> bool:
        return self.flags.f_contiguous

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __repr__(self):
        state = ", freed" if self.memory.address is None else ""
        return f"<device array {self.type} {self.shape} on device {self.device.index}{state}>"

    # -- views

    def _window(self) -> np.ndarray:
        """An ndarray at the same address. It may be sliced and transposed, but its elements must not be read, unless
        the memory is the host's."""
        if self.size == 0:
            return np.lib.stride_tricks.as_strided(np.empty(1, self.dtype), self.shape, self.strides)
        return _array_at(self.memory, self.address, self.shape, self.strides, self.dtype, self.writable)

    def _view(self, window: np.ndarray) -> DeviceArray:
        start = self.start if window.size == 0 else window.ctypes.data
        return DeviceArray(self.memory, start, window.shape, window.strides, window.dtype, self.writable
                           and window.flags.writeable, self.stream)

    def __getitem__(self, key):
        return self.getitem(key)

    def __setitem__(self, key, value) -> None:
        self._view(self._window()[_basic(key)])._assign(value)

    def getitem(self, item: Any, stream: Stream | int = 0) -> Any:
        """`array[item]`; an element is read after the work in a stream."""
        view = self._view(self._window()[_basic(item)])
        return view if view.shape or _keeps_array(item) else view.copy_to_host(stream=stream)[()]

    def setitem(self, key: Any, value: Any, stream: Stream | int = 0) -> None:
        """`array[key] = value`, after the work in a stream."""
        self._view(self._window()[_basic(key)])._assign(value, stream)

    def bind(self, stream: Stream | int = 0) -> DeviceArray:
        """The same array, whose operations from now on are put into the stream."""
        return DeviceArray(self.memory, self.start, self.shape, self.strides, self.dtype, self.writable,
                           stream_handle(stream))

    def __iter__(self):
        return (self[k] for k in range(len(self)))

    @property
    def T(self) -> DeviceArray:
        return self._view(self._window().T)

    def transpose(self, *axes: int) -> DeviceArray:
        return self._view(self._window().transpose(*axes))

    def broadcast_to(self, shape: int | tuple[int, ...]) -> DeviceArray:
        """The read-only view of that shape, as np.broadcast_to returns it."""
        return self._view(np.broadcast_to(self._window(), shape))

    def squeeze(self, axis: int | tuple[int, ...] | None = None) -> DeviceArray:
        return self._view(self._window().squeeze(axis))

    def reshape(self, *shape: int, order: str = "C") -> DeviceArray:
        flags = self.flags
        if not (flags.c_contiguous if order == "C" else flags.f_contiguous):
            raise ValueError("the array is not contiguous in this order; a reshape would copy it: copy it first, as "
                             "in x.copy()")
        return self._view(self._window().reshape(*shape, order=order))

    def ravel(self, order: str = "C") -> DeviceArray:
        return self.reshape(-1, order=order)

    def view(self, dtype: Any) -> DeviceArray:
        return self._view(self._window().view(dtype))

    def split(self, section: int, stream: Stream | int = 0) -> list[DeviceArray]:
        """Consecutive parts of `section` items of a vector."""
        if self.ndim != 1:
            raise ValueError("split works on arrays of one dimension")
        if section < 1:
            raise ValueError(f"split takes the number of items of a part, at least 1, not {section}")
        return [self[k:k + section] for k in range(0, len(self), section)]

    # -- copies

    def copy_to_host(self, ary: np.ndarray | None = None, stream: Stream | int = 0) -> np.ndarray:
        """The contents as a NumPy array, stored in `ary` if that is given. With a stream and pinned memory, it may
        return before the copy is complete. Raises ValueError where the shapes differ, TypeError where the
        dtypes do."""
        if ary is not None:
            if not isinstance(ary, np.ndarray):
                raise TypeError(f"copy_to_host fills an array of NumPy, not {with_article(type(ary).__name__)}")
            _same_form(self, ary, "copy_to_host")
            if not ary.flags.writeable:
                raise ValueError("copy_to_host: the target is read-only")
        found, waited = self.fetched(ary, stream_handle(stream))
        if waited:
            raise_failures(self.device)
        return found

    def fetched(self, ary: np.ndarray | None, handle: int) -> tuple[np.ndarray, bool]:
        """(the contents, in `ary` if that is given; whether the stream was waited for)."""
        window, waited = self._window(), True
        if window.flags.f_contiguous or window.flags.c_contiguous:
            order = "C" if window.flags.c_contiguous else "F"
            direct = ary is not None and (ary.flags.c_contiguous if order == "C" else ary.flags.f_contiguous)
            result = ary if direct else np.empty(self.shape, self.dtype, order=order)
            self.device.copy_out(result.ctypes.data, self.address, self.nbytes, handle)
            waited = not direct or handle == 0
            if waited:
                self.device.wait(handle)
        else:  # copy the whole range of memory, and take the elements from that
            low, high = _bounds(window)
            span = np.empty(high - low, np.uint8)
            self.device.copy_out(span.ctypes.data, low, high - low, handle)
            self.device.wait(handle)
            result = np.lib.stride_tricks.as_strided(span[self.address - low:][:self.dtype.itemsize].view(self.dtype),
                                                     self.shape, self.strides)
            result = result.copy() if ary is None else result
        if ary is not None and result is not ary:
            ary[...] = result
        return (result if ary is None else ary), waited

    def copy_to_device(self, ary: Any, stream: Stream | int = 0) -> None:
        """Copy the contents of an array of the same shape and dtype, on the host or a device, into this array.
        Raises ValueError where the shapes differ, TypeError where the dtypes do."""
        if not isinstance(ary, DeviceArray):
            ary = np.asarray(ary) if not is_cuda_array(ary) else as_cuda_array(ary)
        _same_form(self, ary, "copy_to_device")
        if not self.writable:
            raise ValueError("the device array is read-only")
        device, handle = self.device, stream_handle(stream)
        window = self._window()
        order = "C" if window.flags.c_contiguous else "F" if window.flags.f_contiguous else None
        if isinstance(ary, DeviceArray):
            other = ary._window()
            if order is not None and (other.flags.c_contiguous if order == "C" else other.flags.f_contiguous):
                device.copy(self.address, ary.address, self.nbytes, handle, ary.device)
                return
            ary = ary.copy_to_host()
        source = np.asarray(ary, order=order or "C")
        temporary = source is not ary
        if order is not None:
            device.copy_in(self.address, source.ctypes.data, self.nbytes, handle)
        else:
            _copy_runs(device, window, np.ascontiguousarray(source), handle)
        if temporary or handle == 0:
            device.wait(handle)

    def _assign(self, value, stream: Stream | int = 0) -> None:
        if not self.writable:
            raise ValueError("the device array is read-only")
        if isinstance(value, DeviceArray) and value.shape == self.shape and value.dtype == self.dtype:
            self.copy_to_device(value, stream)
            return
        if isinstance(value, DeviceArray) or is_cuda_array(value):
            value = (value if isinstance(value, DeviceArray) else as_cuda_array(value)).copy_to_host()
        host = np.empty(self.shape, self.dtype)
        host[...] = value
        self.copy_to_device(host, stream)
        self.device.wait(stream_handle(stream))  # there is no other reference to `host`

    def fill(self, value: Any, stream: Stream | int = 0) -> None:
        """Set every element."""
        one = np.asarray(value).astype(self.dtype)
        if len(set(one.tobytes())) == 1 and self.is_c_contiguous() and self.writable:
            self.device.fill(self.address, one.tobytes()[0], self.nbytes, stream_handle(stream))
        else:
            self._assign(one, stream)

    def copy(self, stream: Stream | int = 0) -> DeviceArray:
        """A contiguous copy on the same device."""
        new = _new(self.device, self.shape, self.dtype, "C", stream)
        new.copy_to_device(self, stream)
        return new

    def __copy__(self) -> DeviceArray:
        return self.copy()

    def __deepcopy__(self, memo) -> DeviceArray:
        return self.copy()

    def __reduce__(self):
        raise TypeError("a device array belongs to this process: pickle what it holds, x.copy_to_host()")

    def __array__(self, dtype=None, copy=None) -> np.ndarray:
        if copy is False:
            raise ValueError("the array is on a device: it cannot be seen without a copy")
        host = self.copy_to_host()
        return host if dtype is None else host.astype(dtype, copy=False)

    def free(self) -> None:
        """Free the memory now; the array and its views cannot be used any more."""
        self.memory.free()

    # -- other libraries

    @property
    def __cuda_array_interface__(self) -> dict:
        if not self.device.gpu:
            raise AttributeError("the array is in host memory: there is no GPU here")
        return {"shape": self.shape, "strides": None if self.type.layout == "C" else self.strides,
                "typestr": self.dtype.str, "data": (self.address, not self.writable), "version": 3,
                "stream": self.stream or 1}


    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        """A DLPack capsule with the array in its memory, which is valid in the order of the consumer's `stream`."""
        if copy:
            raise BufferError("the array is not copied for DLPack; copy it first, as in x.copy()")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"the array is on {self.__dlpack_device__()}, not on {dl_device}")
        if not self.writable:
            raise BufferError("the array is read-only, which DLPack cannot say")
        if self.device.gpu and stream not in (None, -1) and stream != self.stream:
            event = Event(self.device, timing=False)
            event.record(self.stream)
            event.wait(0 if stream == 1 else stream)
        return dlpack.export(self.address, self.shape, self.strides, self.dtype, self.__dlpack_device__(), self.memory)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (dlpack.CUDA, self.device.index) if self.device.gpu else (dlpack.CPU, 0)


def _type(start: int, shape, strides, dtype, writable) -> Array:
    """The type of an array: its layout and alignment are determined as in NumPy."""
    bits = start
    for s in strides:
        bits |= s
    aligned = not bits & dtype.alignment - 1
    item = dtype.itemsize
    empty = 0 in shape
    c = f = True
    step = item
    for n, s in zip(reversed(shape), reversed(strides)):
        c = c and (s == step or n == 1)
        step *= n
    step = item
    for n, s in zip(shape, strides):
        f = f and (s == step or n == 1)
        step *= n
    layout = "C" if c or empty else "F" if f else "A"
    key = dtype if dtype.names else dtype.num, len(shape), layout, writable, aligned
    found = _types.get(key)
    if found is None:
        element = element_type(dtype) or (record_type(dtype) if dtype.names else None)
        if element is None:
            raise TypeError(f"arrays of dtype {dtype} have no form on a device; numbers and records of them have")
        found = _types[key] = Array(element, len(shape), layout, writable, aligned)
    return found


def _strides(shape, item: int, order: str) -> tuple[int, ...]:
    strides = [0] * len(shape)
    step = item
    for k in range(len(shape)) if order == "F" else range(len(shape) - 1, -1, -1):
        strides[k] = step
        step *= shape[k] or 1
    return tuple(strides)


def _basic(key):
    """An index made of ints and slices, or a field's name, whose result is a view."""
    if isinstance(key, str):
        return key
    parts = key if isinstance(key, tuple) else (key,)
    for part in parts:
        if not (part is None or part is ... or isinstance(part, slice) or hasattr(part, "__index__")
                and not isinstance(part, (np.ndarray, bool))):
            raise IndexError(f"device arrays are indexed by ints and slices, not by {type(part).__name__}; copy to "
                             f"the host, or write a kernel")
    return parts if ... in [p for p in parts if not hasattr(p, "shape")] else (*parts, ...)


def _keeps_array(key) -> bool:
    return key is ... or isinstance(key, tuple) and any(part is ... for part in key)


def _same_form(device_array: DeviceArray, other, call: str) -> None:
    if other.shape != device_array.shape:
        raise ValueError(f"{call}: shapes {device_array.shape} and {other.shape} differ")
    if other.dtype != device_array.dtype:
        raise TypeError(f"{call}: dtypes {device_array.dtype} and {other.dtype} differ; convert with astype first")


def _copy_runs(device, window: np.ndarray, source: np.ndarray, stream: int) -> None:
    """Copy each run of elements that are contiguous on the device separately."""
    axis = window.ndim
    run = window.dtype.itemsize
    while axis and window.strides[axis - 1] == run:
        axis -= 1
        run *= window.shape[axis]
    inner = (0,) * (window.ndim - axis)
    steps, from_steps = window.strides[:axis], source.strides[:axis]
    for outer in np.ndindex(window.shape[:axis]):
        at = sum(i * s for i, s in zip((*outer, *inner), (*steps, *inner)))
        there = sum(i * s for i, s in zip(outer, from_steps))
        device.copy_in(window.ctypes.data + at, source.ctypes.data + there, run, stream)


# ---------------------------------------------------------------- making


def _dims(shape) -> tuple[int, ...]:
    try:
        dims = tuple(map(operator.index, (shape,) if hasattr(shape, "__index__") else shape))
    except TypeError:
        raise TypeError(f"a shape is an int or a tuple of ints, not {shape!r}") from None
    if any(n < 0 for n in dims):
        raise ValueError("negative dimensions are not allowed")
    return dims


def _new(device, shape, dtype, order: str, stream: Stream | int = 0) -> DeviceArray:
    shape, dtype = _dims(shape), np.dtype(dtype)
    _type(0, (), (), dtype, True)  # raises for dtypes without a native form, before memory is allocated
    handle = stream_handle(stream)
    size = math.prod(shape) * dtype.itemsize
    address = device.allocate(size, handle)
    memory = Memory(device, address, size, release=device.free)
    return DeviceArray(memory, address, shape, _strides(shape, dtype.itemsize, order), dtype, stream=handle)


def device_array(shape: int | tuple[int, ...], dtype: Any = np.float64, strides: tuple[int, ...] | None = None,
                 order: str = "C", stream: Stream | int = 0) -> DeviceArray:
    """A new array on the current device; its elements are not initialised."""
    return _new(current_device(), shape, dtype, _order("device_array", _dims(shape), np.dtype(dtype), strides, order),
                stream)


def _order(what: str, shape, dtype, strides, order: str) -> str:
    """'C' or 'F', by the strides if they are given."""
    if order not in ("C", "F"):
        raise ValueError(f"{what}: order={order!r}: choose 'C' or 'F'")
    if strides is None:
        return order
    for found in "CF":
        if (tuple(strides) if isinstance(strides, (tuple, list))
            else (strides,)) == _strides(shape, dtype.itemsize, found):
            return found
    raise ValueError(f"{what}: strides of new arrays are those of order 'C' or 'F'")


def device_array_like(ary: Any, stream: Stream | int = 0) -> DeviceArray:
    """A new array of the shape, dtype and order of `ary`."""
    order = _order_of("device_array_like", ary)
    return _new(current_device(), ary.shape, ary.dtype, order, stream)


def _order_of(what: str, ary) -> str:
    """The order of a new array like this one."""
    if isinstance(ary, DeviceArray):
        return "F" if ary.type.layout == "F" else "C"
    if not isinstance(ary, (np.ndarray, np.generic)):
        raise TypeError(f"{what} takes an array of NumPy or a device array, not {with_article(type(ary).__name__)}")
    return "F" if ary.flags.f_contiguous and not ary.flags.c_contiguous else "C"


def to_device(obj: Any, stream: Stream | int = 0, copy: bool = True, to: DeviceArray | None = None) -> DeviceArray:
    """The array on the current device: a copy of a host array, or an array that is on a device already, without a copy.
    to: the array into which it is copied."""
    if isinstance(obj, DeviceArray) or is_cuda_array(obj):
        obj = wrap(obj)
        if to is None and obj.device is current_device():
            return obj
    elif not isinstance(obj, np.ndarray):
        obj = np.asarray(obj)
    to = device_array_like(obj, stream) if to is None else wrap(to)
    if copy:
        to.copy_to_device(obj, stream)
    return to


def copies(given: Iterable[np.ndarray], stream: Stream | int = 0) -> tuple[dict[int, DeviceArray],
                                                                           list[tuple[DeviceArray, np.ndarray]]]:
    """Copies of host arrays on the current device: (the copy of each, by its id; the copies back, with their targets).
    Arrays that share memory, of which one may be written, share it on the device, too."""
    groups: list[list[np.ndarray]] = []
    for x in {id(x): x for x in given}.values():
        apart, joined = [], [x]
        for group in groups:
            if any(_share(x, y) for y in group):
                joined += group
            else:
                apart.append(group)
        groups = [*apart, joined]
    there, back = {}, []
    for group in groups:
        whole = group[0]
        if len(group) == 1:
            copy = there[id(whole)] = to_device(whole, stream)
        else:
            ends = [_bounds(x) for x in group]
            low, high = min(low for low, _ in ends), max(high for _, high in ends)
            whole = _array_at(group, low, (high - low,), (1,), np.dtype(np.uint8))
            copy = device_array(low % 256 + high - low, np.uint8, stream=stream)[low % 256:]  # elements stay aligned
            copy.copy_to_device(whole, stream)
            for x in group:
                there[id(x)] = DeviceArray(copy.memory, copy.start + x.ctypes.data - low, x.shape, x.strides, x.dtype,
                                           x.flags.writeable)
        if any(x.flags.writeable for x in group):
            back.append((copy, whole))
    return there, back


def _share(x: np.ndarray, y: np.ndarray) -> bool:
    """Whether writing one of them may change the other."""
    try:
        return (x.flags.writeable or y.flags.writeable) and np.shares_memory(x, y, max_work=10_000)
    except np.exceptions.TooHardError:
        return True


def _host_memory(size: int, kind: str) -> Memory:
    device = current_device()
    if kind == "managed":
        address = device.allocate_managed(size)
        return Memory(device, address, size, release=device.free_managed, device_address=address)
    address = device.allocate_host(size, kind == "mapped")
    return Memory(device, address, size, release=device.free_host, device_address=device.mapped_address(address)
                  if kind == "mapped" else None)


def _host_array(shape, dtype, strides, order: str, kind: str) -> np.ndarray:
    shape, dtype = _dims(shape), np.dtype(dtype)
    order = _order(f"{kind}_array", shape, dtype, strides, order)
    memory = _host_memory(math.prod(shape) * dtype.itemsize, kind)
    return _array_at(memory, memory.address, shape, _strides(shape, dtype.itemsize, order), dtype)


def pinned_array(shape: int | tuple[int, ...], dtype: Any = np.float64, strides: tuple[int, ...] | None = None,
                 order: str = "C") -> np.ndarray:
    """A host array in page-locked memory: copying it is faster, and can overlap kernels."""
    return _host_array(shape, dtype, strides, order, "pinned")


def pinned_array_like(ary: Any) -> np.ndarray:
    order = _order_of("pinned_array_like", ary)
    return pinned_array(ary.shape, ary.dtype, order=order)


def mapped_array(shape: int | tuple[int, ...], dtype: Any = np.float64, strides: tuple[int, ...] | None = None,
                 order: str = "C", stream: Stream | int = 0, portable: bool = False, wc: bool = False) -> np.ndarray:
    """A host array that kernels access in place, over the bus."""
    return _host_array(shape, dtype, strides, order, "mapped")


def managed_array(shape: int | tuple[int, ...], dtype: Any = np.float64, strides: tuple[int, ...] | None = None,
                  order: str = "C", stream: Stream | int = 0, attach_global: bool = True) -> np.ndarray:
    """A host array that kernels can access, too: the driver moves it to where it is used. The host waits for kernels
    before it accesses it."""
    return _host_array(shape, dtype, strides, order, "managed")


def mapped_array_like(ary: Any, stream: Stream | int = 0, portable: bool = False, wc: bool = False) -> np.ndarray:
    order = _order_of("mapped_array_like", ary)
    return mapped_array(ary.shape, ary.dtype, order=order)


def mapped_address(ary: np.ndarray) -> int | None:
    """The address on a device of a host array in mapped memory, or of a view of one; None where it has none."""
    base: Any = ary
    while isinstance(base, np.ndarray):
        base = base.base
    memory = base.memory if isinstance(base, _Place) else None
    if memory is None or memory.device_address is None:
        return None
    return memory.device_address + (ary.ctypes.data - memory.address)


@contextlib.contextmanager
def pinned(*arys: np.ndarray) -> Iterator[None]:
    """Context manager: within the block these host arrays are pinned."""
    device = current_device()
    with contextlib.ExitStack() as stack:
        for ary in arys:
            _pin(device, ary, stack, False)
        yield


@contextlib.contextmanager
def mapped(*arys: np.ndarray, stream: Stream | int = 0) -> Iterator[Any]:
    """Context manager: within the block these host arrays are mapped into the device's memory; yields the arrays to
    pass to kernels."""
    device = current_device()
    with contextlib.ExitStack() as stack:
        found = []
        for ary in arys:
            _pin(device, ary, stack, True)
            memory = Memory(device, ary.ctypes.data, ary.nbytes, owner=ary)
            stack.callback(memory.free)
            found.append(DeviceArray(memory, device.mapped_address(ary.ctypes.data), ary.shape, ary.strides, ary.dtype,
                                     ary.flags.writeable))
        yield found[0] if len(found) == 1 else found


def _pin(device, ary: np.ndarray, stack, is_mapped: bool) -> None:
    if not isinstance(ary, np.ndarray):
        raise TypeError(f"only arrays of NumPy are pinned, not {with_article(type(ary).__name__)}")
    if not (ary.flags.c_contiguous or ary.flags.f_contiguous):
        raise ValueError("only contiguous arrays are pinned")
    device.pin(ary.ctypes.data, ary.nbytes, is_mapped)
    stack.callback(device.unpin, ary.ctypes.data)


# ---------------------------------------------------------------- arrays of other libraries


def from_dlpack(obj: Any, stream: Stream | int = 0) -> DeviceArray:
    """The array of another library, without a copy, by the DLPack protocol: PyTorch's, JAX's, CuPy's, NumPy's."""
    device = current_device()
    if not hasattr(obj, "__dlpack_device__"):
        raise TypeError(f"{type(obj).__name__} has no __dlpack__; copy host arrays with cuda.to_device")
    kind, index = obj.__dlpack_device__()
    if device.gpu:
        if kind not in (dlpack.CUDA, dlpack.CUDA_HOST, dlpack.CUDA_MANAGED):
            raise ValueError(f"the {type(obj).__name__} is not on a GPU; copy it with cuda.to_device")
        device = devices()[index if kind == dlpack.CUDA else device.index]
        capsule = obj.__dlpack__(stream=stream_handle(stream) or 1)
    else:
        if kind != dlpack.CPU:
            raise CudaError("from_dlpack", 100, "",
                            f"the {type(obj).__name__} is on a GPU, but kernels run on the CPU here")
        capsule = obj.__dlpack__()
    tensor = dlpack.Imported(capsule)
    memory = Memory(device, tensor.address, tensor.size, owner=tensor)
    return DeviceArray(memory, tensor.address, tensor.shape, tensor.strides, tensor.dtype, tensor.writable)


def is_cuda_array(obj: Any) -> bool:
    """Whether the object has the attribute of arrays on a GPU, as PyTorch's, CuPy's and JAX's arrays do."""
    return isinstance(obj, DeviceArray) or hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceArray:
    """The array of another library as a DeviceArray, without a copy."""
    if isinstance(obj, DeviceArray):
        return obj
    if not hasattr(obj, "__cuda_array_interface__"):
        raise TypeError(f"{type(obj).__name__} has no __cuda_array_interface__; copy host arrays with cuda.to_device")
    return from_cuda_array_interface(obj.__cuda_array_interface__, obj, sync)


def from_cuda_array_interface(described: dict, owner: Any = None, sync: bool = True) -> DeviceArray:
    """The array that a `__cuda_array_interface__` describes; it keeps `owner` alive."""
    if described.get("mask") is not None:
        raise NotImplementedError("masked arrays are not taken")
    dtype = np.dtype(described["typestr"])
    shape = tuple(described["shape"])
    strides = described.get("strides")
    strides = _strides(shape, dtype.itemsize, "C") if strides is None else tuple(strides)
    address, readonly = described["data"]
    device = current_device()
    if not device.gpu:
        raise CudaError("as_cuda_array", 100, "", "the array is on a GPU, but kernels run on the CPU here")
    home = device.device_of(address) if address else device.index
    if home is None:
        raise ValueError("the array's address is no memory of the CUDA driver")
    device = devices()[home]
    if sync and described.get("stream"):
        handle = described["stream"]
        device.wait(0 if handle == 1 else handle)
    memory = Memory(device, address, math.prod(shape) * dtype.itemsize, owner=owner)
    return DeviceArray(memory, address, shape, strides, dtype, not readonly)


def wrap(obj) -> DeviceArray:
    """A DeviceArray unchanged, or the array of another library as one."""
    return obj if isinstance(obj, DeviceArray) else as_cuda_array(obj)


def adopt(obj):
    """An array of another library as a DeviceArray; any other object unchanged."""
    if hasattr(obj, "__cuda_array_interface__"):
        return as_cuda_array(obj)
    if hasattr(obj, "__dlpack__") and not isinstance(obj, (np.ndarray, np.generic, DeviceArray)):
        return from_dlpack(obj)
    return obj
