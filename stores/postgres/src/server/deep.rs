//! Trees of bounded depth and size: the one limit for everything that recurses over a statement.
//!
//! The parser makes its trees of [`Deep`] boxes and lists, and so does the planner. Their only constructors measure the tree below,
//! so a statement of any form has at most [`DEPTH_MAX`] levels when it is planned, executed, cloned, compared, shown or dropped. A
//! chain such as `1 + 1 + 1`, which the parser reads in a loop, is measured like nested parentheses. A new kind of node needs a
//! [`Tree`] implementation, and its `below` names each field.
//!
//! PostgreSQL compares the address of a local variable with `max_stack_depth` instead (`check_stack_depth` in
//! `tcop/postgres.c`). The limit here is a count, because an outcome must not depend on the build.

use std::ops::Deref;

use crate::protocol::SqlError;

/// The maximum number of levels of a statement.
///
/// PostgreSQL admits some thousands with its 2 MB of stack. Here the parser takes the most stack for a level, up to 8 KiB in a debug
/// build, and the threads of a test have 2 MiB: `deep.rs` of the tests runs the deepest statements in half of that.
pub(crate) const DEPTH_MAX: u16 = 100;

/// The maximum number of nodes of a tree. Copies multiply: a BETWEEN copies its value, a call of a SQL function its arguments.
const SIZE_MAX: u32 = 1_000_000;

/// The error of PostgreSQL for a statement that needs too much stack.
pub(crate) fn too_deep() -> SqlError {
    let hint = "Increase the configuration parameter \"max_stack_depth\" (currently 2048kB), after ensuring the \
                platform's stack depth limit is adequate.";
    SqlError::new("54001", "stack depth limit exceeded").with_hint(hint)
}

/// The number of levels and of nodes of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    depth: u16,
    size: u32,
}

impl Extent {
    /// The extent of both, one beside the other.
    pub(crate) fn and(self, other: Extent) -> Extent {
        Extent { depth: self.depth.max(other.depth), size: self.size.saturating_add(other.size) }
    }

    /// The extent with a node above it.
    fn under_one(self) -> Extent {
        Extent { depth: self.depth.saturating_add(1), size: self.size.saturating_add(1) }
    }

    /// The extent, if it leaves room for a node above.
    ///
    /// # Errors
    /// 54001 if it does not.
    pub(crate) fn admitted(self) -> Result<Extent, SqlError> {
        if self.depth < DEPTH_MAX && self.size < SIZE_MAX { Ok(self) } else { Err(too_deep()) }
    }
}

/// A node of a tree.
pub(crate) trait Tree {
    /// The extent of everything below the node.
    fn below(&self) -> Extent;

    /// The extent of the node and of everything below it.
    fn extent(&self) -> Extent {
        self.below().under_one()
    }
}

/// An arm of a CASE.
impl<T: Tree> Tree for (T, T) {
    fn below(&self) -> Extent {
        self.0.extent().and(self.1.extent())
    }
}

/// The extent of trees beside each other.
pub(crate) fn extent_of<'a, T: Tree + 'a>(trees: impl IntoIterator<Item = &'a T>) -> Extent {
    trees.into_iter().fold(Extent::default(), |extent, tree| extent.and(tree.extent()))
}

/// Nodes that are part of another node: a box, or a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Deep<P> {
    extent: Extent,
    nodes: P,
}

/// A node below another one.
pub(crate) type Child<T> = Deep<Box<T>>;

/// Nodes below another one.
pub(crate) type Children<T> = Deep<Vec<T>>;

impl<T: Tree> Child<T> {
    /// # Errors
    /// 54001 if the tree is too deep or too big.
    pub(crate) fn of(node: T) -> Result<Child<T>, SqlError> {
        let extent = node.extent().admitted()?;
        Ok(Deep { extent, nodes: Box::new(node) })
    }

    pub(crate) fn into_node(self) -> T {
        *self.nodes
    }
}

impl<T: Tree> Children<T> {
    /// # Errors
    /// 54001 if a tree is too deep or all together are too big.
    pub(crate) fn all(nodes: Vec<T>) -> Result<Children<T>, SqlError> {
        let extent = extent_of(&nodes).admitted()?;
        Ok(Deep { extent, nodes })
    }

    pub(crate) fn into_nodes(self) -> Vec<T> {
        self.nodes
    }
}

impl<P> Deep<P> {
    /// The extent of the nodes and of everything below them.
    pub(crate) fn extent(&self) -> Extent {
        self.extent
    }
}

impl<P: Deref> Deref for Deep<P> {
    type Target = P::Target;

    fn deref(&self) -> &P::Target {
        &self.nodes
    }
}

impl<'a, T> IntoIterator for &'a Children<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.nodes.iter()
    }
}
