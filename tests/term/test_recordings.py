# SPDX-License-Identifier: GPL-2.0-or-later
"""Recordings on the screen, and how recording ends. Run by run.py."""
import os
import subprocess

from registry import test
from terminal import Failure, Lattop, PROMPT, Terminal
from texts import as_text, grown


@test
def a_recording_that_is_cut_off_is_shown_up_to_there(setup):
    os.truncate(setup.records, os.path.getsize(setup.records) // 2)
    lattop = Lattop(setup)
    lattop.quit()


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
def a_command_that_cannot_be_run_is_said_once_and_the_recording_is_whole(setup):
    terminal = Terminal(setup.folder)
    record = os.path.join(setup.folder, "not-run")
    terminal.run(f"clear; {setup.with_module()} {setup.lattop} record --no-learn -o {record} -- /no/such/command; echo STATUS $?")
    terminal.wait("cannot run /no/such/command: No such file", "STATUS 1", gone=["goes on"])
    terminal.run(f"clear; {setup.lattop} report {record} 2>&1 | grep -c 'cut off'; echo STATUS $?")
    terminal.wait("0", "STATUS 1")
    terminal.close()


@test
def a_command_that_takes_its_time_to_end_is_waited_for(setup):
    terminal = Terminal(setup.folder, (120, 30))
    record, script, go = (os.path.join(setup.folder, name) for name in ("slow", "script", "go"))
    with open(script, "w", encoding="utf-8") as file:
        file.write(f"trap '' INT; trap 'until [ -e {go} ]; do sleep 0.1; done; echo shut down; exit' TERM\n"
                   "echo came up; while :; do sleep 0.1; done")
    terminal.run(f"clear; {setup.with_module()} {setup.lattop} record --no-learn -o {record} -- sh {script}; echo STATUS $?")
    terminal.wait("came up")
    terminal.keys("C-c")
    terminal.wait("has not ended: waiting for it", gone=["shut down", "STATUS"])
    with open(go, "w", encoding="utf-8"):
        terminal.wait("shut down", "STATUS 0")
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
def a_recording_that_an_error_ends_is_stored_or_that_is_said(setup):
    terminal = Terminal(setup.folder, (150, 30))
    record = os.path.join(setup.folder, "ended")
    command = f"{setup.lattop} record --no-learn -d 0.1 -o {record}"
    for variable, said in (("", []), ("LATTOP_TEST_NO_ROOM=1", ["Disk quota exceeded: its end may be missing"])):
        terminal.run(f"clear; {setup.with_module()} {variable} {command}; echo STATUS $?")
        size = grown(record, grown(record, 0))
        os.truncate(setup.module, 0)  # as where the module was unloaded
        terminal.wait("snapshots, ", f"in {record}", "STATUS 1", *said, gone=[] if said else ["Disk quota"])
        if os.path.getsize(record) < size:
            raise Failure("what was recorded is gone")
        os.unlink(record)
    terminal.close()
