//! Futures without their type.

use std::future::Future;
use std::pin::Pin;

/// A boxed future, as the erased forms of the contract return it and as an engine takes on a task.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
