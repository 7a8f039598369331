//! A store kind of the tests, in one file: a ledger that writes down which owner has a key. A list of kinds names it on one line.
//!
//! `take KEY OWNER` is answered with `yes` or `no`, `free KEY OWNER` with `ok`. It has two topologies: one ledger, and several that do not know
//! each other.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use picklock_model::trace::Role;
use picklock_sim::lock::BoxFuture;
use picklock_sim::store::{
    Form, Number, ServerContext, Serving, SimulatedStore, Store, StoreKind, StoreSpec, Topology, Users,
};
use picklock_sim::stream::Stream;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

/// The port of a ledger.
const PORT: u16 = 4_000;

/// The ledger in a list of kinds.
pub(crate) static LEDGER: StoreKind = StoreKind {
    name: "ledger",
    params: &[],
    forms: &[
        Form {
            name: "ledger",
            aliases: &["book"],
            number: None,
            doc: "one ledger",
            stores: |_| ledgers(1),
            users: Users::Programs,
            served: &[],
        },
        Form {
            name: "ledgers",
            aliases: &[],
            number: Some(Number { most: 5 }),
            doc: "N independent ledgers",
            stores: ledgers,
            users: Users::Programs,
            served: &[],
        },
    ],
    serving: Serving {
        params: &[],
        start: |context, _| Ledger.serve(context),
        words: |member| format!("ledger {}", member.store),
        down_after: None,
        passwords: false,
    },
    real: None,
};

fn ledgers(stores: u32) -> (Topology, Store) {
    (Topology::independent(stores), Store::simulated(Ledger))
}

struct Ledger;

impl StoreSpec for Ledger {
    fn name(&self) -> &'static str {
        "ledger"
    }

    fn port(&self, _: Role) -> u16 {
        PORT
    }
}

impl SimulatedStore for Ledger {
    fn serve(&self, context: ServerContext) -> BoxFuture<'static, ()> {
        Box::pin(serve(context))
    }
}

/// Owners by key.
type Entries = Arc<Mutex<BTreeMap<String, String>>>;

async fn serve(context: ServerContext) {
    let entries = Entries::default();
    let Ok(listener) = context.host.bind(PORT).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        context.host.spawn(converse(stream, Arc::clone(&entries)));
    }
}

async fn converse(stream: Stream, entries: Entries) {
    let mut stream = BufReader::new(stream);
    let mut line = String::new();
    while stream.read_line(&mut line).await.is_ok_and(|len| len > 0) {
        let reply = answer(&line, &mut entries.lock().unwrap_or_else(PoisonError::into_inner));
        line.clear();
        if stream.write_all(reply.as_bytes()).await.is_err() {
            return;
        }
    }
}

fn answer(line: &str, entries: &mut BTreeMap<String, String>) -> &'static str {
    match line.split_whitespace().collect::<Vec<_>>()[..] {
        ["take", key, owner] if !entries.contains_key(key) => {
            entries.insert(key.to_owned(), owner.to_owned());
            "yes\n"
        }
        ["take", ..] => "no\n",
        ["free", key, owner] => {
            if entries.get(key).is_some_and(|holder| holder == owner) {
                entries.remove(key);
            }
            "ok\n"
        }
        _ => "error\n",
    }
}
