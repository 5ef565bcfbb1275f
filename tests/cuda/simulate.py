"""An independent way to run kernels: the interpreter runs each thread of a block as a system thread, with real
barriers."""
import threading
from types import FunctionType, SimpleNamespace

import numpy as np


class _Meeting:
    """A barrier for the threads that have not returned yet."""

    def __init__(self, count):
        self.condition = threading.Condition()
        self.alive, self.waiting, self.round = count, 0, 0

    def wait(self):
        with self.condition:
            mine = self.round
            self.waiting += 1
            self._meet()
            self.condition.wait_for(lambda: self.round != mine, 20)

    def leave(self):
        with self.condition:
            self.alive -= 1
            self._meet()

    def _meet(self):
        if self.waiting == self.alive:
            self.waiting = 0
            self.round += 1
            self.condition.notify_all()


class _Block:
    """The object that kernels call `cuda`, for one thread; `common` has the shared state of the block."""

    def __init__(self, common, thread, block, threads, blocks):
        self.common, self.number = common, thread
        self.threadIdx, self.blockIdx = SimpleNamespace(x=thread), SimpleNamespace(x=block)
        self.blockDim, self.gridDim = SimpleNamespace(x=threads), SimpleNamespace(x=blocks)
        self.laneid, self.made = thread % 32, 0
        self.shared = SimpleNamespace(array=self._shared)
        self.local = SimpleNamespace(array=np.zeros)

    def _shared(self, shape, dtype):
        self.made += 1
        with self.common.meeting.condition:
            return self.common.arrays.setdefault(self.made, np.zeros(shape, dtype))

    def grid(self, ndim):
        return self.blockIdx.x * self.blockDim.x + self.number

    def gridsize(self, ndim):
        return self.gridDim.x * self.blockDim.x

    def syncthreads(self):
        self.common.meeting.wait()

    def _exchange(self, value):
        """The values of all threads that have not returned yet."""
        self.common.values[self.number] = value
        self.syncthreads()
        found = dict(self.common.values)
        self.syncthreads()
        self.common.values.pop(self.number, None)
        return found

    def syncthreads_count(self, predicate):
        return sum(map(bool, self._exchange(predicate).values()))

    def shfl_xor_sync(self, mask, value, lane_mask):
        return self._exchange(value).get(self.number ^ lane_mask, value)

    def ballot_sync(self, mask, predicate):
        return sum(1 << k for k, p in self._exchange(predicate).items() if p)


def simulate(function, blocks, threads, args):
    """Run a kernel of one axis, blocks one after another."""
    for block in range(blocks):
        common = SimpleNamespace(meeting=_Meeting(threads), arrays={}, values={})
        failures = []

        def run(thread):
            space = {**function.__globals__, "cuda": _Block(common, thread, block, threads, blocks)}
            try:
                FunctionType(function.__code__, space, function.__name__, function.__defaults__,
                             function.__closure__)(*args)
            except BaseException as error:
                failures.append(error)
            finally:
                common.meeting.leave()

        workers = [threading.Thread(target=run, args=(k,)) for k in range(threads)]
        for one in workers:
            one.start()
        for one in workers:
            one.join()
        if failures:
            raise failures[0]
