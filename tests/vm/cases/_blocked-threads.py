# SPDX-License-Identifier: GPL-2.0-or-later
"""A process whose threads block for good, each on something that is known: _blocked-threads.py FOLDER. Prints "TID what it waits for"
of each, then "ready". Used by stack-wait-object."""
import ctypes
import os
import select
import socket
import sys
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)
folder = sys.argv[1]


def mutex(inherits_priority):
    attributes, lock = ctypes.create_string_buffer(8), ctypes.create_string_buffer(64)
    libc.pthread_mutexattr_init(attributes)
    if inherits_priority:
        assert libc.pthread_mutexattr_setprotocol(attributes, 1) == 0
    assert libc.pthread_mutex_init(lock, attributes) == 0
    return lock


def blocks(expected, wait):
    """A thread that waits; it says so before."""
    told = threading.Event()

    def run():
        print(threading.get_native_id(), expected, flush=True)
        told.set()
        wait()

    threading.Thread(target=run, daemon=True).start()
    told.wait()


for pi in (False, True):
    lock, held = mutex(pi), threading.Event()

    def hold():
        libc.pthread_mutex_lock(lock)
        holder.append(threading.get_native_id())
        held.set()
        time.sleep(10000)

    holder = []
    threading.Thread(target=hold, daemon=True).start()
    held.wait()
    blocks(f"mutex {ctypes.addressof(lock):#x}, held by {holder[0]} python3 (S)", lambda lock=lock: libc.pthread_mutex_lock(lock))

fifo = os.path.join(folder, "fifo")
os.mkfifo(fifo)
pipe = os.open(fifo, os.O_RDWR)
blocks(f"fd {pipe}: {fifo}", lambda: os.read(pipe, 1))

server = socket.create_server(("127.0.0.1", 0))
port = server.getsockname()[1]
client = socket.create_connection(("127.0.0.1", port))
accepted = server.accept()[0]
here = client.getsockname()[1]
blocks(f"fd {server.fileno()}: TCP 127.0.0.1:{port} listens", server.accept)
blocks(f"fd {client.fileno()}: TCP 127.0.0.1:{here} to 127.0.0.1:{port}", lambda: client.recv(1))

path = os.path.join(folder, "socket")
local = socket.socket(socket.AF_UNIX)
local.bind(path)
listener = os.fork()
if listener == 0:
    local.listen()
    time.sleep(10000)
one = socket.socket(socket.AF_UNIX)
while one.connect_ex(path) != 0:
    time.sleep(0.1)
blocks(f"fd {one.fileno()}: unix socket {path}, peer set up by {listener} python3", lambda: one.recv(1))
# The debug kernel has no IPv6
if os.path.exists("/proc/net/if_inet6"):
    datagrams, address, shown = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM), "::1", "[::1]"
else:
    datagrams, address, shown = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), "127.0.0.1", "127.0.0.1"
datagrams.bind((address, 0))
blocks(f"fd {datagrams.fileno()}: UDP {shown}:{datagrams.getsockname()[1]}", lambda: datagrams.recv(1))

epoll = select.epoll()
epoll.register(pipe, select.EPOLLPRI)
blocks(f"epoll fd {epoll.fileno()}, 1 descriptor: fd {pipe}: {fifo}", epoll.poll)
poll = select.poll()
poll.register(pipe, select.POLLPRI)
blocks(f"1 descriptor: fd {pipe}: {fifo}", lambda: poll.poll(10_000_000))

child = os.fork()
if child == 0:
    os.execlp("sleep", "sleep", "10000")
blocks(f"child {child} sleep", lambda: os.waitpid(child, 0))
time.sleep(1)
print("ready", flush=True)
time.sleep(10000)
