#!/bin/sh
# Two sessions of a PostgreSQL of their own: the second one waits for the first one's row. The server refuses to run as root.
[ "$(id -u)" != 0 ] || exec setpriv --reuid=postgres --regid=postgres --clear-groups "$0" "$@"
PATH=$1:$PATH
cd "$HOME" && umask 077 && mkdir pg || exit
export PGHOST=$HOME/pg PGDATABASE=postgres PGUSER=postgres
initdb --auth=trust --username=postgres --no-instructions pg/data > pg/initdb.log || { cat pg/initdb.log; exit 1; }
postgres -D pg/data -k "$PGHOST" -c listen_addresses= > pg/log 2>&1 &
until pg_isready -q; do sleep 0.1; done
psql -qc "create table locks (name text primary key); insert into locks values ('a')"
psql -qAt <<'SQL' &
begin;
select 'first has ' || name from locks where name = 'a' for update;
select pg_sleep(2) \g /dev/null
commit;
SQL
sleep 1
psql -qAtc "begin; select 'second has ' || name from locks where name = 'a' for update"
wait $!
kill -INT "$(head -1 pg/data/postmaster.pid)"
wait
