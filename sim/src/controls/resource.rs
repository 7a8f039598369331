//! The guarded resource: registers and stock counters on a host of their own, whose operations may carry a token.
//!
//! It is what a lock protects, and where a stale write does its damage. It refuses an operation whose token is lower
//! than the highest that it has seen for that key (Kleppmann, "How to do distributed locking", 2016); reads are checked
//! too. The wire is a fixed frame: operation, token, value, key, and where it compares the value expected. For the designs that
//! go without a lock it can do what databases can: change a register or a stock only if it is as expected, and insert a row
//! under a unique id. Left out on purpose: any other concurrency control of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::host::Host;
use crate::host::stream::Stream;
use picklock_model::ids::{Key, Origin, Token};
use picklock_model::trace::What;

pub use crate::contract::data::{Operation, ResourceError};

/// The name of the resource's host.
pub const HOST: &str = "resource";

const PORT: u16 = 7000;
const NO_TOKEN: u64 = u64::MAX;

/// A client of the resource. It connects when first used, and again after an error.
pub struct Resource {
    host: Host,
    timeout: Duration,
    stream: Option<Stream>,
    /// In whose service a server operates; a client does so for its own section.
    origin: Option<Origin>,
}

impl Resource {
    /// A client on this host, whose operations fail after `timeout` on the host's clock.
    #[must_use]
    pub fn new(host: Host, timeout: Duration) -> Resource {
        Resource { host, timeout, stream: None, origin: None }
    }

    /// Another client of it on the same host, with a connection of its own.
    #[must_use]
    pub fn another(&self) -> Resource {
        Resource::new(self.host.clone(), self.timeout)
    }

    /// Sets the origin that the operations after this serve: for a server that operates in its clients' stead.
    pub fn serve_for(&mut self, origin: Origin) {
        self.origin = Some(origin);
    }

    /// Carries out one operation and returns the value that the register or stock has after it.
    ///
    /// # Errors
    /// See [`ResourceError`].
    pub async fn apply(
        &mut self,
        key: &Key,
        operation: Operation,
        token: Option<Token>,
    ) -> Result<i64, ResourceError> {
        let host = self.host.clone();
        let mut sent = false;
        let outcome = host.timeout(self.timeout, self.exchange(key, operation, token, &mut sent)).await;
        match outcome {
            Ok(Ok(reply)) => reply.value(),
            Ok(Err(_)) | Err(_) => {
                Err(if sent { ResourceError::EffectUnknown } else { ResourceError::NotSent })
            }
        }
    }

    async fn exchange(
        &mut self,
        key: &Key,
        operation: Operation,
        token: Option<Token>,
        sent: &mut bool,
    ) -> io::Result<Reply> {
        // The connection of a call that is dropped before its answer is dropped with it: the next call must not read that answer.
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => self.host.connect(HOST, PORT).await?,
        };
        let request = Request { operation, token, key: key.clone() }.encode();
        // From the first byte on it may arrive. A write that is still pending may never happen, and counts all the same:
        // the client cannot know.
        *sent = true;
        match self.origin {
            Some(origin) => stream.write_for(origin, &request).await?,
            None => stream.write_all(&request).await?,
        }
        let reply = Reply::read(&mut stream).await?;
        self.stream = Some(stream);
        Ok(reply)
    }
}

/// Serves the resource until its host stops.
pub async fn serve(host: Host, stock: i64) {
    let Ok(listener) = host.bind(PORT).await else { return };
    let shelves = Arc::new(Mutex::new(Shelves { stock, keys: BTreeMap::new() }));
    while let Ok((stream, _)) = listener.accept().await {
        host.spawn(attend(host.clone(), stream, Arc::clone(&shelves)));
    }
}

async fn attend(host: Host, mut stream: Stream, shelves: Arc<Mutex<Shelves>>) {
    while let Ok(request) = Request::read(&mut stream).await {
        let origin = stream.origin();
        let reply =
            shelves.lock().expect("nothing panics while it holds this lock").apply(&host, origin, &request);
        if stream.write_all(&reply.encode()).await.is_err() {
            return;
        }
    }
}

/// All registers and stock counters.
struct Shelves {
    /// The number with which a stock counter starts.
    stock: i64,
    keys: BTreeMap<Key, Shelf>,
}

struct Shelf {
    register: i64,
    stock: i64,
    highest: Option<Token>,
    /// The ids of the rows inserted.
    rows: BTreeSet<u64>,
}

impl Shelves {
    fn apply(&mut self, host: &Host, origin: Origin, request: &Request) -> Reply {
        let shelf = self.keys.entry(request.key.clone()).or_insert(Shelf {
            register: 0,
            stock: self.stock,
            highest: None,
            rows: BTreeSet::new(),
        });
        let (what, reply) = shelf.apply(request);
        host.record(origin, what);
        reply
    }
}

