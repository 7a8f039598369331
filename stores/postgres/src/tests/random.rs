//! Random sessions of several clients, with the machine and with a real server side by side.
//!
//! As in PostgreSQL's isolationtester, the next act comes only after each session has answered or is seen to wait for a lock. What
//! each client was sent in the meantime, and which sessions wait, has to be the same. Where waiters race for a row,
//! the real server has several outcomes: the machine's has to be one of those that it shows in a few runs of the same acts.

use std::collections::BTreeMap;

use proptest::prelude::{Strategy, any, prop};

/// The clients.
pub(super) const CLIENTS: [char; 3] = ['a', 'b', 'c'];

/// The tables at the beginning: one of numbers, and one of jobs.
pub(super) const SET_UP: &str = "CREATE TABLE t (id bigint PRIMARY KEY, v bigint NOT NULL, u bigint UNIQUE); \
     INSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (3, 3, null); CREATE SEQUENCE s; \
     CREATE TYPE step AS ENUM ('new', 'busy', 'done'); \
     CREATE TABLE j (id bigint PRIMARY KEY, s step NOT NULL DEFAULT 'new', n bigint NOT NULL DEFAULT 0 CHECK (n < 12), tags text[]); \
     CREATE UNIQUE INDEX j_n ON j (n) WHERE s = 'busy'; INSERT INTO j (id, n) VALUES (1, 2), (2, 1), (3, 0)";

/// Takes away what is there at the beginning.
pub(super) const CLEAR: &str =
    "DROP TABLE IF EXISTS t, j; DROP SEQUENCE IF EXISTS s; DROP TYPE IF EXISTS step";

/// What each session begins with, so that a step has time for every timeout.
pub(super) const SESSION: &str = "SET deadlock_timeout = 40";

/// How long a step lasts if a session waits after it.
pub(super) const STEP_MS: u64 = 160;

#[derive(Clone, Debug)]
pub(super) enum Act {
    /// Sends a statement, unless the session waits.
    Say(char, String),
    /// Sends a CancelRequest.
    Cancel(char),
    /// Closes the connection, unless the session waits.
    Close(char),
    /// Has another session end this one.
    Terminate(char),
}

/// What each client was sent, and a mark for those that wait.
pub(super) type Seen = BTreeMap<char, Vec<String>>;

/// Where acts are carried out.
pub(super) trait Stage {
    /// Begins with new tables and new sessions.
    fn begin(&mut self);
    fn act(&mut self, act: &Act) -> Seen;
}

