# SPDX-License-Identifier: GPL-2.0-or-later
"""How it takes the terminal and gives it back, and terminals that can do little. Run by run.py."""
import os
import signal
import subprocess
import time

from registry import test
from terminal import Failure, Lattop, PROMPT, TIMEOUT, Terminal


@test
def q_quits_and_restores_the_terminal(setup):
    lattop = Lattop(setup)
    lattop.quit()


@test
def f10_quits(setup):
    lattop = Lattop(setup)
    lattop.terminal.keys("F10")
    lattop.check_restored()


@test
def ctrl_c_restores_the_terminal(setup):
    lattop = Lattop(setup)
    lattop.terminal.keys("C-c")
    lattop.check_restored()


@test
def signals_restore_the_terminal(setup):
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        lattop = Lattop(setup)
        os.kill(lattop.terminal.pid_of("lattop"), number)
        lattop.check_restored()


@test
def a_signal_ends_it_while_the_terminal_is_stopped(setup):
    lattop = Lattop(setup)
    pid = lattop.terminal.pid_of("lattop")
    lattop.terminal.keys("C-s")
    os.kill(pid, signal.SIGTERM)
    lattop.check_restored()


@test
def an_error_while_it_runs_restores_the_terminal_and_is_shown_after(setup):
    lattop = Lattop(setup)
    os.truncate(setup.records, 100)
    lattop.terminal.wait("has become shorter")
    lattop.check_restored(status=1)


@test
def it_follows_a_resize_down_to_too_small_and_back(setup):
    lattop = Lattop(setup)
    terminal = lattop.terminal
    terminal.resize(120, 40)
    terminal.wait("USER", "SLEEPS")
    terminal.resize(40, 10)
    terminal.wait("nginx", gone=["USER", "SLEEPS"])
    terminal.resize(30, 5)
    terminal.wait("terminal too small: 30x5", gone=["dbserver"])
    terminal.resize(80, 24)
    terminal.wait("dbserver", gone=["too small"])
    lattop.quit()


@test
def ctrl_z_gives_the_terminal_back_and_fg_takes_it_again(setup):
    lattop = Lattop(setup)
    terminal = lattop.terminal
    # ^Z drops what was typed and not read yet, so what a key does is waited for
    for shown in "no kernel threads", "kworker":
        terminal.keys("C-z")
        terminal.wait("Stopped", PROMPT)
        if terminal.alternate():
            raise Failure("stopped on the alternate screen")
        terminal.run("clear; fg")
        terminal.wait("dbserver", "BLK%")
        terminal.keys("K")
        terminal.wait(shown)
    lattop.quit()


@test
def ctrl_z_changes_nothing_where_no_shell_could_continue_it(setup):
    lattop = Lattop(setup)
    terminal = lattop.terminal
    # With a process in between: tmux itself continues what stops.
    terminal.tmux("respawn-pane", "-k", "sh", "-c", f"{setup.lattop} -i {setup.records} -d 0.2; :")
    for shown in "no kernel threads", "kworker":
        terminal.wait("dbserver", "BLK%")
        terminal.keys("C-z")
        terminal.keys("K")
        terminal.wait(shown)
    terminal.close()


@test
def a_stop_and_a_continue_from_outside_draw_the_screen_anew(setup):
    lattop = Lattop(setup)
    terminal = lattop.terminal
    pid = terminal.pid_of("lattop")
    os.kill(pid, signal.SIGSTOP)
    terminal.wait("Stopped", PROMPT)
    # The terminal is still as lattop set it: Enter is no newline there.
    terminal.type("fg")
    terminal.keys("C-j")
    terminal.wait("dbserver", "F10Quit", gone=["Stopped"])
    terminal.keys("q")
    terminal.wait(PROMPT, gone=["dbserver"])
    terminal.close()


@test
def a_closed_terminal_ends_it(setup):
    lattop = Lattop(setup)
    pid = lattop.terminal.pid_of("lattop")
    lattop.terminal.close()
    end = time.monotonic() + TIMEOUT
    while os.path.exists(f"/proc/{pid}/cwd"):
        if time.monotonic() > end:
            raise Failure("goes on without a terminal")
        time.sleep(0.05)


def colours(terminal):
    """Whether the screen has any colour."""
    screen = terminal.screen("-e")
    return any(f"\x1b[{n}m" in screen or f";{n}m" in screen for n in [*range(30, 38), *range(40, 48)])


@test
def colours_are_used_unless_no_color_is_set(setup):
    for variables, expected in (("", True), ("NO_COLOR=1", False), ("NO_COLOR=", True)):
        lattop = Lattop(setup, variables=variables)
        if colours(lattop.terminal) != expected:
            raise Failure(f"{variables}: colours are {not expected}")
        lattop.terminal.keys("q")
        lattop.check_restored()


@test
def a_terminal_without_colours_and_without_an_alternate_screen_will_do(setup):
    lattop = Lattop(setup, variables="TERM=vt100", alternate=False)
    if colours(lattop.terminal):
        raise Failure("colours on a terminal that has none")
    lattop.terminal.keys("q")
    lattop.terminal.wait(PROMPT)
    lattop.terminal.close()


@test
def without_a_utf8_locale_only_ascii_is_shown(setup):
    for locale, bar in (("C", "###"), ("C.UTF-8", "\u2588\u2588")):
        lattop = Lattop(setup, variables=f"LANG={locale}", size=(100, 45))
        lattop.terminal.keys("/")
        lattop.terminal.type("1201")
        lattop.terminal.keys("Enter", "Enter")
        screen = lattop.terminal.wait(bar)
        if locale == "C" and not screen.isascii():
            raise Failure(f"not ASCII:\n{screen}")
        lattop.terminal.keys("q")
        lattop.check_restored()


@test
def hostile_names_do_nothing_to_the_terminal(setup):
    lattop = Lattop(setup)
    lattop.terminal.wait("evil?[2J?")
    lattop.quit()


@test
def an_unknown_terminal_is_refused(setup):
    terminal = Terminal(setup.folder)
    terminal.run(f"TERM=no-such-terminal {setup.lattop} -i {setup.records}; echo STATUS $?")
    terminal.wait("type is not known", "STATUS 1")
    terminal.close()


@test
def a_module_that_is_not_loaded_is_said_before_the_screen_opens(setup):
    if os.path.exists("/proc/lattop"):
        return
    terminal = Terminal(setup.folder)
    terminal.run(f"{setup.lattop}; echo STATUS $?")
    terminal.wait("modprobe lattop", "STATUS 3")
    terminal.close()


@test
def a_reader_that_goes_away_ends_the_batch_quietly(setup):
    command = f"{setup.lattop} -i {setup.records} -b -d 0.1 | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=TIMEOUT)
    lines = done.stdout.splitlines()
    if done.stderr or len(lines) != 2 or lines[1] != "0" or not lines[0].startswith("lattop "):
        raise Failure(f"{lines} {done.stderr!r}")


@test
def without_a_terminal_it_says_what_to_use(setup):
    done = subprocess.run([setup.lattop, "-i", setup.records], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False, timeout=TIMEOUT)
    if done.returncode != 2 or "lattop -b" not in done.stderr:
        raise Failure(f"{done.returncode} {done.stderr!r}")
