//! The tree against a simple model of it: a list of nodes, in which everything is looked up anew.

use proptest::collection::vec;
use proptest::prelude::*;

use super::nodes::CONTAINER;
use super::saved;
use super::tree::{Change, Transaction, Tree};
use crate::messages::{Acl, Check, Create, Delete, Op, OpResult, SetData, error, event, flags};
use crate::version::Version;

/// A node of the model.
#[derive(Clone, Debug, PartialEq)]
struct Plain {
    path: String,
    data: Option<Vec<u8>>,
    version: i32,
    creations: i32,
    owner: i64,
    czxid: i64,
}

/// The model.
#[derive(Clone, Debug, PartialEq)]
struct Model(Vec<Plain>);

fn parent(path: &str) -> String {
    match path.rsplit_once('/') {
        Some(("", _)) => "/".to_owned(),
        Some((parent, _)) => parent.to_owned(),
        None => String::new(),
    }
}

impl Model {
    fn new() -> Model {
        Model(vec![Plain {
            path: "/".into(),
            data: Some(Vec::new()),
            version: 0,
            creations: 0,
            owner: 0,
            czxid: 0,
        }])
    }

    fn find(&mut self, path: &str) -> Option<&mut Plain> {
        self.0.iter_mut().find(|node| node.path == path)
    }

    fn has_children(&self, path: &str) -> bool {
        self.0.iter().any(|node| node.path != "/" && parent(&node.path) == path)
    }

    /// What comes of an operation: the path of a node that is made, or an error.
    fn carry_out(&mut self, op: &Op, zxid: i64, session: i64) -> Result<Option<String>, i32> {
        match op {
            Op::Create(create) | Op::Create2(create) | Op::CreateContainer(create) => {
                let above = self.find(&parent(&create.path)).ok_or(error::NO_NODE)?.clone();
                let sequential = matches!(create.flags, flags::SEQUENTIAL | flags::EPHEMERAL_SEQUENTIAL);
                let number = if sequential { format!("{:010}", above.creations) } else { String::new() };
                let path = create.path.clone() + &number;
                if self.find(&path).is_some() {
                    return Err(error::NODE_EXISTS);
                }
                if above.owner > 0 {
                    return Err(error::NO_CHILDREN_FOR_EPHEMERALS);
                }
                let ephemeral = matches!(create.flags, flags::EPHEMERAL | flags::EPHEMERAL_SEQUENTIAL);
                let owner = match op {
                    Op::CreateContainer(_) => CONTAINER,
                    _ if ephemeral => session,
                    _ => 0,
                };
                self.find(&above.path).unwrap().creations += 1;
                let data = create.data.clone();
                self.0.push(Plain { path: path.clone(), data, version: 0, creations: 0, owner, czxid: zxid });
                Ok(Some(path))
            }
            Op::Delete(Delete { path, version }) => {
                let is = self.find(path).ok_or(error::NO_NODE)?.version;
                if *version != -1 && *version != is {
                    return Err(error::BAD_VERSION);
                }
                if self.has_children(path) {
                    return Err(error::NOT_EMPTY);
                }
                self.0.retain(|node| node.path != *path);
                Ok(None)
            }
            Op::SetData(SetData { path, data, version }) => {
                let node = self.find(path).ok_or(error::NO_NODE)?;
                if *version != -1 && *version != node.version {
                    return Err(error::BAD_VERSION);
                }
                (node.data, node.version) = (data.clone(), node.version + 1);
                Ok(None)
            }
            Op::Check(Check { path, version }) => {
                let is = self.find(path).ok_or(error::NO_NODE)?.version;
                if *version == -1 || *version == is { Ok(None) } else { Err(error::BAD_VERSION) }
            }
            _ => unreachable!("no other operation is drawn"),
        }
    }

    /// True if a tree is the same, beside the nodes that are always there.
    fn check(&self, tree: &Tree) {
        let others = tree.all().filter(|(path, _)| !path.starts_with("/zookeeper"));
        assert_eq!(others.count(), self.0.len());
        for node in &self.0 {
            let kept = tree.get(&node.path).unwrap_or_else(|| panic!("{} is missing", node.path));
            assert_eq!((&kept.data, kept.version, kept.owner), (&node.data, node.version, node.owner));
            assert_eq!((kept.creations, kept.czxid), (node.creations, node.czxid));
            let of = |other: &&Plain| other.path != "/" && parent(&other.path) == node.path;
            let children = self.0.iter().filter(of).count() + usize::from(node.path == "/");
            assert_eq!(kept.children.len(), children, "{}", node.path);
            assert_eq!(kept.stat().cversion, 2 * node.creations - children as i32);
        }
        for session in [1, 2] {
            let mut own: Vec<&str> =
                self.0.iter().filter(|node| node.owner == session).map(|node| node.path.as_str()).collect();
            own.sort_unstable();
            assert_eq!(tree.ephemerals(session).collect::<Vec<_>>(), own);
        }
    }
}

