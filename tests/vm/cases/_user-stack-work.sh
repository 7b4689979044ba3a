# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The distribution's own programs, without frame pointers, at work. Sourced by user-stack-share and user-stack-agree-*; leaves the
# names in comms. The suite kills what is left when the case ends.
bin=$(echo /usr/lib/postgresql/*/bin)
[ -x "$bin/postgres" ] || fail "PostgreSQL is not installed"
need python3 perl pgbench redis-server redis-cli setpriv cxx-workers
chmod 755 "$TMPDIR"
# Their names, as ps -C takes them
comms=(python3 perl bash cxx-workers redis-server redis-cli postgres pgbench)

# The database before the rest: nobody else works while it is made
as_postgres() { setpriv --reuid=postgres --regid=postgres --init-groups env PATH="$bin:$PATH" PGHOST="$TMPDIR/db" PGDATABASE=postgres "$@"; }
install -d -o postgres "$TMPDIR/db"
as_postgres initdb -D "$TMPDIR/db/data" --no-sync --auth=trust --locale=C --encoding=UTF8 >"$TMPDIR/initdb.log" 2>&1 || fail "$(tail -n 5 "$TMPDIR/initdb.log")"
as_postgres postgres -D "$TMPDIR/db/data" -k "$TMPDIR/db" -c listen_addresses= -c shared_buffers=16MB >"$TMPDIR/db/log" 2>&1 &
for _ in {1..600}; do as_postgres pg_isready -q && break; sleep 0.1; done
as_postgres psql -q -c "create table t (id int primary key, n int); insert into t select i, 0 from generate_series(1, 100) i"

python3 -c '
import threading, time, queue
q = queue.Queue()
def nap(n):
    return nap(n - 1) if n else time.sleep(0.01)
def worker():
    while True:
        q.get()
        nap(5)
for _ in range(4):
    threading.Thread(target=worker, daemon=True).start()
while True:
    q.put(1)
    nap(20)
' &
perl -e 'sub nap { my $n = shift; $n ? nap($n - 1) : select(undef, undef, undef, 0.01) } nap(9) while 1' &
bash -c 'mkfifo "$1"; exec 8<>"$1"; while :; do read -t 0.02 <&8; (exit 3); done' bash "$TMPDIR/bash" &
cxx-workers >/dev/null &
redis-server --port 0 --unixsocket "$TMPDIR/redis.sock" --save "" --appendonly yes --dir "$TMPDIR" >/dev/null 2>&1 &
echo "update t set n = n + 1 where id = 1 + (random() * 99)::int" >"$TMPDIR/db/script"
as_postgres pgbench -n -c 4 -j 2 -T 600 -f "$TMPDIR/db/script" >/dev/null 2>&1 &
for _ in {1..600}; do [ ! -S "$TMPDIR/redis.sock" ] || break; sleep 0.1; done
for _ in 1 2 3 4; do redis-cli -s "$TMPDIR/redis.sock" -r -1 -i 0.003 set key value >/dev/null 2>&1 & done
if command -v nginx >/dev/null; then
    comms+=(nginx)
    printf 'pid %s;\nerror_log stderr;\nworker_processes 2;\nevents {}\nhttp { access_log off; server { listen unix:%s; root %s; } }\n' \
        "$TMPDIR/nginx.pid" "$TMPDIR/nginx.sock" /usr/share/common-licenses >"$TMPDIR/nginx.conf"
    nginx -c "$TMPDIR/nginx.conf" -g 'daemon off;' >/dev/null 2>&1 &
    perl -MIO::Socket::UNIX -e 'while (1) { my $s = IO::Socket::UNIX->new($ARGV[0]) or select(undef, undef, undef, 0.1), next;
        print $s "GET /GPL-2 HTTP/1.0\r\n\r\n"; 1 while <$s> }' "$TMPDIR/nginx.sock" &
else
    echo "not here: nginx"
fi
if command -v node >/dev/null; then
    comms+=(node)
    node -e '
const fs = require("fs"), lock = new Int32Array(new SharedArrayBuffer(4));
function nap(n) { return n ? nap(n - 1) : Atomics.wait(lock, 0, 0, 5); }
setInterval(() => { nap(8); fs.readFile("/etc/passwd", () => {}); }, 20);' &
else
    echo "not here: node"
fi
