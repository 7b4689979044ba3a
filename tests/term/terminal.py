# SPDX-License-Identifier: GPL-2.0-or-later
"""A real terminal (tmux) with a shell in it, and lattop in that. Used by run.py.

Nothing sleeps for a fixed time: wait() returns when the screen shows what it must, or raises Failure.
"""
import os
import shlex
import subprocess
import time

TIMEOUT = 60  # seconds; machines under load are slow
PROMPT = "READY>"
SNAPSHOTS = 2000
TYPED = set()  # keys that some test has typed


class Failure(Exception):
    pass


class Terminal:
    """A tmux server of its own with one window that runs sh."""

    count = 0

    def __init__(self, folder, size=(80, 24)):
        # A server ends some time after it was told to: each has its own socket.
        Terminal.count += 1
        self.socket = os.path.join(folder, f"tmux{Terminal.count}")
        env = {k: v for k, v in os.environ.items() if k not in ("TMUX", "NO_COLOR", "LC_ALL")}
        self.env = env | {"LANG": "C.UTF-8", "TERM": "screen-256color", "PS1": PROMPT, "ENV": "",
                           "XDG_CONFIG_HOME": folder}
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), "sh", "-i")
        self.tmux("set-option", "-g", "status", "off")
        self.resize(*size)
        self.wait(PROMPT)

    def tmux(self, *args):
        command = ["tmux", "-u", "-S", self.socket, *args]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failure(f"{shlex.join(command)}: {done.stderr}")
        return done.stdout

    def keys(self, *names):
        TYPED.update(names)
        self.tmux("send-keys", *names)

    def type(self, line):
        self.tmux("send-keys", "-l", line)

    def mouse(self, x, y, button=0, release=True):
        """A press at a cell, as a terminal says it: 0 the left button, 64 and 65 the wheel."""
        self.type("\x1b[M" + "".join(chr(32 + n) for n in (button, x + 1, y + 1)))
        if button == 0 and release:
            self.type("\x1b[M" + "".join(chr(32 + n) for n in (3, x + 1, y + 1)))

    def place(self, text):
        """The first cell of the screen that holds it."""
        for y, line in enumerate(self.screen().splitlines()):
            if text in line:
                return line.index(text), y
        raise Failure(f"no {text} on the screen")

    def screen(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def resize(self, width, height):
        self.tmux("resize-window", "-x", str(width), "-y", str(height))

    def wait(self, *texts, gone=()):
        """Until the screen shows all of `texts` and none of `gone`."""
        end = time.monotonic() + TIMEOUT
        while True:
            screen = self.screen()
            if all(t in screen for t in texts) and not any(t in screen for t in gone):
                return screen
            if time.monotonic() > end:
                raise Failure(f"never showed {texts} without {gone}; the screen is:\n{screen}")
            time.sleep(0.05)

    def run(self, command):
        self.type(command)
        self.keys("Enter")

    def pid_of(self, name):
        """The process `name` under this terminal's shell."""
        shell = self.tmux("display-message", "-p", "#{pane_pid}").strip()
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            out = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", shell], capture_output=True, text=True, check=False)
            for line in out.stdout.splitlines():
                pid, comm = line.split(None, 1)
                if comm == name:
                    return int(pid)
            time.sleep(0.05)
        raise Failure(f"{name} never ran")

    def modes(self):
        """The terminal's settings, as stty has them."""
        tty = self.tmux("display-message", "-p", "#{pane_tty}").strip()
        return subprocess.run(["stty", "-g", "-F", tty], capture_output=True, text=True, check=True).stdout

    def alternate(self):
        return self.tmux("display-message", "-p", "#{alternate_on}").strip() == "1"

    def cursor_visible(self):
        return self.tmux("display-message", "-p", "#{cursor_flag}").strip() == "1"

    def close(self):
        subprocess.run(["tmux", "-S", self.socket, "kill-server"], env=self.env, capture_output=True, check=False)


class Lattop:
    """lattop on a recording in a terminal; checks that it gives it back."""

    def __init__(self, setup, options="", variables="", size=(80, 24), alternate=True):
        self.terminal = Terminal(setup.folder, size)
        self.before = self.terminal.modes()
        self.terminal.run(f"clear; {variables} {setup.lattop} -i {setup.records} -d 0.2 {options}")
        self.terminal.wait("BLOCKED", "dbserver")
        if self.terminal.alternate() != alternate:
            raise Failure("does not use the alternate screen")

    def quit(self):
        self.terminal.keys("q")
        self.check_restored()

    def check_restored(self, status=0):
        self.terminal.wait(PROMPT, gone=["dbserver"])
        self.terminal.run("echo STATUS $?")
        self.terminal.wait(f"STATUS {status}\n")
        if self.terminal.alternate():
            raise Failure("left the alternate screen on")
        if not self.terminal.cursor_visible():
            raise Failure("left the cursor hidden")
        if self.terminal.modes() != self.before:
            raise Failure(f"terminal modes {self.terminal.modes()} were {self.before}")
        self.terminal.close()