/// Statements: `K` and `J` stand for keys, `N` for a number.
const STATEMENTS: [&str; 105] = [
    "BEGIN",
    "BEGIN",
    "BEGIN ISOLATION LEVEL REPEATABLE READ",
    "COMMIT",
    "COMMIT",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT s",
    "ROLLBACK TO s",
    "RELEASE s",
    "SELECT id, v, u FROM t ORDER BY id",
    "SELECT v FROM t WHERE id = K",
    "SELECT v FROM t WHERE id = K FOR UPDATE",
    "SELECT v FROM t WHERE id = K FOR UPDATE",
    "SELECT v FROM t WHERE id = K FOR NO KEY UPDATE",
    "SELECT v FROM t WHERE id = K FOR SHARE",
    "SELECT v FROM t WHERE id = K FOR UPDATE NOWAIT",
    "SELECT v FROM t WHERE id = K FOR SHARE NOWAIT",
    "SELECT id, v FROM t ORDER BY id FOR UPDATE SKIP LOCKED",
    "SELECT id, v FROM t ORDER BY id DESC LIMIT 1 FOR UPDATE SKIP LOCKED",
    "SELECT id FROM t WHERE v < N ORDER BY v, id LIMIT 2 FOR UPDATE",
    "SELECT id, v FROM t FOR UPDATE",
    "SELECT count FROM t",
    "UPDATE t SET v = v + 1 WHERE id = K",
    "UPDATE t SET v = v + 1 WHERE id = K",
    "UPDATE t SET v = N WHERE id = K AND v < N RETURNING v",
    "UPDATE t SET u = N WHERE id = K",
    "UPDATE t SET id = J WHERE id = K RETURNING id, v",
    "UPDATE t SET v = v + 1",
    "UPDATE t SET v = N WHERE u = K OR v = K",
    "UPDATE t SET v = v + 10 WHERE id = (SELECT id FROM t ORDER BY v, id FOR UPDATE SKIP LOCKED LIMIT 1) RETURNING id, v",
    "DELETE FROM t WHERE id = K",
    "DELETE FROM t WHERE id = K AND v > N RETURNING *",
    "INSERT INTO t VALUES (K, N, null)",
    "INSERT INTO t VALUES (K, N, J) RETURNING v",
    "INSERT INTO t VALUES (K, N, J) ON CONFLICT DO NOTHING",
    "INSERT INTO t VALUES (K, N, null) ON CONFLICT (id) DO NOTHING RETURNING id",
    "INSERT INTO t VALUES (K, N, J) ON CONFLICT (id) DO UPDATE SET v = t.v + excluded.v WHERE t.v < N RETURNING id, v",
    "INSERT INTO t VALUES (K, N, J) ON CONFLICT (u) DO UPDATE SET v = excluded.v",
    "INSERT INTO t VALUES (K, N, null), (J, N, null) ON CONFLICT (id) DO UPDATE SET v = t.v + 1",
    "SELECT pg_advisory_lock(K)",
    "SELECT pg_try_advisory_lock(K), pg_try_advisory_lock_shared(J)",
    "SELECT pg_advisory_lock_shared(K)",
    "SELECT pg_advisory_xact_lock(K)",
    "SELECT pg_advisory_xact_lock_shared(K), v FROM t WHERE id = J",
    "SELECT pg_try_advisory_xact_lock(K, J)",
    "SELECT pg_advisory_unlock(K)",
    "SELECT pg_advisory_unlock(K), pg_advisory_unlock_shared(J)",
    "SELECT pg_advisory_unlock_all()",
    "SET lock_timeout = 80",
    "SET lock_timeout = 0",
    "SET statement_timeout = 120",
    "SET statement_timeout = 0",
    "SELECT nextval('s')",
    "BEGIN; UPDATE t SET v = N WHERE id = K; SELECT v FROM t WHERE id = J FOR UPDATE",
    "UPDATE t SET v = N WHERE id = K; INSERT INTO t VALUES (J, N, null); COMMIT",
    "WITH x AS (SELECT id FROM t WHERE id = K FOR UPDATE) UPDATE t SET v = t.v + 1 FROM x WHERE t.id = x.id RETURNING t.id, t.v",
    "WITH x AS (SELECT id FROM t WHERE v < N ORDER BY v, id LIMIT 1 FOR UPDATE SKIP LOCKED) UPDATE t SET v = t.v + 10 FROM x WHERE t.id = x.id RETURNING t.id, t.v",
    "WITH x AS (SELECT id FROM t WHERE v < N ORDER BY v, id LIMIT 1 FOR UPDATE) UPDATE t SET v = t.v + 10 FROM x WHERE t.id = x.id RETURNING t.*",
    "WITH x AS (SELECT id, v FROM t WHERE id = K) UPDATE t SET v = t.v + x.v FROM x WHERE t.id = x.id AND t.v = x.v RETURNING t.v, x.v",
    "WITH x AS (SELECT id FROM t WHERE id = K FOR UPDATE NOWAIT) DELETE FROM t USING x WHERE t.id = x.id RETURNING t.id",
    "WITH x AS (DELETE FROM t WHERE id = K RETURNING id, v) SELECT * FROM x",
    "WITH x AS (UPDATE t SET v = N WHERE id = K RETURNING v) SELECT count(*), max(v) FROM x",
    "WITH x AS (UPDATE t SET v = N WHERE id = K), y AS (UPDATE t SET v = N WHERE id = J) SELECT v FROM t WHERE id = J",
    "WITH x AS (INSERT INTO t VALUES (K, N, null) ON CONFLICT (id) DO NOTHING RETURNING id) SELECT id FROM x",
    "UPDATE t SET v = v + 1 WHERE id IN (SELECT id FROM t WHERE v < N ORDER BY v, id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id",
    "SELECT id FROM t WHERE id = ANY ('{1,3}') AND v > N ORDER BY id FOR UPDATE",
    "SELECT count(*), max(v), min(u) FROM t",
    "SELECT id FROM t WHERE EXISTS (SELECT 1 FROM t o WHERE o.v = t.v AND o.id <> t.id) ORDER BY id",
    "SELECT a.id, b.id FROM t a JOIN t b ON a.v = b.v AND a.id < b.id ORDER BY a.id, b.id",
    "WITH x AS (SELECT id FROM j WHERE s = 'new' ORDER BY n, id LIMIT 1 FOR UPDATE SKIP LOCKED) UPDATE j SET s = 'busy' FROM x WHERE j.id = x.id RETURNING j.id, j.s",
    "WITH x AS (SELECT id FROM j WHERE s = 'new' ORDER BY n, id LIMIT 1 FOR UPDATE SKIP LOCKED) UPDATE j SET s = 'busy' FROM x WHERE j.id = x.id RETURNING j.id, j.s",
    "WITH x AS (SELECT id, n FROM j WHERE s < 'done' ORDER BY n, id LIMIT 2 FOR UPDATE OF j) UPDATE j SET s = 'done', n = j.n + 1 FROM x WHERE j.id = x.id AND j.id = K RETURNING j.id, j.n, x.n",
    "UPDATE j SET s = 'new' WHERE id = K AND s > 'new'",
    "UPDATE j SET n = n + N WHERE id = K RETURNING n",
    "UPDATE j SET s = CASE WHEN s = 'busy' THEN 'done' ELSE s END, tags = array_append(tags, 'x') WHERE id = K RETURNING s, array_length(tags, 1), tags[2:]",
    "UPDATE j SET s = u.s FROM (SELECT unnest('{K}'::bigint[]) AS id, unnest('{done}'::text[])::step AS s) AS u WHERE j.id = u.id AND j.s = 'busy' RETURNING j.id, j.s",
    "WITH r AS (UPDATE j SET n = n + 1 WHERE id = ANY ('{K}'::bigint[]) AND s = 'busy' RETURNING id) SELECT count(*), coalesce(array_agg(id), '{}') AS ids FROM r",
    "WITH i AS (SELECT unnest('{K}'::bigint[]) AS id), u AS (UPDATE j SET n = n + 1 FROM i WHERE j.id = i.id AND j.s = 'new' RETURNING j.*) SELECT j.* FROM j JOIN i ON j.id = i.id WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.id = j.id) UNION ALL SELECT * FROM u ORDER BY id",
    "INSERT INTO j (id, n) SELECT unnest('{K,J}'::bigint[]), N ON CONFLICT (id) DO UPDATE SET n = excluded.n RETURNING id, n, (xmax <> 0) AS was_there",
    "INSERT INTO j (id, s, n) SELECT K, 'busy', N ON CONFLICT DO NOTHING RETURNING id",
    "INSERT INTO j (id, s, n) VALUES (K, 'busy', N) ON CONFLICT (n) WHERE s = 'busy' DO UPDATE SET tags = '{y}' RETURNING id, tags",
    "DELETE FROM j WHERE id = K AND s = 'done' RETURNING id",
    "DELETE FROM j WHERE id IN (SELECT id FROM j WHERE s <> 'busy' ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING id",
    "SELECT id, s, n, tags FROM j ORDER BY s DESC, id",
    "SELECT id FROM j WHERE s = 'new' ORDER BY id FOR UPDATE OF j NOWAIT",
    "WITH l AS (SELECT id FROM j WHERE id = K FOR UPDATE), d AS (DELETE FROM j USING l WHERE j.id = l.id AND j.s <> 'busy' RETURNING j.*) SELECT * FROM j WHERE id = K AND id NOT IN (SELECT id FROM d) UNION SELECT * FROM d ORDER BY id",
    "WITH l AS (SELECT id FROM j WHERE id = K FOR UPDATE), n AS (SELECT id FROM l), u AS (UPDATE j SET n = N FROM n WHERE j.id = n.id RETURNING j.id, j.n) SELECT f.id, f.n FROM (SELECT id, n FROM j WHERE id = K FOR UPDATE) AS f WHERE f.id NOT IN (SELECT id FROM u) UNION SELECT id, n FROM u ORDER BY id",
    "SELECT v, count(*), max(id), sum(u) FROM t GROUP BY v HAVING count(*) < N ORDER BY v",
    "SELECT s, count(*), sum(n), count(DISTINCT n), min(id) FILTER (WHERE n < N) FROM j GROUP BY s ORDER BY s",
    "SELECT t.id, count(j.id), coalesce(sum(j.n), 0) FROM t LEFT JOIN j ON j.n = t.v GROUP BY t.id ORDER BY t.id",
    "SELECT DISTINCT ON (s) s, id, n FROM j ORDER BY s, n DESC, id",
    "SELECT id, v FROM t ORDER BY id LIMIT 2 OFFSET 1 FOR UPDATE",
    "SELECT id, v FROM t WHERE v < N ORDER BY v DESC, id LIMIT 1 OFFSET 1 FOR UPDATE SKIP LOCKED",
    "SELECT id FROM t ORDER BY id OFFSET N",
    "SELECT t.id, t.v, j.n FROM t JOIN j ON j.id = t.id ORDER BY t.id FOR UPDATE OF j",
    "SELECT t.id, t.v, j.n FROM t JOIN j ON j.id = t.id WHERE t.v < N ORDER BY t.id LIMIT 1 FOR UPDATE OF t",
    "SELECT t.id, t.v, j.n FROM t JOIN j ON j.id = t.id AND j.n = t.v WHERE t.id = K FOR UPDATE",
    "SELECT t.id, j.n FROM t JOIN j ON j.id = t.id WHERE t.id = K FOR SHARE OF t NOWAIT",
    "SELECT t.id, j.id FROM t JOIN j ON j.id = t.id WHERE j.s = 'new' ORDER BY j.n, j.id LIMIT 2 FOR UPDATE OF j, t SKIP LOCKED",
    "SELECT t.id, t.v, j.n FROM t LEFT JOIN j ON j.id = t.id AND j.n < t.v ORDER BY t.id FOR NO KEY UPDATE OF t",
    "UPDATE j SET s = 'busy' WHERE id IN (SELECT j.id FROM j JOIN t ON t.id = j.id WHERE j.s = 'new' AND t.v < N ORDER BY j.id LIMIT 1 FOR UPDATE OF j SKIP LOCKED) RETURNING id",
    "WITH x AS (SELECT j.id, t.v FROM j JOIN t ON t.id = j.id WHERE j.s <> 'done' ORDER BY j.id LIMIT 1 FOR UPDATE OF j) UPDATE j SET n = j.n + 1 FROM x WHERE j.id = x.id RETURNING j.id, j.n, x.v",
    "WITH c AS (SELECT s, count(*) AS many FROM j GROUP BY s) UPDATE t SET v = c.many FROM c WHERE t.id = K AND c.s = 'new' RETURNING t.v",
    "INSERT INTO t SELECT K, count(*), NULL::bigint FROM j GROUP BY s HAVING s = 'new' ON CONFLICT (id) DO UPDATE SET v = excluded.v RETURNING id, v",
];

