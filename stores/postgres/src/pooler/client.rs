//! A client of a pooler.

use std::io;
use std::sync::Arc;

use picklock_model::ids::Origin;
use picklock_sim::stream::Stream;
use tokio::io::AsyncReadExt as _;

use super::backend::Backend;
use super::pool::Pool;
use super::rules::Mode;
use crate::link::{self, CHUNK};
use crate::protocol::{Frame, Opening, Replies, Senseless, SqlError, frame, opening};

/// Serves one client until it goes. An error on its stream concerns nobody else.
pub(super) async fn serve(pool: Arc<Pool>, stream: Stream) {
    let number = pool.enter();
    let mut client = Client { pool: Arc::clone(&pool), stream, received: Vec::new(), number, lent: None };
    let _ = client.converse().await;
    if let Some(lent) = client.lent.take() {
        client.end(lent).await;
    }
    pool.leave(number);
}

/// The secret of a client: it protects nothing, nobody in a simulated world guesses.
fn secret(number: i32) -> i32 {
    number.wrapping_mul(0x5bd1_e995)
}

/// Messages as one segment.
fn bytes_of(messages: &[Frame]) -> Vec<u8> {
    messages.iter().flat_map(|message| message.bytes.iter().copied()).collect()
}

struct Client {
    pool: Arc<Pool>,
    stream: Stream,
    received: Vec<u8>,
    number: i32,
    lent: Option<Lent>,
}

/// A connection that a client is lent.
struct Lent {
    backend: Backend,
    /// The answers that are to come before it is ready.
    awaited: u32,
    /// Nothing is open: no transaction, and no message that was not answered.
    idle: bool,
}

impl Client {
    async fn converse(&mut self) -> io::Result<()> {
        if !self.log_in().await? {
            return Ok(());
        }
        loop {
            let (mut messages, mut leaves) = (Vec::new(), false);
            while !leaves && let Some(message) = self.message()? {
                leaves = message.kind == b'X';
                messages.extend(Some(message).filter(|_| !leaves));
            }
            if !messages.is_empty() {
                self.pass_on(&messages).await?;
            }
            if leaves {
                return Ok(());
            }
            self.move_on().await?;
        }
    }

    /// The opening of the connection; false if nothing follows.
    async fn log_in(&mut self) -> io::Result<bool> {
        loop {
            let asked = opening(&mut self.received);
            match asked {
                Ok(Some(Opening::Encryption)) => self.stream.write_for(self.stream.origin(), b"N").await?,
                Ok(Some(Opening::Cancel { pid, secret: given })) => {
                    let lent = self.pool.lent_to(pid).filter(|_| given == secret(pid));
                    if let Some(key) = lent {
                        let _ = link::cancel(&self.pool.host, &self.pool.server, key).await;
                    }
                    return Ok(false);
                }
                Ok(Some(Opening::Startup { .. })) => break,
                Ok(None) => self.read().await?,
                Err(error) => {
                    self.refuse(&error).await?;
                    return Ok(false);
                }
            }
        }
        let parameters = match self.pool.parameters().await {
            Ok(parameters) => parameters,
            Err(why) => {
                self.refuse(&why.error()).await?;
                return Ok(false);
            }
        };
        let mut replies = Replies::default();
        replies.authentication_ok();
        replies.0.extend_from_slice(&parameters);
        replies.backend_key(self.number, secret(self.number));
        replies.ready(b'I');
        self.stream.write_for(self.stream.origin(), &replies.0).await?;
        Ok(true)
    }

    async fn read(&mut self) -> io::Result<()> {
        self.received.reserve(CHUNK);
        match self.stream.read_buf(&mut self.received).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    fn message(&mut self) -> io::Result<Option<Frame>> {
        frame(&mut self.received).map_err(|Senseless| io::ErrorKind::InvalidData.into())
    }

    /// A last word to the client.
    async fn refuse(&mut self, error: &SqlError) -> io::Result<()> {
        let mut replies = Replies::default();
        replies.error(error);
        self.stream.write_for(self.stream.origin(), &replies.0).await
    }

    /// Passes messages on to the server, in one segment, by the connection that the client is lent.
    async fn pass_on(&mut self, messages: &[Frame]) -> io::Result<()> {
        let origin = self.stream.origin();
        if self.lent.is_none() {
            let backend = match self.pool.take().await {
                Ok(backend) => backend,
                Err(why) => {
                    self.refuse(&why.error()).await?;
                    return Err(io::ErrorKind::NotConnected.into());
                }
            };
            self.pool.lent(self.number, Some(backend.link.key));
            self.lent = Some(Lent { backend, awaited: 0, idle: true });
        }
        let Some(lent) = &mut self.lent else { return Ok(()) };
        lent.idle = false;
        lent.awaited += messages.iter().map(|message| u32::from(message.is_answered())).sum::<u32>();
        if lent.backend.link.send(origin, &bytes_of(messages)).await.is_err() {
            self.server_lost().await?;
        }
        Ok(())
    }

    /// Waits for the client or the server, and passes on what the server says, in as many segments as it came.
    async fn move_on(&mut self) -> io::Result<()> {
        let Some(lent) = &mut self.lent else { return self.read().await };
        self.received.reserve(CHUNK);
        let said = tokio::select! {
            biased;
            said = lent.backend.link.next() => said,
            len = self.stream.read_buf(&mut self.received) => {
                return match len? {
                    0 => Err(io::ErrorKind::UnexpectedEof.into()),
                    _ => Ok(()),
                };
            }
        };
        let Ok(said) = said else { return self.server_lost().await };
        let mut all = vec![said];
        while let Some(more) = lent.backend.link.received()? {
            all.push(more);
        }
        let origin: Origin = lent.backend.link.origin();
        for status in all.iter().filter_map(Frame::status) {
            lent.awaited = lent.awaited.saturating_sub(1);
            lent.idle = status == b'I' && lent.awaited == 0;
        }
        let is_free = lent.idle && self.pool.rules.mode == Mode::Transaction;
        if is_free && let Some(lent) = self.lent.take() {
            self.pool.lent(self.number, None);
            self.pool.put(lent.backend);
        }
        self.stream.write_for(origin, &bytes_of(&all)).await
    }

    /// The server has closed the connection that the client was lent.
    async fn server_lost(&mut self) -> io::Result<()> {
        self.lent = None;
        self.pool.lent(self.number, None);
        self.pool.lost();
        self.refuse(&SqlError::fatal("08P01", "server conn crashed?")).await?;
        Err(io::ErrorKind::ConnectionReset.into())
    }

    /// The client has left: its connection is closed if a transaction or a message is open on it.
    async fn end(&self, mut lent: Lent) {
        self.pool.lent(self.number, None);
        if lent.idle && lent.backend.clear().await {
            self.pool.put(lent.backend);
        } else {
            drop(lent);
            self.pool.lost();
        }
    }
}
