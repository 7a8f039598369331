//! `picklock adapter`: a program to start from, in one of several languages.

use clap::Args;
use picklock_model::text::nearest;

use super::exit::{Exit, Failure};
use super::screen;

#[derive(Args)]
#[command(after_help = "\
An adapter is a loop around a lock library: it reads lines such as `acquire lock:1 5000` and answers `granted`, \
`refused`, `released` or `error TEXT`. docs/guide/programs.md describes all lines.

Examples:
  picklock adapter
  picklock adapter python > lock.py
  picklock run --program 'python3 lock.py' --scenario pause --seeds 20")]
pub(crate) struct AdapterArgs {
    /// Which one; a list of them if absent
    name: Option<String>,
}

/// An adapter that comes with picklock.
struct Adapter {
    name: &'static str,
    doc: &'static str,
    text: &'static str,
}

const ALL: &[Adapter] = &[
    Adapter {
        name: "python",
        doc: "redis-py's Lock",
        text: include_str!("../../examples/adapters/redis_py.py"),
    },
    Adapter {
        name: "python-asyncio",
        doc: "redis-py's asyncio Lock",
        text: include_str!("../../examples/adapters/redis_py_asyncio.py"),
    },
    Adapter {
        name: "python-redis-lock",
        doc: "python-redis-lock, which wakes waiters by BLPOP",
        text: include_str!("../../examples/adapters/python_redis_lock.py"),
    },
    Adapter {
        name: "python-pottery",
        doc: "pottery's Redlock, for --stores N",
        text: include_str!("../../examples/adapters/pottery_redlock.py"),
    },
    Adapter {
        name: "python-plain",
        doc: "Python without any library: what a client says to Redis",
        text: include_str!("../../examples/adapters/plain.py"),
    },
    Adapter {
        name: "python-autonomous",
        doc: "an autonomous client, for --autonomous: redis-py, and a lease lock by hand",
        text: include_str!("../../examples/adapters/autonomous.py"),
    },
    Adapter {
        name: "python-etcd",
        doc: "the lock recipe on etcd, for --topology etcd:N",
        text: include_str!("../../examples/adapters/etcd_lock.py"),
    },
    Adapter {
        name: "python-kazoo",
        doc: "kazoo's Lock on ZooKeeper, for --topology zookeeper:N",
        text: include_str!("../../examples/adapters/kazoo_lock.py"),
    },
    Adapter {
        name: "node-redlock",
        doc: "redlock 4 on ioredis, for --stores N",
        text: include_str!("../../examples/adapters/node/redlock.js"),
    },
    Adapter {
        name: "node-redlock-5",
        doc: "redlock 5 on ioredis, for --stores N",
        text: include_str!("../../examples/adapters/node/redlock5.mjs"),
    },
    Adapter {
        name: "node-redis",
        doc: "node-redis, and a lease lock by hand",
        text: include_str!("../../examples/adapters/node/node_redis.mjs"),
    },
    Adapter {
        name: "go",
        doc: "Go without any library",
        text: include_str!("../../examples/adapters/go/lease/main.go"),
    },
    Adapter {
        name: "go-redsync",
        doc: "redsync on redigo, for --stores N",
        text: include_str!("../../examples/adapters/go/redsync/main.go"),
    },
    Adapter {
        name: "java",
        doc: "Java without any library",
        text: include_str!("../../examples/adapters/java/Lease.java"),
    },
    Adapter {
        name: "rust-rslock",
        doc: "rslock's LockManager, for --stores N",
        text: include_str!("../../examples/adapters/rslock.rs"),
    },
    Adapter {
        name: "rust",
        doc: "the redis crate's ConnectionManager, and a lease lock by hand",
        text: include_str!("../../examples/adapters/connection_manager.rs"),
    },
];

pub(crate) fn adapter(args: &AdapterArgs) -> Result<Exit, Failure> {
    let Some(name) = &args.name else {
        let lines: Vec<String> =
            ALL.iter().map(|adapter| format!("{:<18} {}\n", adapter.name, adapter.doc)).collect();
        screen::print(&lines.concat())?;
        return Ok(Exit::Expected);
    };
    let Some(adapter) = ALL.iter().find(|adapter| adapter.name == name) else {
        let names: Vec<&str> = ALL.iter().map(|adapter| adapter.name).collect();
        let near = nearest(name, names.iter().copied());
        let hint = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
        return Err(Failure::Input(format!(
            "there is no adapter `{name}`{hint}; there are {}",
            names.join(", ")
        )));
    };
    screen::print(adapter.text)?;
    Ok(Exit::Expected)
}
