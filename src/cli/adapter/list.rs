//! The adapters that come with picklock, and what each needs beside it.

/// An adapter that comes with picklock.
pub(super) struct Adapter {
    pub(super) name: &'static str,
    pub(super) doc: &'static str,
    /// Its file, and the text of it.
    pub(super) file: (&'static str, &'static str),
    pub(super) project: &'static Project,
    /// The word that its command ends with, where it needs one.
    pub(super) word: &'static str,
    /// The options that it is run with.
    pub(super) options: &'static str,
}

/// What the adapters of a language need beside their file.
pub(super) struct Project {
    /// Files, with the versions of the libraries; `{file}` is the adapter's.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// The command that fetches the libraries and builds the adapter, in the directory that has them; none if nothing is to be done.
    pub(super) build: Option<&'static str>,
    /// The command that runs it; `{file}` is its file, `{name}` the file without its ending.
    pub(super) run: &'static str,
    /// How many seeds take half a minute or so.
    pub(super) seeds: u32,
}

/// A file of the examples.
macro_rules! file {
    ($name:literal, $path:literal) => {
        ($name, include_str!(concat!("../../../examples/adapters/", $path)))
    };
}

const PYTHON: Project = Project {
    files: &[file!("requirements.txt", "python/requirements.txt")],
    build: Some("python3 -m venv venv && venv/bin/pip install --quiet --requirement requirements.txt"),
    run: "venv/bin/python {file}",
    seeds: 20,
};

const NODE: Project = Project {
    files: &[
        file!("package.json", "node/package.json"),
        file!("package-lock.json", "node/package-lock.json"),
    ],
    build: Some("npm ci --no-audit --no-fund"),
    run: "node {file}",
    seeds: 20,
};

const GO: Project = Project {
    files: &[file!("go.mod", "go/go.mod"), file!("go.sum", "go/go.sum")],
    build: Some("CGO_ENABLED=0 go build -o adapter {file}"),
    run: "./adapter",
    seeds: 100,
};

const GO_ETCD: Project = Project {
    files: &[file!("go.mod", "go/etcd/go.mod"), file!("go.sum", "go/etcd/go.sum")],
    build: Some("CGO_ENABLED=0 go build -o adapter {file}"),
    run: "./adapter",
    seeds: 20,
};

const GO_ALONE: Project = Project {
    files: &[],
    build: Some("CGO_ENABLED=0 go build -o adapter {file}"),
    run: "./adapter",
    seeds: 100,
};

/// Without the files by which JVMs of a machine find each other: a run would depend on who else runs there.
const RUN_JAVA: &str = "java -XX:-UsePerfData -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xbatch -Xlog:disable \
                        -Xlog:all=warning:stderr -cp lib/*:adapter.jar {name}";

const JAVA: Project = Project {
    files: &[file!("pom.xml", "java/pom.xml")],
    build: Some(
        "mvn -q dependency:copy-dependencies -DoutputDirectory=lib && javac -cp 'lib/*' -d classes {file} && \
         jar cf adapter.jar -C classes .",
    ),
    run: RUN_JAVA,
    seeds: 4,
};

const JAVA_ZOOKEEPER: Project = Project { files: &[file!("pom.xml", "java/zookeeper/pom.xml")], ..JAVA };

/// As [`RUN_JAVA`], and nobody waits for the compiler: a thread of gRPC that waits for it in the middle of a step keeps others spinning.
const RUN_JAVA_ETCD: &str = "java -XX:-UsePerfData -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xlog:disable \
                             -Xlog:all=warning:stderr -cp lib/*:adapter.jar {name}";

const JAVA_ETCD: Project =
    Project { files: &[file!("pom.xml", "java/etcd/pom.xml")], run: RUN_JAVA_ETCD, ..JAVA };

const JAVA_ALONE: Project = Project {
    files: &[],
    build: Some("javac -d classes {file} && jar cf adapter.jar -C classes ."),
    run: "java -XX:-UsePerfData -cp adapter.jar {name}",
    seeds: 10,
};

const RUST: Project = Project {
    files: &[(
        "Cargo.toml",
        "[package]\nname = \"adapter\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n\
         [[bin]]\nname = \"adapter\"\npath = \"{file}\"\n\n[dependencies]\n\
         redis = { version = \"1.8\", default-features = false, features = [\"connection-manager\", \"script\"] }\n\
         rslock = { version = \"0.10\", features = [\"tokio-comp\"] }\n\
         tokio = { version = \"1\", features = [\"macros\", \"rt\", \"time\"] }\n",
    )],
    build: Some("cargo build --release"),
    run: "target/release/adapter",
    seeds: 100,
};

