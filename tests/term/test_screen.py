# SPDX-License-Identifier: GPL-2.0-or-later
"""What keys and the mouse do on the screen. Run by run.py."""
import os
import subprocess

from registry import test
from terminal import Failure, Lattop


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
    terminal.keys("Z")  # a refresh between the look and the click may move the row
    terminal.wait("PAUSED")
    terminal.mouse(*terminal.place("nginx"))
    terminal.mouse(*terminal.place("nginx"))
    terminal.wait("877 nginx", "SHARE")
    terminal.keys("Escape", "Z")
    terminal.wait("F10Quit", gone=["SHARE", "PAUSED"])
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
