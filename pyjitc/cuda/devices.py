"""The devices of the process: GPUs through the driver, or the CPU in place of them; their streams and events.

PYJITC_CUDA can be set to `gpu` or `cpu`; otherwise a GPU is used if there is one. Every thread has a current device.
"""
from __future__ import annotations

import contextlib
import sys
from typing import Any, Callable, Iterator

from ..base.lazy import lazy
from ..base.options import environment
from ..runtime import driver
from ..runtime.hostdevice import CURRENT as _local
from ..runtime.hostdevice import HostDevice, OfProcess

__all__ = ["CudaError", "CudaSupportError", "Event", "Stream", "close", "current_context", "current_device",
           "default_stream", "detect", "devices", "event", "event_elapsed_time", "external_stream",
           "get_current_device", "gpus", "is_available", "launched", "legacy_default_stream", "list_devices",
           "per_thread_default_stream", "raise_failures", "select_device", "stream", "stream_handle", "synchronize",
           "use", "why_not"]

asyncio = lazy("asyncio")
CudaError = driver.CudaError
CudaSupportError = CudaError  # the exception that Numba raises where there is no GPU
_chosen: list[list[Any]] = []  # the devices, once known
_reason: list[str] = []


def devices() -> list[Any]:
    """The devices of this process: GPUs, or the CPU alone."""
    if not _chosen:
        wish = environment("PYJITC_CUDA").lower()
        if wish not in ("", "auto", "gpu", "cpu"):
            raise ValueError(f"PYJITC_CUDA={wish!r}: choose cpu, gpu or auto")
        found, why = (None, "PYJITC_CUDA=cpu asks for the CPU") if wish == "cpu" else driver.connect()
        if found is None and wish == "gpu":
            raise CudaError("PYJITC_CUDA=gpu", 100, "", why)
        use(found.devices if found is not None else [HostDevice()], why)
    return _chosen[0]


def use(found: list[Any], why: str = "") -> None:
    """Make these the devices of the process. why: the reason why they are not GPUs."""
    _chosen[:], _reason[:] = [found], [why]
    _local.__dict__.clear()


def is_available() -> bool:
    """Whether kernels run on a GPU; `why_not()` returns the reason why not."""
    return devices()[0].gpu


def why_not() -> str:
    """The reason why no GPU is used; an empty text if one is."""
    devices()
    return _reason[0]


def current_device() -> Any:
    found = getattr(_local, "device", None)
    if found is None:
        found = _local.device = devices()[0]
    return found


get_current_device = current_device


def list_devices() -> list[Any]:
    return list(devices())


class _Devices:
    """The devices as a sequence: `cuda.gpus[0]`, `len(cuda.gpus)`; `with cuda.gpus[1]:` makes one current inside the
    block."""

    def __len__(self) -> int:
        return len(devices())

    def __getitem__(self, index):
        try:
            return devices()[index]
        except IndexError:
            raise IndexError(_no_device(index)) from None

    def __repr__(self):
        return f"<devices {devices()}>"

    @property
    def current(self):
        return current_device()

    @property
    def lst(self) -> list[Any]:
        return list_devices()


gpus = _Devices()


def _no_device(index) -> str:
    count = len(devices())
    return f"there is no device {index}; there {'is' if count == 1 else 'are'} {count}, counted from 0"


def select_device(index: int) -> Any:
    """Make a device current in this thread. Raises ValueError for an index without a device."""
    if not hasattr(index, "__index__") or not 0 <= index < len(devices()):
        raise ValueError(_no_device(index))
    _local.device = devices()[index]
    return _local.device


def current_context(index: int | None = None) -> Any:
    """The context of a device, which in this package is the device itself."""
    return current_device() if index is None else select_device(index)


def synchronize() -> None:
    """Wait until the current device has finished all work; raises the exceptions of kernels."""
    device = current_device()
    device.synchronize()
    raise_failures(device)


_launched: dict[Any, dict[Any, None]] = {}  # device -> kernels that may have failed since the last check


def launched(device) -> dict[Any, None]:
    """Record kernels to be checked for failures when the device is waited for next."""
    return _launched.setdefault(device, {})


def raise_failures(device) -> None:
    """Raise the exception of a thread of a kernel, once the device was waited for."""
    kernels = launched(device)
    while kernels:
        kernels.popitem()[0].check_failure()


def close() -> None:
    """Release the contexts of all devices; everything in them is lost."""
    for one in devices():
        one.close()


def detect() -> bool:
    """Print the devices; returns whether one is a GPU."""
    for one in devices():
        major, minor = one.compute_capability
        print(f"device {one.index}: {one.name}, compute capability {major}.{minor}"
              + ("" if one.gpu else f" ({why_not()})"))
    return is_available()


# ---------------------------------------------------------------- streams and events


