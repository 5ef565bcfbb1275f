"""Replaces a GPU by the fake driver, whose launches run the same kernel on the CPU grid, with the memory and the
parameters of the launch. The results are those of the CPU grid; compilation for a GPU, loading, binding, launches and
waiting are the same as on a GPU."""
import ctypes
import struct

import numpy as np

from pyjitc.cuda import gpu, hostgrid
from pyjitc.runtime.hostdevice import HostDevice
from pyjitc.types.kinds import Array, Complex, NoneType, NpComplex, NpFloat, NpTime, Singleton, Tuple
from pyjitc.types.lattice import dtype_of

from .fake_driver import FakeLibrary


class StandIn(FakeLibrary):
    def __init__(self, monkeypatch, **given):
        super().__init__(**given)
        self.programs = {}  # PTX -> (code for the CPU grid, types, sites)
        usual = gpu.compiled

        def compiled(function, types, options, bounds, arch):
            made = usual(function, types, options, bounds, arch)
            code = hostgrid.compile_kernel(function, types, options._replace(cache=False), bounds, HostDevice())
            self.programs[made.kernel.ptx] = code, types, made.kernel.sites
            return made

        monkeypatch.setattr(gpu, "compiled", compiled)

    def do_cuLaunchKernel(self, function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra):
        code = super().do_cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, parameters, extra)
        if code:
            return code
        text, variables = self.functions[function][2]
        program, types, sites = self.programs[text]
        given = iter(self.launches[-1][-1])
        values = [_value(t, given) for t in types]
        try:
            program.launch(values, types, (gx, gy, gz), (bx, by, bz), 0, shared)
        except Exception as error:
            found = [k for k, site in enumerate(sites, 1) if site.line == error.line
                     and site.cls == type(error).__name__]
            if found:
                place, size = variables["pyjitc_error"]
                record = struct.pack("<I3I3I4x4Q", found[0], *error.block, *error.thread, *(0,) * 4)
                ctypes.memmove(place, record, size)


def _value(t, given):
    """An argument of type `t`, made from the parameters that are passed for it."""
    if isinstance(t, Array):
        address, shape = next(given), tuple([next(given) for _ in range(t.ndim)])
        dtype = dtype_of(t.dtype)
        if t.layout == "A":
            strides = tuple([s - (1 << 64) if s >> 63 else s for s in (next(given) for _ in shape)])
        else:
            strides = np.empty(shape, dtype, t.layout).strides
        reach = [(n - 1) * s for n, s in zip(shape, strides)]
        if 0 in shape:
            return np.empty(shape, dtype)
        low, high = sum(r for r in reach if r < 0), sum(r for r in reach if r > 0) + dtype.itemsize
        memory = (ctypes.c_char * (high - low)).from_address(address + low)
        return np.ndarray(shape, dtype, memory, -low, strides)
    if isinstance(t, Tuple):
        return tuple([_value(part, given) for part in t.elements])
    if t is NoneType:
        return None
    if isinstance(t, Singleton):
        return t.value
    if t is Complex or isinstance(t, NpComplex):
        found = complex(next(given), next(given))
    elif isinstance(t, NpFloat) and t.bits == 16:
        return np.uint16(next(given)).view(np.float16)
    else:
        found = next(given)
    if isinstance(t, NpTime):
        return np.uint64(found).view(dtype_of(t))
    kind = dtype_of(t).type
    return kind(found) if not np.issubdtype(kind, np.signedinteger) else np.uint64(found).astype(kind)


__all__ = ["StandIn"]
