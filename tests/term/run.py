#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Runs the real lattop in a real terminal (tmux) and looks at the screen.

usage: run.py LATTOP WRITE_RECORDS FAKE_MODULE [TEST...]

Each test gets a terminal of its own with a shell in it. Nothing sleeps for a
fixed time: a test waits until the screen shows what it must, or fails.
"""
import glob
import os
import signal
import subprocess
import sys
import tempfile
import time

from terminal import Failure, Lattop, PROMPT, SNAPSHOTS, TIMEOUT, TYPED, Terminal

TESTS = []


def test(function):
    TESTS.append(function)
    return function


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
def a_recording_that_is_cut_off_is_shown_up_to_there(setup):
    os.truncate(setup.records, os.path.getsize(setup.records) // 2)
    lattop = Lattop(setup)
    lattop.quit()


@test
def an_error_while_it_runs_restores_the_terminal_and_is_shown_after(setup):
    lattop = Lattop(setup)
    os.truncate(setup.records, 100)
    lattop.terminal.wait("has become shorter")
    lattop.check_restored(status=1)


@test
def keys_go_back_and_on_in_a_recording(setup):
    subprocess.run([setup.write_records, setup.records, "40"], check=True)
    terminal = Terminal(setup.folder)
    terminal.run(f"clear; {setup.lattop} replay {setup.records} -d 3600")
    terminal.wait("snapshot 1 of 40", "10.0s since load")
    terminal.keys(".")
    terminal.wait("snapshot 2 of 40", "12.0s since load", "PAUSED")
    terminal.keys("]", "]")
    terminal.wait("snapshot 10 of 40", "28.0s since load")
    terminal.keys(",")
    terminal.wait("snapshot 9 of 40", "26.0s since load")
    terminal.keys("[", "[", "[", "[")
    terminal.wait("snapshot 1 of 40")
    for _ in range(12):
        terminal.keys("]")
    terminal.wait("snapshot 40 of 40", "1m28s since load")
    terminal.keys("Z")
    terminal.wait("the recording ends here")
    terminal.keys("d")
    terminal.type("0.1")
    terminal.keys("Enter", "[")
    terminal.wait("snapshot 36 of 40")
    terminal.keys("Z")
    terminal.wait("snapshot 40 of 40", "the recording ends here")
    terminal.keys("q")
    terminal.wait(PROMPT, gone=["dbserver"])
    terminal.close()


@test
def a_recording_is_replayed_with_as_many_tasks_as_asked_for(setup):
    terminal = Terminal(setup.folder, (100, 30))
    terminal.run(f"clear; {setup.lattop} replay {setup.records} -d 3600 --limit 2")
    terminal.wait("snapshot 1 of", "(first 2: see --limit)")
    terminal.keys("q")
    terminal.wait(PROMPT, gone=["see --limit"])
    terminal.run(f"clear; {setup.lattop} record -o no.rec --filter nginx; echo STATUS $?")
    terminal.wait("no --filter here: a recording keeps all sleeps", "when they read it", "STATUS 2")
    terminal.close()


@test
def a_view_of_a_recording_that_stands_still_is_whole(setup):
    terminal = Terminal(setup.folder, (100, 30))
    terminal.run(f"clear; {setup.lattop} replay {setup.records} -d 3600")
    terminal.wait("snapshot 1 of", "8.52s")
    terminal.keys("2")
    # 8.52 s of each of three tasks: what they read from the disk is in it, not the lock alone
    terminal.wait("snapshot 1 of", "25.5s")
    terminal.keys("q")
    terminal.wait(PROMPT, gone=["dbserver"])
    terminal.close()


@test
def a_recording_says_what_sleepers_waited_for(setup):
    terminal = Terminal(setup.folder, (120, 40))
    terminal.run(f"clear; {setup.lattop} replay {setup.records} -d 3600")
    terminal.wait("snapshot 1 of", "dbserver")
    for pid, object in (("1200", "waits for mutex buffer_lock, held by 1201 db-worker/1 (D)"), ("2001", "waits for fd 3: /tmp/")):
        terminal.keys("/")
        terminal.type(pid)
        terminal.keys("Enter", "Enter")
        terminal.wait(object)
        terminal.keys("Escape", "Escape")
        terminal.wait("F10Quit", gone=["waits for"])
    terminal.keys("q")
    terminal.wait(PROMPT, gone=["dbserver"])
    terminal.run(f"clear; {setup.lattop} --json -i {setup.records} -n 1 | tr , '\\n' | grep waits_for | sort | uniq -c")
    terminal.wait('2 "waits_for":"mutex buffer_lock', r'1 "waits_for":"fd 3: /tmp/\u001b[2J\ufffd"')
    terminal.close()


@test
def keys_act_at_once(setup):
    lattop = Lattop(setup, "-s pid")
    terminal = lattop.terminal
    terminal.keys("K")
    terminal.wait("no kernel threads", gone=["kworker"])
    terminal.keys("/")
    terminal.type("1201")
    terminal.keys("Enter", "Enter")
    terminal.wait("1201 db-worker/1 (process 1200)", "futex_wait_queue+0x10")
    terminal.keys("Enter", "Down")
    terminal.wait("ext4_file_read_iter")
    terminal.keys("Escape", "Escape")
    terminal.wait("F10Quit", gone=["SHARE"])
    terminal.keys("F6", "Home", "Down", "Enter")
    terminal.wait("Sorted by USER")
    terminal.keys("F1")
    terminal.wait("where tasks block, and for how long")
    terminal.keys("x")
    terminal.wait("Sorted by USER")
    terminal.keys("F4")
    terminal.type("nginx")
    terminal.wait("1 of 9 shown")
    terminal.keys("Escape")
    terminal.wait("7 of 9 shown")
    terminal.keys("End")
    terminal.keys("PPage")
    terminal.keys("Z")
    terminal.wait("PAUSED")
    terminal.keys("Z")
    terminal.wait("lattop", gone=["PAUSED"])
    terminal.keys("r")
    terminal.wait("(y/n)")
    terminal.keys("y")
    terminal.wait("a recording cannot be reset")
    lattop.quit()


@test
def digits_and_tab_choose_the_view(setup):
    lattop = Lattop(setup)
    terminal = lattop.terminal
    terminal.keys("2")
    terminal.wait("Processes: 7 shown", "TASKS", "WAIT")
    terminal.keys("3")
    terminal.wait("Stacks: 6 shown", "disk read", "futex")
    terminal.keys("Tab")
    terminal.wait("Reasons: 6 shown", "epoll")
    terminal.keys("5")
    terminal.wait("Cgroups: 5 shown", "nginx.service")
    terminal.keys("Tab")
    terminal.wait("Tasks: 9 of 9 shown")
    terminal.keys("BTab")
    terminal.wait("Cgroups: 5 shown")
    terminal.keys("1")
    terminal.wait("Tasks: 9 of 9 shown", "nginx")
    lattop.quit()


@test
def the_pane_of_a_reason_shows_its_stacks_and_tasks(setup):
    lattop = Lattop(setup, size=(100, 50))
    terminal = lattop.terminal
    terminal.keys("4", "/")
    terminal.type("futex")
    terminal.keys("Enter", "Enter")
    terminal.wait("Reason futex: blocked", "of 3 tasks", "futex_wait_queue+0x10", "says reasons.conf:")
    terminal.keys("Enter", "NPage", "NPage")
    terminal.wait("tasks", "1202 S db-worker/2")
    terminal.keys("Escape", "Escape")
    terminal.wait("Reasons: 6 shown", gone=["SHARE"])
    lattop.quit()


@test
def the_open_stack_goes_to_the_clipboard_as_a_folded_line(setup):
    lattop = Lattop(setup)
    terminal = lattop.terminal
    terminal.tmux("set-option", "-s", "set-clipboard", "on")
    terminal.keys("y")
    terminal.wait("nothing to copy")
    terminal.keys("/")
    terminal.type("db-worker/2")
    terminal.keys("Enter", "Enter", "y")
    terminal.wait("bytes for the clipboard")
    line = terminal.tmux("show-buffer")
    if not line.startswith("db-worker/2;libc.so.6+0x891f5;db::worker_main;"):
        raise Failure(f"the clipboard has {line!r}")
    lattop.quit()


@test
def a_container_is_found_by_its_name_and_its_pane_shows_its_path(setup):
    lattop = Lattop(setup, size=(150, 40))
    terminal = lattop.terminal
    terminal.keys("5", "F4")
    terminal.type("docker:dd")
    terminal.keys("Enter", "Home", "Enter")
    terminal.wait("Cgroups: 1 shown", "Cgroup docker:dddddddddddd: blocked", "of 3 tasks", "path /system.slice/docker-dd", gone=["nginx"])
    lattop.quit()


@test
def waits_for_work_are_hidden_and_figures_are_of_the_interval_at_a_key(setup):
    lattop = Lattop(setup)
    terminal = lattop.terminal
    terminal.keys("i")
    terminal.wait("no waits for work", "dbserver", gone=["nginx", "kworker"])
    terminal.keys("i")
    terminal.wait("nginx", gone=["no waits for work"])
    terminal.keys("a")
    terminal.wait("of the last 2.00s alone", "1.90s")
    terminal.keys("a", "o")
    terminal.wait("only active", "nginx", gone=["evil", "of the last"])
    terminal.keys("o", "X", "I")
    terminal.wait("inverted", "no exited", gone=["brief", "only active"])
    lattop.quit()


@test
def a_tree_shows_tasks_below_their_process_and_folds(setup):
    lattop = Lattop(setup, size=(100, 30))
    terminal = lattop.terminal
    terminal.keys("F5")
    terminal.wait("Processes: ", "\u251c\u2500 db-worker", "\u2514\u2500")
    terminal.keys("-")
    terminal.wait("+ dbserver", gone=["\u2514\u2500"])
    terminal.keys("+")
    terminal.wait("\u2514\u2500")
    terminal.keys("t")
    terminal.wait("dbserver", gone=["\u2514\u2500"])
    lattop.quit()


@test
def tags_choose_what_every_view_shows(setup):
    lattop = Lattop(setup, "-s pid", size=(100, 30))
    terminal = lattop.terminal
    terminal.keys("/")
    terminal.type("1202")
    terminal.keys("Enter", "Space", "v")
    terminal.wait("Tasks: 1 of 9 shown", "only the 1 tagged")
    terminal.keys("3")
    terminal.wait("Stacks: 3 shown")
    terminal.keys("1", "c")
    terminal.wait("Tasks: 3 of 9 shown")
    terminal.keys("U")
    terminal.wait("Tasks: 9 of 9 shown", gone=["tagged"])
    terminal.keys("Home", "F")
    terminal.wait("following")
    lattop.quit()


@test
def columns_are_chosen_and_kept(setup):
    lattop = Lattop(setup, size=(100, 30))
    terminal = lattop.terminal
    terminal.keys("F2")
    terminal.wait("Columns of Tasks", "[x] USER")
    terminal.keys("Down", "Space")
    terminal.wait("[ ] USER")
    terminal.keys("Enter")
    terminal.wait("COMMAND", gone=["USER", "Columns of"])
    terminal.keys("C", "Right", "Enter")
    terminal.wait("S   PID")
    lattop.quit()
    with open(os.path.join(setup.folder, "lattop", "columns.conf"), encoding="utf-8") as file:
        kept = file.read()
    if "\ntasks: state pid share" not in kept:
        raise Failure(kept)
    lattop = Lattop(setup, size=(100, 30))
    lattop.terminal.wait("S   PID", gone=["USER"])
    lattop.quit()


@test
def what_was_chosen_is_found_again_and_options_go_before_it(setup):
    lattop = Lattop(setup, size=(100, 30))
    terminal = lattop.terminal
    terminal.keys("2", "M", "I", "K", "i")
    terminal.wait("Processes: ", "Sorted by MAX inverted", "no kernel threads", "no waits for work")
    lattop.quit()
    lattop = Lattop(setup, size=(100, 30))
    lattop.terminal.wait("Processes: ", "Sorted by MAX inverted", "no kernel threads", "no waits for work")
    lattop.quit()
    lattop = Lattop(setup, "-s frame", size=(100, 30))
    lattop.terminal.wait("Sorted by TOP FRAME", "no kernel threads", gone=["inverted"])
    lattop.quit()
    lattop = Lattop(setup, size=(100, 30))
    lattop.terminal.wait("Sorted by MAX inverted")
    lattop.quit()


@test
def the_mouse_selects_sorts_and_scrolls(setup):
    lattop = Lattop(setup, size=(100, 45))
    terminal = lattop.terminal
    terminal.mouse(*terminal.place("nginx"))
    terminal.mouse(*terminal.place("nginx"))
    terminal.wait("877 nginx", "SHARE")
    terminal.keys("Escape")
    terminal.wait("F10Quit", gone=["SHARE"])
    terminal.mouse(*terminal.place("MAX"))
    terminal.wait("Sorted by MAX")
    terminal.mouse(*terminal.place("2Processes"))
    terminal.wait("Processes: ")
    terminal.keys("Home", "Enter")
    terminal.wait("SHARE", "Process 2001")
    terminal.keys("Escape")
    terminal.mouse(5, 10, 65)
    terminal.keys("Enter")
    terminal.wait("SHARE", gone=["Process 2001"])
    terminal.keys("Escape")
    terminal.mouse(*terminal.place("F10Quit"), release=False)  # the shell would get that
    lattop.check_restored()
    lattop = Lattop(setup, "--no-mouse", variables=f"XDG_CONFIG_HOME={setup.folder}/untouched")
    terminal = lattop.terminal
    if terminal.tmux("display-message", "-p", "#{mouse_any_flag}").strip() != "0":
        raise Failure("--no-mouse takes the mouse")
    lattop.quit()


@test
def keys_move_sort_and_ask_as_the_help_says(setup):
    lattop = Lattop(setup, size=(100, 30))
    terminal = lattop.terminal
    for key, title in (("P", "BLK%"), ("T", "BLOCKED"), ("O", "ONGOING"), ("M", "MAX"), ("S", "SLP/s"), ("R", "RUNQ"), ("N", "PID")):
        terminal.keys(key)
        terminal.wait(f"Sorted by {title}")
    terminal.keys(">")
    terminal.wait("Sorted by USER")
    terminal.keys("<")
    terminal.wait("Sorted by PID")
    terminal.keys("F3")
    terminal.type("db-worker")
    terminal.keys("Enter", "n", "Enter")
    terminal.wait("1202 db-worker/2")
    terminal.keys("j")
    terminal.wait("SHARE", gone=["1202 db-worker/2 (process"])
    terminal.keys("k")
    terminal.wait("1202 db-worker/2 (process")
    terminal.keys("Up")
    terminal.wait("1201 db-worker/1")
    terminal.keys("G")
    terminal.wait("2050 brief")
    terminal.keys("g", "Left")
    terminal.wait("12 kworker/0:1, ")
    terminal.keys("Escape", "\\")
    terminal.type("nginx")
    terminal.wait("1 of 9 shown")
    terminal.keys("Enter", "Escape")
    terminal.wait("9 of 9 shown")
    for key in ("d", "s"):
        terminal.keys(key)
        terminal.wait("Seconds between refreshes")
        terminal.keys("Escape")
        terminal.wait("F10Quit", gone=["Seconds"])
    for key in ("h", "?", "F1"):
        terminal.keys(key)
        terminal.wait("any other key goes back")
        terminal.keys("x")
        terminal.wait("F10Quit", gone=["goes back"])
    terminal.keys("C-l")
    terminal.wait("nginx")
    lattop.quit()


@test
def the_users_reasons_go_before_lattops_own(setup):
    folder = os.path.join(setup.folder, "config")
    os.makedirs(os.path.join(folder, "lattop"))
    path = os.path.join(folder, "lattop", "reasons.conf")
    with open(path, "w", encoding="utf-8") as file:
        file.write("my database: futex_*\n")
    lattop = Lattop(setup, variables=f"XDG_CONFIG_HOME={folder}")
    lattop.terminal.keys("4")
    lattop.terminal.wait("my database", gone=["futex   "])
    lattop.quit()
    with open(path, "a", encoding="utf-8") as file:
        file.write("futex futex_*\n")
    command = [setup.lattop, "-i", setup.records, "-b", "-n", "1"]
    done = subprocess.run(command, env=os.environ | {"XDG_CONFIG_HOME": folder}, capture_output=True, text=True, check=False)
    if done.returncode != 1 or f"{path}:2: 'futex futex_*' is not understood" not in done.stderr:
        raise Failure(f"{done.returncode} {done.stderr!r}")


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
    for _ in range(2):
        terminal.keys("C-z")
        terminal.wait("Stopped", PROMPT)
        if terminal.alternate():
            raise Failure("stopped on the alternate screen")
        terminal.run("clear; fg")
        terminal.wait("dbserver", "BLK%")
        terminal.keys("K")
    terminal.wait("kworker")
    lattop.quit()


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


def as_text(setup, record, *flags):
    """What batch mode prints of a recording: (standard output, standard error)."""
    command = [setup.lattop, "-i", record, "-b", *flags]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=TIMEOUT)
    if done.returncode != 0:
        raise Failure(f"{done.returncode} {done.stderr!r}")
    return done.stdout, done.stderr


def must_hold(setup, record, *texts):
    """Its first snapshot, of which there is nothing to complain."""
    text, said = as_text(setup, record, "-n", "1")
    missing = [wanted for wanted in texts if wanted not in text]
    if said or missing:
        raise Failure(f"{said!r} without {missing}: {text}")


def grown(path, size):
    """The size of a file that is being written, as soon as it is larger than that."""
    end = time.monotonic() + TIMEOUT
    while not os.path.exists(path) or os.path.getsize(path) <= size:
        if time.monotonic() > end:
            raise Failure(f"{path} does not grow beyond {size} bytes")
        time.sleep(0.02)
    return os.path.getsize(path)


@test
def command_lines_that_cannot_be_read_never_freeze_the_screen(setup):
    terminal = Terminal(setup.folder, (120, 40))
    terminal.run(f"clear; {setup.with_module()} LATTOP_TEST_HANG=all {setup.lattop} --no-learn -d 0.2")
    terminal.wait("dbserver", "BLOCKED")
    terminal.keys("F2", "End", "Space", "Enter")
    terminal.wait("CMDLINE", gone=["Columns of"])
    terminal.keys("Enter")
    terminal.wait("SHARE")
    terminal.keys("j", "j", "j", "j")
    terminal.wait("1202 db-worker/2 (process 1200)")
    terminal.keys("Escape", "F4")
    terminal.type("nginx")
    terminal.wait("1 of 9 shown")
    terminal.keys("Enter", "q")
    terminal.wait(PROMPT, gone=["dbserver"])
    terminal.close()


@test
def names_that_cannot_be_found_delay_no_snapshot_and_the_recording_is_whole(setup):
    terminal = Terminal(setup.folder, (120, 30))
    record = os.path.join(setup.folder, "by-address")
    terminal.run(f"clear; {setup.with_module()} LATTOP_TEST_HANG=all {setup.lattop} record --no-learn -d 0.1 -o {record}; echo STATUS $?")
    size = 0
    for _ in range(5):
        size = grown(record, size)
    terminal.keys("C-c")
    terminal.wait("names are not waited for any longer", "STATUS 0")
    terminal.run(f"clear; {setup.with_module()} LATTOP_TEST_HANG=all {setup.lattop} record --no-learn -d 3600 -o {record} -- true; echo STATUS $?")
    terminal.wait("2 snapshots")  # true has ended
    terminal.keys("C-c")
    terminal.wait("names are not waited for any longer", "STATUS 0")
    terminal.close()
    must_hold(setup, record, "futex_wait", "dbserver")


@test
def a_process_that_does_not_answer_holds_up_the_names_of_no_other(setup):
    terminal = Terminal(setup.folder, (180, 40))
    terminal.run(f"clear; {setup.with_module()} LATTOP_TEST_HANG=1200 {setup.lattop} --no-learn -d 0.2")
    terminal.wait("dbserver", "BLOCKED")
    terminal.keys("/")
    terminal.type("evil")
    terminal.keys("Enter", "Enter")
    terminal.wait("2001 evil", "not seen as it is now: its memory may not be read", "names: 1 process does not answer (1200)")
    terminal.keys("Escape", "/")
    terminal.type("dbserver")
    terminal.keys("Enter", "Enter")
    terminal.wait("1200 dbserver", "not seen as it is now: its memory or files do not answer")
    terminal.keys("q")
    terminal.wait(PROMPT, gone=["dbserver"])
    terminal.close()


@test
def a_recording_ends_without_the_names_of_a_process_that_does_not_answer_which_is_said(setup):
    terminal = Terminal(setup.folder, (200, 30))
    record = os.path.join(setup.folder, "by-address")
    command = f"{setup.with_module()} LATTOP_TEST_HANG=1200 {setup.lattop} record --no-learn -d 0.5 --duration 1 -o {record}"
    terminal.run(f"clear; {command}; echo STATUS $?")
    terminal.wait("do not answer (process 1200): stacks without them stay addresses", "STATUS 0")
    terminal.close()
    must_hold(setup, record, "futex_wait", "dbserver")


@test
def batch_prints_without_the_names_of_a_process_that_does_not_answer_which_is_said(setup):
    terminal = Terminal(setup.folder, (200, 30))
    terminal.run(f"clear; echo REFRESHES $({setup.with_module()} LATTOP_TEST_HANG=1200 {setup.lattop} -b --no-learn -n 2 -d 0.1 | grep -c 'tasks that match')")
    terminal.wait("do not answer (process 1200): stacks without them stay addresses", "REFRESHES 2")
    terminal.close()


@test
def ctrl_c_ends_the_gathering_of_an_export_which_is_written(setup):
    terminal = Terminal(setup.folder, (150, 30))
    output = os.path.join(setup.folder, "stacks")
    terminal.run(f"clear; {setup.with_module()} {setup.lattop} export live -f folded --duration 9999 -o {output}; echo STATUS $?")
    terminal.wait("gathers for 2h46m")
    setup.module_goes_on()
    terminal.keys("C-c")
    terminal.wait("gathers no longer", "STATUS 0")
    with open(output, encoding="utf-8") as file:
        text = file.read()
    if "nginx;" not in text or "ep_poll_[k]" not in text:
        raise Failure(text)
    terminal.run(f"clear; {setup.with_module()} {setup.lattop} chain live --duration 9999; echo STATUS $?")
    terminal.wait("gathers for 2h46m")
    os.kill(terminal.pid_of("lattop"), signal.SIGTERM)
    terminal.wait("gathers no longer", "who woke whom was not accounted", "STATUS 1")
    terminal.close()


@test
def an_export_that_is_ended_early_is_written_though_names_cannot_be_found_and_a_second_ctrl_c_ends_at_once(setup):
    terminal = Terminal(setup.folder, (150, 30))
    output = os.path.join(setup.folder, "stacks")
    command = f"{setup.with_module()} LATTOP_TEST_HANG=all {setup.lattop} export live -f json --duration 9999 -o {output}; echo STATUS $?"
    terminal.run(f"clear; {command}")
    terminal.wait("gathers for 2h46m")
    setup.module_goes_on()
    terminal.keys("C-c")
    terminal.wait("gathers no longer", "names are not waited for any longer", "STATUS 0")
    with open(output, encoding="utf-8") as file:
        if '"comm":"nginx"' not in file.read():
            raise Failure("the export lacks a task")
    os.unlink(output)
    terminal.run(f"clear; {command}")
    terminal.wait("gathers for 2h46m")
    terminal.keys("C-c")
    terminal.wait("gathers no longer")
    terminal.keys("C-c")
    terminal.wait("^C", PROMPT)  # the shell ends the line with it
    terminal.run("echo STATUS $?")
    terminal.wait("STATUS 130")
    terminal.close()
    if os.path.exists(output):
        raise Failure("what a second ^C ended wrote a file")


@test
def what_looks_once_tries_again_where_there_is_no_memory(setup):
    terminal = Terminal(setup.folder, (150, 30))
    full, output = os.path.join(setup.folder, "full"), os.path.join(setup.folder, "output")
    for verb, said, written in (("export live -f csv", "STATUS 0", "command,reason"),
                                ("chain live", "STATUS 1", ""),  # of a module without wakers
                                ("--json -n 1", "STATUS 0", '"version":1'),
                                ("run -- true", "true: status 0", "")):
        with open(full, "w", encoding="utf-8"):
            pass
        terminal.run(f"clear; {setup.with_module()} LATTOP_TEST_NO_MEMORY={full} {setup.lattop} {verb} >{output}; echo STATUS $?")
        terminal.wait("Cannot allocate memory: tried again")
        os.unlink(full)
        terminal.wait(said)
        with open(output, encoding="utf-8") as file:
            if written not in file.read():
                raise Failure(f"{verb} wrote no {written}")
    terminal.close()


@test
def a_recorder_killed_in_the_midst_leaves_all_that_it_had_written(setup):
    record = os.path.join(setup.folder, "killed")
    command = f"exec env {setup.with_module()} {setup.lattop} record --no-learn -d 0.1 -o {record}"
    recorder = subprocess.Popen(["sh", "-c", command], stderr=subprocess.DEVNULL)
    size = 0
    for _ in range(5):
        size = grown(record, size)
    recorder.kill()
    recorder.wait()
    size = os.path.getsize(record)

    def read():
        text, said = as_text(setup, record)
        if "dbserver" not in text:
            raise Failure(text)
        return text.count("lattop 0"), said

    whole, said = read()
    if whole < 2 or "ended" not in said:
        raise Failure(f"{whole} snapshots: {said!r}")
    # As where the machine went with it: the last record is there in part
    os.truncate(record, size - 10)
    cut, said = read()
    if cut != whole - 1 or not said:
        raise Failure(f"{cut} of {whole} snapshots: {said!r}")


@test
def a_name_service_that_never_answers_delays_no_snapshot_and_no_end(setup):
    record = os.path.join(setup.folder, "numbers")
    command = f"exec env {setup.with_module()} LATTOP_TEST_USERS=never {setup.lattop} record --no-learn -d 0.1 -o {record}"
    recorder = subprocess.Popen(["sh", "-c", command], stderr=subprocess.PIPE, text=True)
    size = 0
    for _ in range(5):
        size = grown(record, size)
    recorder.send_signal(signal.SIGINT)
    _, said = recorder.communicate(timeout=TIMEOUT)
    if recorder.returncode != 0 or "what 4 users are called: they are shown by number" not in said:
        raise Failure(f"{recorder.returncode} {said!r}")
    must_hold(setup, record, "1202 112 ")


@test
def names_of_users_that_come_late_are_in_the_recording(setup):
    record = os.path.join(setup.folder, "late")
    command = f"env {setup.with_module()} LATTOP_TEST_USERS=700 {setup.lattop} record --no-learn -d 0.1 --duration 2 -o {record}"
    subprocess.run(["sh", "-c", command], check=True, capture_output=True, timeout=TIMEOUT)
    text, said = as_text(setup, record)
    snapshots = text.count("lattop 0")
    if snapshots < 3 or text.count("1202 user-112 ") != snapshots:
        raise Failure(f"{said!r} {snapshots} snapshots {text}")


@test
def a_text_has_numbers_for_users_without_an_answer(setup):
    command = f"env {setup.with_module()} LATTOP_TEST_USERS=never {setup.lattop} -b -n 2 -d 0.2"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, timeout=TIMEOUT)
    if done.returncode != 0 or "what 4 users are called" not in done.stderr or done.stdout.count("1202 112 ") != 2:
        raise Failure(f"{done.returncode} {done.stderr!r} {done.stdout}")


@test
def the_screen_does_not_wait_for_names_of_users_and_shows_them_when_they_come(setup):
    terminal = Terminal(setup.folder, (120, 30))
    terminal.run(f"clear; {setup.with_module()} LATTOP_TEST_USERS=never {setup.lattop} --no-learn -d 3600")
    terminal.wait("1202 112 ", "dbserver")
    terminal.keys("K")
    terminal.wait("1202 112 ", gone=["kworker"])
    terminal.keys("q")
    terminal.wait(PROMPT, gone=["dbserver"])
    # No refresh comes in between
    terminal.run(f"clear; {setup.with_module()} LATTOP_TEST_USERS=500 {setup.lattop} --no-learn -d 3600")
    terminal.wait("1202 user-112 ", "dbserver")
    terminal.keys("q")
    terminal.wait(PROMPT, gone=["dbserver"])
    terminal.close()


NAMES = {"PgUp": "PPage", "PgDn": "NPage", "Esc": "Escape", "Shift-Tab": "BTab", "Ctrl-L": "C-l"}


def every_key_of_the_help_was_typed(setup):
    """Runs last: the help says which keys there are, the tests before have typed them."""
    terminal = Terminal(setup.folder, (120, 90))
    terminal.run(f"clear; {setup.lattop} -i {setup.records} -d 0.2")
    terminal.wait("dbserver")
    terminal.keys("F1")
    lines = terminal.wait("any other key goes back").splitlines()[2:]
    listed = [name for line in lines[:lines.index("")] for name in line[2:16].split()]
    terminal.close()
    if len(listed) < 40:
        raise Failure(f"the help lists {listed}")
    never = [name for name in listed if NAMES.get(name, name) not in TYPED]
    if never:
        raise Failure(f"no test types {never}")


class Setup:
    def __init__(self, lattop, folder, records, write_records, fake_module):
        self.lattop, self.folder, self.records, self.write_records = lattop, folder, records, write_records
        self.fake_module = fake_module
        self.module = os.path.join(folder, "module")  # its snapshot

    def with_module(self):
        """Variables of an environment in which lattop finds a module loaded."""
        subprocess.run([self.write_records, self.module, "0"], check=True)
        return f"LD_PRELOAD={self.fake_module} LATTOP_TEST_MODULE={self.module}"

    def module_goes_on(self):
        """Its next snapshot, ten seconds later."""
        later = os.path.join(self.folder, "later")
        subprocess.run([self.write_records, later, "0", "20"], check=True)
        with open(later, "rb") as snapshot, open(self.module, "r+b") as module:
            module.write(snapshot.read())


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    (lattop, write_records, fake_module), wanted = map(os.path.abspath, sys.argv[1:4]), sys.argv[4:]
    failed = 0
    last = [] if wanted else [every_key_of_the_help_was_typed]
    for function in TESTS + last:
        name = function.__name__.replace("_", " ")
        if wanted and not any(w in name for w in wanted):
            continue
        # Short: the path of a socket has at most 107 bytes.
        with tempfile.TemporaryDirectory(prefix="lattop-", dir="/tmp") as folder:
            records = os.path.join(folder, "records")
            subprocess.run([write_records, records, str(SNAPSHOTS)], check=True)
            try:
                function(Setup(lattop, folder, records, write_records, fake_module))
                print(f"ok      {name}", flush=True)
            except Failure as failure:
                failed += 1
                print(f"FAILED  {name}: {failure}", flush=True)
            finally:
                for socket in glob.glob(os.path.join(folder, "tmux*")):
                    subprocess.run(["tmux", "-S", socket, "kill-server"], capture_output=True, check=False)
    sys.exit(1 if failed else 0)


main()
