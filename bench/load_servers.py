"""Servers of models as processes of their own, for `serve_load.py` and `annif_check.py`."""

import os
import subprocess
import sys
from pathlib import Path


class Server:
    """A process that prints its address in its first line; ends with the block it was opened in."""

    def __init__(self, name, command):
        self.name = name
        self.process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
        address = self.process.stdout.readline().strip()
        if not address.startswith("http://"):
            sys.exit(f"{name} did not start")
        self.address = address.removeprefix("http://")

    @classmethod
    def of_plethora(cls, program, model, *arguments, name="plethora"):
        return cls(name, [program, "serve", f"m={model}", "--port", "0", "-q", *arguments])

    @classmethod
    def of_flask(cls, python, model, *arguments):
        script = Path(__file__).with_name("serve_flask.py")
        return cls("flask", [python, script, model, *arguments])

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.terminate()
        status = self.process.wait(60)
        # Flask has no other end than the signal; Plethora has, and says so by its status.
        if kind is None and status not in (0, -15):
            sys.exit(f"{self.name} ended with {status}")

    def memory_mib(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as lines:
            size = next(line for line in lines if line.startswith("VmRSS"))
        return int(size.split()[1]) / 1024

    def cpu_seconds(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as line:
            fields = line.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
