"""A `regard` that is warm: torch is imported once, and each command is a fork of the process that did it.

Nothing of Regard itself is imported beforehand, so that a command begins as it does for a user.

A page's shell finds `regard` and `python` on its PATH. They are a few lines that hand arguments, folder and the three
standard streams to the server and leave with its answer; what runs there is what the installed script runs.
"""

import json
import os
import runpy
import shlex
import signal
import socket
import subprocess
import sys
import traceback
from importlib import import_module
from pathlib import Path

WARM = (
    *("matplotlib.figure", "numpy", "rich.console", "sacrebleu.metrics", "safetensors.torch", "tokenizers"),
    *("torch", "torch._dynamo", "torch.utils.checkpoint", "torch.utils.flop_counter"),
)

CLIENT = """\
import json, os, socket, sys
link = socket.socket(socket.AF_UNIX)
link.connect(sys.argv[1])
socket.send_fds(link, [json.dumps([sys.argv[2:], os.getcwd()]).encode()], [0, 1, 2])
sys.exit(int(link.recv(16) or b"1"))
"""


class Warm:
    """The server, and the folder to put first on a PATH."""

    def __init__(self, folder: Path):
        self.bin, address = folder / "bin", folder / "socket"
        self.bin.mkdir()
        (folder / "client.py").write_text(CLIENT)
        for name in COMMANDS:
            words = [sys.executable, "-SE", str(folder / "client.py"), str(address), name]
            script = self.bin / name
            script.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
            script.chmod(0o755)
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parents[2])}
        self.server = subprocess.Popen([sys.executable, __file__, address], stdout=subprocess.PIPE, env=environment)
        assert self.server.stdout.readline() == b"ready\n"

    def close(self) -> None:
        self.server.terminate()
        self.server.communicate()


def serve(address: str) -> None:
    import_all()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children here
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    print("ready", flush=True)
    while True:
        link, _ = listener.accept()
        message, streams, _, _ = socket.recv_fds(link, 65536, 3)
        if os.fork() == 0:
            listener.close()
            code = answer(*json.loads(message), streams)
            link.send(str(code).encode())
            os._exit(code)
        link.close()
        for stream in streams:
            os.close(stream)


def import_all() -> None:
    for name in WARM:
        import_module(name)
    sys.modules["torch"].set_num_threads(1)


def answer(words: list[str], folder: str, streams: list[int]) -> int:
    """The exit code of one command, run in this process as if it had just begun."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.chdir(folder)
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
    sys.stdin, sys.stdout, sys.stderr = os.fdopen(0), os.fdopen(1, "w"), os.fdopen(2, "w", 1)
    name, *arguments = words
    code = 1
    try:
        code = COMMANDS[name](arguments)
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    except BaseException:
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


def run_regard(arguments: list[str]) -> int:
    from regard.cli import main

    main(arguments)
    return 0


def run_python(arguments: list[str]) -> int:
    """`python FILE` and `python -c CODE`."""
    sys.path.insert(0, "")
    if arguments[0] == "-c":
        exec(arguments[1], {"__name__": "__main__"})
    else:
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


COMMANDS = {"regard": run_regard, "python": run_python}

if __name__ == "__main__":
    serve(sys.argv[1])