/// What may stand beside a parameter.
const BREAKS: [char; 9] = [' ', ',', ')', '(', '{', '}', ';', '\'', '%'];

/// Acts with their parameters.
pub(super) fn acts(len: usize) -> impl Strategy<Value = Vec<Act>> {
    let key = prop::sample::select(vec!["1", "2", "3", "4"]);
    let say = (prop::sample::select(STATEMENTS.to_vec()), key.clone(), key, 0..9_u8);
    let say = say.prop_map(|(text, k, j, n)| {
        let n = n.to_string();
        let swap = |c: char| match c {
            'K' => k.to_owned(),
            'J' => j.to_owned(),
            'N' => n.clone(),
            c => c.to_string(),
        };
        // The parameters stand alone.
        let mut words = Vec::new();
        for word in text.split_inclusive(BREAKS) {
            let bare = word.trim_end_matches(BREAKS);
            words.push(if matches!(bare, "K" | "J" | "N") {
                word.chars().map(swap).collect()
            } else {
                word.to_owned()
            });
        }
        words.concat()
    });
    let act =
        (prop::sample::select(CLIENTS.to_vec()), say, any::<u8>()).prop_map(
            |(client, text, dice)| match dice {
                0..4 => Act::Cancel(client),
                4..6 => Act::Close(client),
                6..8 => Act::Terminate(client),
                _ => Act::Say(client, text),
            },
        );
    prop::collection::vec(act, len)
}

