# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of stacks, command lines and users that come late or never. Run by run.py."""
import os
import signal
import subprocess

from registry import test
from terminal import Failure, PROMPT, TIMEOUT, Terminal
from texts import as_text, grown, must_hold


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
    terminal.wait("gathers for 2h46m", gone=["STATUS 0"])
    setup.module_goes_on()
    terminal.keys("C-c")
    terminal.wait("gathers no longer", "names are not waited for any longer", "STATUS 0")
    with open(output, encoding="utf-8") as file:
        if '"comm":"nginx"' not in file.read():
            raise Failure("the export lacks a task")
    os.unlink(output)
    terminal.run(f"clear; {command}")
    terminal.wait("gathers for 2h46m", gone=["STATUS 0"])
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
