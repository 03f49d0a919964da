"""A terminal for a command with a screen: a pty, what the command writes to it, and keys."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import threading

from harness import DEADLINE_S, SPOOR, wait_until

HOME = b"\x1b[H"
END = b"\x1b[J"
LEAVE = b"\x1b[?7h\x1b[?25h\x1b[?1049l"


class Screen:
    def __init__(self, *arguments, lines=24, columns=80):
        self.master, self.slave = pty.openpty()
        self.resize(lines, columns)
        self.before = self.modes()
        self.bytes = b""
        # preexec_fn: the pty is the terminal that Ctrl-C comes from, as a shell's is.
        self.process = subprocess.Popen([SPOOR, *map(str, arguments)], stdin=self.slave, stdout=self.slave,
                                        stderr=self.slave, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        while True:
            try:
                self.bytes += os.read(self.master, 65536)
            except OSError:
                return

    def modes(self):
        return termios.tcgetattr(self.slave)

    def resize(self, lines, columns):
        self.size = lines, columns
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def sent(self):
        """The last whole frame, as the terminal gets it."""
        frames = self.bytes.split(HOME)
        return next((f for f in reversed(frames[1:]) if END in f), b"").split(END)[0].decode(errors="replace")

    def frame(self):
        """The lines of the last whole frame."""
        text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", self.sent())
        return [line.rstrip("\r") for line in text.split("\n")]

    def marked(self):
        """What is shown inverse in the last whole frame: the pane's title, and the row that is chosen."""
        lines = self.sent().split("\n")[:-1]
        return [text.strip() for line in lines for text in re.findall(r"\x1b\[7m(.*?)\x1b\[0m", line)]

    def wait(self, what, condition):
        try:
            return wait_until(what, lambda: condition(self.frame()))
        except AssertionError as err:
            raise AssertionError(f"{err}; the screen is\n" + "\n".join(self.frame())) from None

    def has(self, text):
        return self.wait(f"{text!r} is on the screen", lambda frame: any(text in line for line in frame))

    def keys(self, text):
        os.write(self.master, text.encode())

    def ended(self):
        """Its exit status."""
        return self.process.wait(DEADLINE_S)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.slave)
        self.reader.join(DEADLINE_S)
        os.close(self.master)