def stream_handle(stream) -> int:
    """The driver's handle of a Stream, of another library's stream, or of 0: the default stream."""
    if stream is None:
        return 0
    if isinstance(stream, int):
        return stream
    handle = getattr(stream, "handle", None)
    if handle is None and hasattr(stream, "__cuda_stream__"):
        handle = stream.__cuda_stream__()[1]
    if handle is None:
        handle = getattr(stream, "cuda_stream", getattr(stream, "ptr", None))  # PyTorch's, CuPy's
    try:
        return int(stream if handle is None else handle)  # cuda-bindings' are convertible
    except (TypeError, ValueError):
        raise TypeError(f"{stream!r} is no stream; take one from cuda.stream()") from None


class Stream(OfProcess):
    """A queue of work on a device: its operations run in order, concurrently with other streams."""

    def __init__(self, device, handle: int, owned: bool = True):
        self.device, self.handle, self.owned = device, handle, owned

    def __repr__(self):
        return f"<stream {self.handle} of device {self.device.index}>" if self.handle else "<default stream>"

    def __cuda_stream__(self):
        return 0, self.handle

    def synchronize(self) -> None:
        """Wait until all operations in the stream are done; raises the exceptions of kernels."""
        self.device.wait(self.handle)
        raise_failures(self.device)

    def query(self) -> bool:
        """Whether all operations in the stream are done."""
        return self.device.is_done(self.handle)

    def wait_event(self, event: Event) -> None:
        """Let later operations in the stream wait for the event."""
        self.device.wait_for_event(self.handle, _event(event).handle)

    def record_event(self, event: Event | None = None) -> Event:
        event = Event(self.device) if event is None else _event(event)
        event.record(self)
        return event

    def add_callback(self, callback: Callable, arg: Any = None) -> None:
        """Call `callback(stream, status, arg)` when the operations so far are done; it must not use the device."""
        self.device.call_back(self.handle, lambda: callback(self, 0, arg))

    def async_done(self) -> asyncio.Future:
        """A future of the running event loop that is done when the operations so far are."""
        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def finish():
            if not future.done():
                future.set_result(self)

        self.device.call_back(self.handle, lambda: loop.call_soon_threadsafe(finish))
        return future

    @contextlib.contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Context manager that waits for the stream at the end of the block."""
        yield self
        self.synchronize()

    def __del__(self, at_end=sys.is_finalizing):
        if self.owned and self.handle and not at_end():
            with contextlib.suppress(CudaError):
                self.device.free_stream(self.handle)


def _event(given) -> Event:
    if not isinstance(given, Event):
        raise TypeError(f"{given!r} is no event; take one from cuda.event()")
    return given


class Event(OfProcess):
    """A mark in a stream: whether and when it was reached."""

    def __init__(self, device, timing: bool = True):
        self.device, self.timing = device, timing
        self.handle = device.new_event(timing)
        self.recorded = False

    def record(self, stream: Stream | int = 0) -> None:
        self.device.record(self.handle, stream_handle(stream))
        self.recorded = True

    def synchronize(self) -> None:
        self.device.wait_event(self.handle)

    def wait(self, stream: Stream | int = 0) -> None:
        """Let the stream wait for the event."""
        self.device.wait_for_event(stream_handle(stream), self.handle)

    def query(self) -> bool:
        return self.device.event_is_done(self.handle)

    def elapsed_time(self, end: Event) -> float:
        """The milliseconds from this event to `end`, a float."""
        for one in (self, _event(end)):
            if not one.timing:
                raise ValueError("the event was made with timing=False")
            if not one.recorded:
                raise ValueError("the event was not recorded")
        if self.device is not end.device:
            raise ValueError(f"the events are of devices {self.device.index} and {end.device.index}")
        return self.device.elapsed(self.handle, end.handle)

    def __del__(self, at_end=sys.is_finalizing):
        if not at_end():
            with contextlib.suppress(CudaError, AttributeError):
                self.device.free_event(self.handle)


def stream() -> Stream:
    """A new stream of the current device."""
    device = current_device()
    return Stream(device, device.new_stream())


def default_stream() -> Stream:
    return Stream(current_device(), 0, owned=False)


def legacy_default_stream() -> Stream:
    """The default stream, for which other streams wait."""
    return Stream(current_device(), 1, owned=False)


def per_thread_default_stream() -> Stream:
    """A default stream of each thread of the host."""
    return Stream(current_device(), 2, owned=False)


def external_stream(pointer: int) -> Stream:
    """A stream of another library."""
    return Stream(current_device(), stream_handle(pointer), owned=False)


def event(timing: bool = True) -> Event:
    return Event(current_device(), timing)


def event_elapsed_time(start: Event, end: Event) -> float:
    return _event(start).elapsed_time(end)