/// A step: operations, all or none if there are several, or the end of a session.
#[derive(Clone, Debug)]
enum Step {
    One(Op, i64),
    All(Vec<Op>, i64),
    End(i64),
}

fn path() -> impl Strategy<Value = String> + Clone {
    let name = || prop_oneof![Just("a"), Just("b")];
    prop_oneof![
        name().prop_map(|one| format!("/{one}")),
        (name(), name()).prop_map(|(one, two)| format!("/{one}/{two}")),
        (name(), name(), 0..3_u8).prop_map(|(one, two, number)| format!("/{one}/{two}{number:010}")),
    ]
}

fn op() -> impl Strategy<Value = Op> {
    let data = || proptest::option::of(vec(any::<u8>(), 0..3));
    let create = (path(), data(), 0..4_i32).prop_map(|(path, data, flags)| Create {
        path,
        data,
        acl: vec![Acl::open()],
        flags,
    });
    prop_oneof![
        2 => create.clone().prop_map(Op::Create),
        2 => create.clone().prop_map(Op::Create2),
        1 => create.prop_map(|create| Op::CreateContainer(Create { flags: flags::CONTAINER, ..create })),
        3 => (path(), -1..3_i32).prop_map(|(path, version)| Op::Delete(Delete { path, version })),
        2 => (path(), data(), -1..3_i32)
            .prop_map(|(path, data, version)| Op::SetData(SetData { path, data, version })),
        1 => (path(), -1..3_i32).prop_map(|(path, version)| Op::Check(Check { path, version })),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (op(), 1..3_i64).prop_map(|(op, session)| Step::One(op, session)),
        3 => (vec(op(), 0..5), 1..3_i64).prop_map(|(ops, session)| Step::All(ops, session)),
        1 => (1..3_i64).prop_map(Step::End),
    ]
}

fn made(result: &OpResult) -> Option<String> {
    match result {
        OpResult::Create(path) => Some(path.path.clone()),
        OpResult::Create2(made) => Some(made.path.clone()),
        _ => None,
    }
}

proptest! {
    #[test]
    fn the_tree_is_as_a_list_of_nodes_would_be(steps in vec(step(), 0..80)) {
        let (mut tree, mut model) = (Tree::default(), Model::new());
        for (zxid, step) in (1..).zip(steps) {
            let mut changes = Vec::new();
            let by = |session| Transaction { zxid, time: zxid, session };
            match step {
                Step::One(op, session) => {
                    let result = tree.carry_out(&op, by(session), &mut changes);
                    let expected = model.carry_out(&op, zxid, session);
                    prop_assert_eq!(result.as_ref().map(made).map_err(|error| *error), expected);
                    prop_assert!(result.is_ok() || changes.is_empty());
                }
                Step::All(ops, session) => {
                    let (before, mut after) = (tree.clone(), model.clone());
                    let results = tree.carry_out_all(&ops, (by(session), Version::V38), &mut changes);
                    // Among several only the flags say what is created.
                    let of = |op: &Op| match op {
                        Op::Create(create) | Op::Create2(create) | Op::CreateContainer(create)
                            if create.flags != flags::CONTAINER => Op::Create(create.clone()),
                        op => op.clone(),
                    };
                    let expected: Result<Vec<_>, (usize, i32)> = ops.iter().enumerate()
                        .map(|(at, op)| after.carry_out(&of(op), zxid, session).map_err(|error| (at, error)))
                        .collect();
                    match expected {
                        Ok(all) => {
                            prop_assert_eq!(results.iter().map(made).collect::<Vec<_>>(), all);
                            model = after;
                        }
                        Err((at, error)) => {
                            prop_assert_eq!(&tree, &before, "a transaction took effect in part");
                            prop_assert!(changes.is_empty());
                            let expected: Vec<OpResult> = (0..ops.len()).map(|place| OpResult::Error(match place {
                                _ if place < at => 0,
                                _ if place == at => error,
                                _ => error::RUNTIME_INCONSISTENCY,
                            })).collect();
                            prop_assert_eq!(results, expected);
                        }
                    }
                }
                Step::End(session) => {
                    tree.end_session(session, zxid, &mut changes);
                    let of = |change: &&Change| change.kind == event::DELETED;
                    prop_assert_eq!(
                        changes.iter().filter(of).count(),
                        model.0.iter().filter(|node| node.owner == session).count()
                    );
                    model.0.retain(|node| node.owner != session);
                }
            }
            model.check(&tree);
        }
        let sessions = [(7, 4_000)].into();
        let saved = saved::read(&saved::written(9, &tree, &sessions)).unwrap();
        prop_assert_eq!(saved, (9, tree, sessions));
    }
}
