"""Checks programs in a child process, so that a crash or a hang of compiled code becomes a result, too."""
import json
import os
import select
import subprocess
import sys
import tempfile

__all__ = ["Worker"]


class Worker:
    """A child process that checks one program after the other; it is restarted when it dies or does not answer in
    time."""

    def __init__(self, seconds: float = 20.0):
        self.seconds = seconds
        self.child = None

    def ask(self, source: str, how: str = "check") -> tuple[str, str]:
        """(status, text) as a function of check.py gives them (check, stages or passes), or ('crash', how), ('hang',
        '')."""
        if self.child is None:
            self.said = tempfile.TemporaryFile()  # a pipe that nobody reads would stop the child when it is full
            self.child = subprocess.Popen([sys.executable, "-X", "faulthandler", "-m", "tests.generate.worker"],
                                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said,
                                          env={"PYJITC_VERIFY": "1", "PYJITC_NUM_THREADS": "4"} | os.environ)
        try:
            self.child.stdin.write(json.dumps([source, how]).encode() + b"\n")
            self.child.stdin.flush()
        except BrokenPipeError:
            return self.ended()
        start = _used(self.child.pid)
        for _ in range(20):  # slowness of a busy machine is no hang; a child that uses no CPU for twenty rounds hangs
            ready, _, _ = select.select([self.child.stdout], [], [], self.seconds)
            if ready or _used(self.child.pid) - start > self.seconds:
                break
        if not ready:
            self.stop()
            return "hang", f"no answer in {self.seconds} s"
        answer = self.child.stdout.readline()
        return tuple(json.loads(answer)) if answer else self.ended()

    def ended(self):
        code = self.child.wait()
        self.said.seek(0)
        trace = self.said.read().decode(errors="replace")
        self.stop()
        lines = [line for line in trace.splitlines() if line.startswith(("Fatal", "Assertion", "LLVM ERROR"))]
        return "crash", f"the process ended with {code}: {' '.join(lines)[:300]}"

    def stop(self):
        if self.child is not None:
            self.child.kill()
            self.child.wait()
            for stream in (self.child.stdin, self.child.stdout, self.said):
                stream.close()
            self.child = None


def _used(pid: int) -> float:
    """Seconds of CPU that a process has used."""
    with open(f"/proc/{pid}/stat") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _serve():
    from tests.generate import check

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of programs must not appear among the answers
    for line in sys.stdin:
        source, wanted = json.loads(line)
        try:
            answer = getattr(check, wanted)(source)
        except Exception as error:
            answer = "wrong", f"the checker failed: {error!r}"
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    _serve()