impl Shelf {
    fn apply(&mut self, request: &Request) -> (What, Reply) {
        let key = request.key.clone();
        if let (Some(token), Some(highest)) = (request.token, self.highest)
            && token < highest
        {
            return (What::ResourceRefused { key, token, highest }, Reply::Refused(highest));
        }
        self.highest = self.highest.max(request.token);
        let token = request.token;
        match request.operation {
            Operation::Read => {
                let value = self.register;
                (What::ResourceRead { key, value, token }, Reply::Value(value))
            }
            Operation::Write(value) => {
                self.register = value;
                (What::ResourceWritten { key, value, token }, Reply::Value(value))
            }
            Operation::Take(amount) => {
                let taken = amount >= 0 && self.stock >= amount;
                if taken {
                    self.stock -= amount;
                }
                let left = self.stock;
                let reply = if taken { Reply::Value(left) } else { Reply::SoldOut };
                (What::ResourceTaken { key, amount, left, taken }, reply)
            }
            Operation::ReadStock => {
                let value = self.stock;
                (What::ResourceRead { key, value, token }, Reply::Value(value))
            }
            Operation::Sell(amount) => {
                self.stock = self.stock.saturating_sub(amount);
                let left = self.stock;
                (What::ResourceTaken { key, amount, left, taken: true }, Reply::Value(left))
            }
            Operation::Swap { expected, value } if self.register == expected => {
                self.register = value;
                (What::ResourceWritten { key, value, token }, Reply::Value(value))
            }
            Operation::Swap { .. } => {
                let value = self.register;
                (What::ResourceRead { key, value, token }, Reply::Differs(value))
            }
            Operation::Insert(id) if self.rows.insert(id) => {
                self.register += 1;
                let value = self.register;
                (What::ResourceWritten { key, value, token }, Reply::Value(value))
            }
            Operation::Insert(_) => {
                let value = self.register;
                (What::ResourceRead { key, value, token }, Reply::Value(value))
            }
            Operation::TakeIf { expected, amount } if self.stock == expected => {
                self.stock = self.stock.saturating_sub(amount);
                let left = self.stock;
                (What::ResourceTaken { key, amount, left, taken: true }, Reply::Value(left))
            }
            Operation::TakeIf { .. } => {
                let value = self.stock;
                (What::ResourceRead { key, value, token }, Reply::Differs(value))
            }
        }
    }
}

/// The tags of the operations whose frames go on after the key.
const SWAP: u8 = 3;
const TAKE_IF: u8 = 7;

struct Request {
    operation: Operation,
    token: Option<Token>,
    key: Key,
}

impl Request {
    fn encode(&self) -> Vec<u8> {
        let (tag, value) = match self.operation {
            Operation::Read => (0, 0),
            Operation::Write(value) => (1, value),
            Operation::Take(amount) => (2, amount),
            Operation::Swap { value, .. } => (SWAP, value),
            Operation::Insert(id) => (4, id.cast_signed()),
            Operation::ReadStock => (5, 0),
            Operation::Sell(amount) => (6, amount),
            Operation::TakeIf { amount, .. } => (TAKE_IF, amount),
        };
        let key = self.key.as_str().as_bytes();
        let mut frame = Vec::with_capacity(19 + key.len());
        frame.push(tag);
        frame.extend_from_slice(&self.token.map_or(NO_TOKEN, |token| token.0).to_le_bytes());
        frame.extend_from_slice(&value.to_le_bytes());
        frame.extend_from_slice(&(key.len() as u16).to_le_bytes());
        frame.extend_from_slice(key);
        if let Operation::Swap { expected, .. } | Operation::TakeIf { expected, .. } = self.operation {
            frame.extend_from_slice(&expected.to_le_bytes());
        }
        frame
    }

    async fn read(stream: &mut Stream) -> io::Result<Request> {
        let mut head = [0; 19];
        stream.read_exact(&mut head).await?;
        let token = u64::from_le_bytes(bytes(&head[1..9]));
        let value = i64::from_le_bytes(bytes(&head[9..17]));
        let mut key = vec![0; usize::from(u16::from_le_bytes(bytes(&head[17..19])))];
        stream.read_exact(&mut key).await?;
        let mut expected = [0; 8];
        if [SWAP, TAKE_IF].contains(&head[0]) {
            stream.read_exact(&mut expected).await?;
        }
        let expected = i64::from_le_bytes(expected);
        let operation = match head[0] {
            0 => Operation::Read,
            1 => Operation::Write(value),
            2 => Operation::Take(value),
            SWAP => Operation::Swap { expected, value },
            4 => Operation::Insert(value.cast_unsigned()),
            5 => Operation::ReadStock,
            6 => Operation::Sell(value),
            TAKE_IF => Operation::TakeIf { expected, amount: value },
            _ => return Err(io::Error::from(io::ErrorKind::InvalidData)),
        };
        let key = std::str::from_utf8(&key).map_err(|_| io::ErrorKind::InvalidData)?;
        Ok(Request { operation, token: (token != NO_TOKEN).then_some(Token(token)), key: Key::new(key) })
    }
}

