"""Processes the suite starts: each writes to a log of its own and ends with the suite, even if that is killed."""
import ctypes
import os
import signal
import socket
import subprocess
import time

PR_SET_PDEATHSIG = 1


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def until(condition, seconds, what):
    """The first true value of `condition`; fails after so many seconds."""
    end = time.monotonic() + seconds
    while True:
        if value := condition():
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {seconds} s")
        time.sleep(0.05)


def end_with_parent():
    """What a new process does first: it asks the kernel to be ended when its parent is gone."""
    parent = os.getpid()

    def ask():
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)
    return ask


def run(arguments, timeout, environment=None, folder=None):
    """What a program printed that ends by itself."""
    return subprocess.run(arguments, env={**os.environ, **(environment or {})}, cwd=folder, timeout=timeout, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, preexec_fn=end_with_parent())


class Process:
    """A process that is ended by its id."""

    def __init__(self, arguments, log, environment=None, user=None, folder=None):
        self.log_path = log
        identity = {} if user is None else {"user": user, "group": user, "extra_groups": []}
        with open(log, "ab") as output:
            self.child = subprocess.Popen(
                arguments, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=folder,
                env={**os.environ, **(environment or {})}, preexec_fn=end_with_parent(), **identity)

    def alive(self):
        return self.child.poll() is None

    def log(self):
        with open(self.log_path, "rb") as f:
            return f.read().decode("utf-8", "replace")

    def wait_for(self, condition, what, seconds=20):
        """Waits until `condition`, and says what the process said if it ends or takes too long."""
        def ready():
            if not self.alive():
                raise AssertionError(f"{what}: the process ended with {self.child.returncode}:\n{self.log()[-2000:]}")
            return condition()
        try:
            return until(ready, seconds, what)
        except AssertionError:
            self.stop()
            raise

    def stop(self):
        if self.alive():
            self.child.terminate()
            try:
                self.child.wait(10)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()
