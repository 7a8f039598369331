"""An advisory lock of PostgreSQL by psycopg2, held by the session.

    pip install psycopg2-binary
    picklock run --program 'python3 examples/adapters/psycopg2_lock.py' --topology postgres --scenario pause

It has no lease and no token: the server releases the lock when it notices that the session is gone.
"""
import gc
import os
import sys

import psycopg2

session = None


def ask(statement, key):
    """Asks the session, which is made for the first statement and after an error."""
    global session
    if session is None:
        session = psycopg2.connect(os.environ["PICKLOCK_STORES"])
        session.autocommit = True
    with session.cursor() as cursor:
        cursor.execute(statement, (key,))
        return cursor.fetchone()[0]


gc.freeze()
for line in sys.stdin:
    verb, key, *_ = line.split()
    try:
        if verb == "acquire":
            print("granted" if ask("SELECT pg_try_advisory_lock(hashtext(%s))", key) else "refused", flush=True)
        else:
            ask("SELECT pg_advisory_unlock(hashtext(%s))", key)
            print("released", flush=True)
    except psycopg2.Error as error:
        session = None
        print("error", *f"{type(error).__name__} {error}".split(), flush=True)