/// The bytes of a fixed-width field.
fn bytes<const N: usize>(field: &[u8]) -> [u8; N] {
    field.try_into().expect("the slice was cut to the width of its field")
}

enum Reply {
    Value(i64),
    Refused(Token),
    SoldOut,
    Differs(i64),
}

impl Reply {
    fn encode(&self) -> [u8; 9] {
        let (tag, number) = match self {
            Reply::Value(value) => (0, value.cast_unsigned()),
            Reply::Refused(highest) => (1, highest.0),
            Reply::SoldOut => (2, 0),
            Reply::Differs(found) => (3, found.cast_unsigned()),
        };
        let mut frame = [0; 9];
        frame[0] = tag;
        frame[1..].copy_from_slice(&number.to_le_bytes());
        frame
    }

    async fn read(stream: &mut Stream) -> io::Result<Reply> {
        let mut frame = [0; 9];
        stream.read_exact(&mut frame).await?;
        let number = u64::from_le_bytes(bytes(&frame[1..9]));
        match frame[0] {
            0 => Ok(Reply::Value(number.cast_signed())),
            1 => Ok(Reply::Refused(Token(number))),
            2 => Ok(Reply::SoldOut),
            3 => Ok(Reply::Differs(number.cast_signed())),
            _ => Err(io::Error::from(io::ErrorKind::InvalidData)),
        }
    }

    fn value(self) -> Result<i64, ResourceError> {
        match self {
            Reply::Value(value) => Ok(value),
            Reply::Refused(highest) => Err(ResourceError::Refused { highest }),
            Reply::SoldOut => Err(ResourceError::SoldOut),
            Reply::Differs(found) => Err(ResourceError::Differs { found }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(operation: Operation, token: Option<u64>) -> Request {
        Request { operation, token: token.map(Token), key: Key::new("k") }
    }

    #[test]
    fn a_lower_token_is_refused_for_reads_and_writes_and_an_equal_one_is_not() {
        let mut shelf = Shelf { register: 0, stock: 1, highest: None, rows: BTreeSet::new() };
        assert!(matches!(shelf.apply(&request(Operation::Write(5), Some(2))).1, Reply::Value(5)));
        assert!(matches!(shelf.apply(&request(Operation::Read, Some(2))).1, Reply::Value(5)));
        assert!(matches!(shelf.apply(&request(Operation::Read, Some(1))).1, Reply::Refused(Token(2))));
        assert!(matches!(shelf.apply(&request(Operation::Write(9), Some(1))).1, Reply::Refused(Token(2))));
        assert_eq!(shelf.register, 5);
    }

    #[test]
    fn stock_never_falls_below_zero() {
        let mut shelf = Shelf { register: 0, stock: 3, highest: None, rows: BTreeSet::new() };
        assert!(matches!(shelf.apply(&request(Operation::Take(2), None)).1, Reply::Value(1)));
        assert!(matches!(shelf.apply(&request(Operation::Take(2), None)).1, Reply::SoldOut));
        assert!(matches!(shelf.apply(&request(Operation::Take(-5), None)).1, Reply::SoldOut));
        assert_eq!(shelf.stock, 1);
    }

    #[test]
    fn whoever_sells_without_taking_can_oversell() {
        let mut shelf = Shelf { register: 0, stock: 1, highest: None, rows: BTreeSet::new() };
        assert!(matches!(shelf.apply(&request(Operation::ReadStock, None)).1, Reply::Value(1)));
        for left in [0, -1] {
            assert!(
                matches!(shelf.apply(&request(Operation::Sell(1), None)).1, Reply::Value(value) if value == left)
            );
        }
    }

    #[test]
    fn a_take_that_compares_needs_the_expected_stock() {
        let mut shelf = Shelf { register: 0, stock: 2, highest: None, rows: BTreeSet::new() };
        let take = |expected| request(Operation::TakeIf { expected, amount: 1 }, None);
        assert!(matches!(shelf.apply(&take(2)), (What::ResourceTaken { left: 1, .. }, Reply::Value(1))));
        assert!(matches!(shelf.apply(&take(2)), (What::ResourceRead { .. }, Reply::Differs(1))));
    }

    #[test]
    fn a_swap_needs_the_expected_value_and_a_row_is_inserted_once() {
        let mut shelf = Shelf { register: 4, stock: 0, highest: None, rows: BTreeSet::new() };
        let swap = |expected, value| request(Operation::Swap { expected, value }, None);
        assert!(matches!(shelf.apply(&swap(3, 9)), (What::ResourceRead { .. }, Reply::Differs(4))));
        assert!(matches!(shelf.apply(&swap(4, 5)), (What::ResourceWritten { .. }, Reply::Value(5))));
        let insert = request(Operation::Insert(u64::MAX), None);
        assert!(matches!(shelf.apply(&insert), (What::ResourceWritten { .. }, Reply::Value(6))));
        assert!(matches!(shelf.apply(&insert), (What::ResourceRead { .. }, Reply::Value(6))));
    }
}
