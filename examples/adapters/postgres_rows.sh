#!/bin/sh
# An autonomous client with a PostgreSQL of its own on its host: two sessions want the same row, and the second one waits for the first.
#
#     picklock run --autonomous --program examples/adapters/postgres_rows.sh --scenario calm --set clients=1
#
# The first argument is where the server's programs are, if it is not where Debian has those of PostgreSQL 15. The server refuses to
# run as root, so that root's script goes on as the user `postgres`.
[ "$(id -u)" != 0 ] || exec setpriv --reuid=postgres --regid=postgres --clear-groups "$0" "$@"
PATH=${1:-/usr/lib/postgresql/15/bin}:$PATH
cd "$HOME" && umask 077 && mkdir pg || exit
export PGHOST=$HOME/pg PGDATABASE=postgres PGUSER=postgres
initdb --auth=trust --username=postgres --no-instructions pg/data > pg/initdb.log || { cat pg/initdb.log >&2; exit 1; }
postgres -D pg/data -k "$PGHOST" -c listen_addresses= > pg/log 2>&1 &
until pg_isready -q; do sleep 0.1; done
psql -qc "create table locks (name text primary key); insert into locks values ('row')"
psql -qAt <<'SQL' &
begin;
select 'wants ' || name from locks where name = 'row' for update;
select 'holds ' || name from locks;
select pg_sleep(2) \g /dev/null
select 'frees ' || name from locks;
commit;
SQL
first=$!
sleep 1
psql -qAt <<'SQL'
begin;
select 'wants ' || name || E'\nholds ' || name from locks where name = 'row' for update;
select 'frees ' || name from locks;
commit;
SQL
wait $first
kill -INT "$(head -1 pg/data/postmaster.pid)"
wait