/// Plays acts: what was seen after each.
pub(super) fn play(stage: &mut dyn Stage, acts: &[Act]) -> Vec<Seen> {
    stage.begin();
    acts.iter().map(|act| stage.act(act)).collect()
}

/// How many statements were sent: those of clients that did not wait.
pub(super) fn sent(acts: &[Act], seen: &[Seen]) -> usize {
    let waited = |at: usize, client: &char| {
        let before = at.checked_sub(1).and_then(|at| seen[at].get(client));
        before.is_some_and(|lines| lines.last().is_some_and(|line| line == "waits"))
    };
    let sends = |(at, act): &(usize, &Act)| matches!(act, Act::Say(client, _) if !waited(*at, client));
    acts.iter().enumerate().filter(sends).count()
}

/// The acts and what came of them, as a text.
pub(super) fn transcript(acts: &[Act], seen: &[Seen]) -> String {
    let mut text = String::new();
    for (act, seen) in acts.iter().zip(seen) {
        text.push_str(&match act {
            Act::Say(client, statement) => format!("{client}: {statement}\n"),
            Act::Cancel(client) => format!("{client} cancel\n"),
            Act::Close(client) => format!("{client} close\n"),
            Act::Terminate(client) => format!("{client} terminate\n"),
        });
        for (client, lines) in seen {
            lines.iter().for_each(|line| text.push_str(&format!("  {client} {line}\n")));
        }
    }
    text
}

/// The acts of a transcript.
pub(super) fn acts_of(transcript: &str) -> Vec<Act> {
    let lines = transcript.lines().filter(|line| !line.starts_with(' '));
    let act = |line: &str| {
        let client = line.chars().next().unwrap();
        match &line[1..] {
            " cancel" => Act::Cancel(client),
            " close" => Act::Close(client),
            " terminate" => Act::Terminate(client),
            statement => Act::Say(client, statement.trim_start_matches(": ").to_owned()),
        }
    };
    lines.map(act).collect()
}

/// The beginning of an episode in a file of transcripts.
pub(super) const EPISODE: &str = "# seed ";

/// The transcripts that a real server has given, one after another.
pub(super) fn golden() -> std::path::PathBuf {
    std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/tests/random.txt")
}

#[test]
fn the_machine_answers_random_sessions_as_postgres_did() {
    let text = std::fs::read_to_string(golden()).unwrap();
    for episode in text.split(EPISODE).skip(1) {
        let (seed, expected) = episode.split_once('\n').unwrap();
        let acts = acts_of(expected);
        let found = transcript(&acts, &play(&mut super::talk::Tame::new(), &acts));
        super::transcripts::assert_same(&format!("seed {seed}"), expected, &found);
    }
}