const THREE: &str = "--stores 3";

/// Those that report until when a grant is valid.
const REDLOCK: &str = "--stores 3 --belief trusting";

/// etcd grants no shorter lease.
const ETCD: &str = "--topology etcd:1 --set ttl=2s";

/// For clients that need a real member: the simulated one has no JSON gateway, and was not tried with jetcd.
const REAL_ETCD: &str = "--topology real-etcd:1 --set ttl=2s";

/// A session is not shorter than two ticks.
const ZOOKEEPER: &str = "--topology zookeeper:1 --set ttl=4s";

/// For clients that were not tried with the simulated member.
const REAL_ZOOKEEPER: &str = "--topology real-zookeeper:1 --set ttl=4s";

/// Every adapter, by language.
pub(super) const ALL: &[Adapter] = &[
    Adapter {
        name: "python",
        doc: "redis-py's Lock, also for --topology cluster:N",
        file: file!("redis_py.py", "redis_py.py"),
        project: &PYTHON,
        word: "",
        options: "",
    },
    Adapter {
        name: "python-asyncio",
        doc: "redis-py's asyncio Lock",
        file: file!("redis_py_asyncio.py", "redis_py_asyncio.py"),
        project: &PYTHON,
        word: "",
        options: "",
    },
    Adapter {
        name: "python-redis-lock",
        doc: "python-redis-lock, which wakes waiters by BLPOP",
        file: file!("python_redis_lock.py", "python_redis_lock.py"),
        project: &PYTHON,
        word: "",
        options: "",
    },
    Adapter {
        name: "python-pottery",
        doc: "pottery's Redlock, for --stores N",
        file: file!("pottery_redlock.py", "pottery_redlock.py"),
        project: &PYTHON,
        word: "",
        options: THREE,
    },
    Adapter {
        name: "python-redlock-py",
        doc: "redlock-py's Redlock, for --stores N",
        file: file!("redlock_py.py", "redlock_py.py"),
        project: &PYTHON,
        word: "",
        options: REDLOCK,
    },
    Adapter {
        name: "python-plain",
        doc: "Python without any library: what a client says to Redis",
        file: file!("plain.py", "plain.py"),
        project: &PYTHON,
        word: "",
        options: "",
    },
    Adapter {
        name: "python-autonomous",
        doc: "an autonomous client, for --autonomous: redis-py, and a lease lock by hand",
        file: file!("autonomous.py", "autonomous.py"),
        project: &PYTHON,
        word: "",
        options: "--autonomous",
    },
    Adapter {
        name: "python-etcd",
        doc: "the lock recipe on etcd by its JSON gateway, for --topology real-etcd:N",
        file: file!("etcd_lock.py", "etcd_lock.py"),
        project: &PYTHON,
        word: "",
        options: REAL_ETCD,
    },
    Adapter {
        name: "python-kazoo",
        doc: "kazoo's Lock on ZooKeeper, for --topology zookeeper:N",
        file: file!("kazoo_lock.py", "kazoo_lock.py"),
        project: &PYTHON,
        word: "",
        options: ZOOKEEPER,
    },
    Adapter {
        name: "node-redlock",
        doc: "redlock 4 on ioredis, for --stores N",
        file: file!("redlock.js", "node/redlock.js"),
        project: &NODE,
        word: "",
        options: REDLOCK,
    },
    Adapter {
        name: "node-redlock-5",
        doc: "redlock 5 on ioredis, for --stores N",
        file: file!("redlock5.mjs", "node/redlock5.mjs"),
        project: &NODE,
        word: "",
        options: REDLOCK,
    },
    Adapter {
        name: "node-redlock-sesamecare",
        doc: "the redlock of @sesamecare-oss on ioredis, for --stores N",
        file: file!("redlock5.mjs", "node/redlock5.mjs"),
        project: &NODE,
        word: "@sesamecare-oss/redlock",
        options: REDLOCK,
    },
    Adapter {
        name: "node-redis",
        doc: "node-redis, and a lease lock by hand",
        file: file!("node_redis.mjs", "node/node_redis.mjs"),
        project: &NODE,
        word: "",
        options: "",
    },
    Adapter {
        name: "node-ioredis",
        doc: "ioredis, and a lease lock by hand, also for --topology cluster:N",
        file: file!("ioredis.js", "node/ioredis.js"),
        project: &NODE,
        word: "",
        options: "",
    },
    Adapter {
        name: "node-redis-semaphore",
        doc: "redis-semaphore's Mutex, which renews by itself, and its RedlockMutex for --stores N",
        file: file!("redis_semaphore.mjs", "node/redis_semaphore.mjs"),
        project: &NODE,
        word: "",
        options: "",
    },
    Adapter {
        name: "node-simple-redis-mutex",
        doc: "simple-redis-mutex on node-redis, with tokens",
        file: file!("simple_redis_mutex.mjs", "node/simple_redis_mutex.mjs"),
        project: &NODE,
        word: "",
        options: "",
    },
    Adapter {
        name: "go",
        doc: "Go without any library",
        file: file!("main.go", "go/lease/main.go"),
        project: &GO_ALONE,
        word: "",
        options: "",
    },
    Adapter {
        name: "go-redsync",
        doc: "redsync on redigo, for --stores N",
        file: file!("main.go", "go/redsync/main.go"),
        project: &GO,
        word: "",
        options: REDLOCK,
    },
    Adapter {
        name: "go-redislock",
        doc: "bsm/redislock on go-redis, also for --topology cluster:N",
        file: file!("main.go", "go/redislock/main.go"),
        project: &GO,
        word: "",
        options: "",
    },
    Adapter {
        name: "go-rueidislock",
        doc: "rueidislock, which renews by itself and waits by CLIENT TRACKING, also for --topology cluster:N",
        file: file!("main.go", "go/rueidislock/main.go"),
        project: &GO,
        word: "",
        options: "",
    },
    Adapter {
        name: "go-etcd",
        doc: "etcd's clientv3: Mutex and Election, for --topology etcd:N",
        file: file!("main.go", "go/etcd/main.go"),
        project: &GO_ETCD,
        word: "mutex",
        options: ETCD,
    },
    Adapter {
        name: "java",
        doc: "Java without any library",
        file: file!("Lease.java", "java/Lease.java"),
        project: &JAVA_ALONE,
        word: "",
        options: "",
    },
    Adapter {
        name: "rust-rslock",
        doc: "rslock's LockManager, for --stores N",
        file: file!("rslock.rs", "rslock.rs"),
        project: &RUST,
        word: "",
        options: REDLOCK,
    },
    Adapter {
        name: "rust",
        doc: "the redis crate's ConnectionManager, and a lease lock by hand",
        file: file!("connection_manager.rs", "connection_manager.rs"),
        project: &RUST,
        word: "",
        options: "",
    },
    Adapter {
        name: "java-redisson",
        doc: "Redisson's RLock, fair, read, write, spin and fenced lock, MultiLock and RedLock, also for --topology cluster:N",
        file: file!("RedissonLocks.java", "java/RedissonLocks.java"),
        project: &JAVA,
        word: "lock",
        options: "",
    },
    Adapter {
        name: "java-spring",
        doc: "Spring Integration's RedisLockRegistry on Lettuce",
        file: file!("SpringLocks.java", "java/SpringLocks.java"),
        project: &JAVA,
        word: "",
        options: "",
    },
    Adapter {
        name: "java-jedis",
        doc: "Jedis, and a lease lock by hand",
        file: file!("JedisLock.java", "java/JedisLock.java"),
        project: &JAVA,
        word: "",
        options: "",
    },
    Adapter {
        name: "java-lettuce",
        doc: "Lettuce, and a lease lock by hand, also for --topology cluster:N",
        file: file!("LettuceLock.java", "java/LettuceLock.java"),
        project: &JAVA,
        word: "",
        options: "",
    },
    Adapter {
        name: "java-shedlock",
        doc: "ShedLock's provider for Redis on Lettuce",
        file: file!("ShedLock.java", "java/ShedLock.java"),
        project: &JAVA,
        word: "",
        options: "",
    },
    Adapter {
        name: "java-curator",
        doc: "Curator's mutex, semaphore, read and write lock, for --topology real-zookeeper:N",
        file: file!("CuratorLocks.java", "java/zookeeper/CuratorLocks.java"),
        project: &JAVA_ZOOKEEPER,
        word: "mutex",
        options: REAL_ZOOKEEPER,
    },
    Adapter {
        name: "java-jetcd",
        doc: "jetcd's Lock with a lease, for --topology real-etcd:N",
        file: file!("JetcdLock.java", "java/etcd/JetcdLock.java"),
        project: &JAVA_ETCD,
        word: "",
        options: REAL_ETCD,
    },
];
