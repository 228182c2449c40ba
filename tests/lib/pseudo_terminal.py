"""A command on a terminal of its own, as a person sees it.

    terminal = Terminal([f"{BIN}/renga", "ask", "What is it?"], columns=70, cwd=folder, env=environment)
    terminal.until("Sources")
    terminal.type("\x03")
    text = terminal.ended(130)
"""
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time
import unicodedata

from checks import expect

SLOW = 5 if os.environ.get("RENGA_SANITIZE") else 1  # sanitizers take their time


def width(line):
    """Columns that it takes."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in line)


def lead():
    """The command leads a session of its own, so that Ctrl-C reaches it."""
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    def __init__(self, command, columns=70, **more):
        self.ours, theirs = pty.openpty()
        self.out, self.read = b"", 0  # all output; bytes of it that were read before the text
        self.resize(columns)
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, preexec_fn=lead, **more)
        os.close(theirs)

    def resize(self, columns):
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))

    def more(self, seconds):
        """Reads once. False if no output came in time, or the command has closed the terminal."""
        if not select.select([self.ours], [], [], seconds)[0]:
            return False
        try:
            piece = os.read(self.ours, 65536)
        except OSError:  # the other end is closed
            piece = b""
        self.out += piece
        return bool(piece)

    def text(self):
        return self.out[self.read:].decode(errors="replace").replace("\r\n", "\n")

    def until(self, wanted):
        end = time.monotonic() + 60 * SLOW
        while wanted not in self.text():
            expect(self.more(1) or self.process.poll() is None, f"it has ended: {self.text()}")
            expect(time.monotonic() < end, f"{wanted!r} does not come: {self.text()}")

    def type(self, keys):
        os.write(self.ours, keys.encode())

    def ended(self, code=0):
        """The rest of the text, when the command has ended with this exit code."""
        while self.more(60 * SLOW):
            pass
        got = self.process.wait(30 * SLOW)
        os.close(self.ours)
        expect(got == code, f"it ended with {got}: {self.text()}")
        return self.text()
