//! A node as a client of another one.

use std::io;
use std::time::Duration;

use picklock_sim::host::{Host, Origin};
use picklock_sim::stream::{ReadHalf, WriteHalf};
use tokio::io::AsyncReadExt as _;

use super::server::Server;
use crate::protocol::resp::{self, Reply, Requests};
use crate::server::node::PORT;

/// A connection to another node, or to itself.
pub(super) struct Caller {
    host: Host,
    read: ReadHalf,
    write: WriteHalf,
    received: Vec<u8>,
    /// Commands that the other node sends by itself.
    commands: Requests,
    patience: Duration,
}

impl Caller {
    /// Connects; each answer has to come within the time that is given.
    pub(super) async fn connect(host: &Host, to: &str, port: u16, patience: Duration) -> io::Result<Caller> {
        let connecting = host.timeout(patience, host.connect(to, port)).await;
        let stream = connecting.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))??;
        let (read, write) = stream.into_split();
        Ok(Caller {
            host: host.clone(),
            read,
            write,
            received: Vec::new(),
            commands: Requests::default(),
            patience,
        })
    }

    /// Connects to another node of the cluster, with the password that nodes have for each other.
    pub(super) async fn to(server: &Server, host: &str, patience: Duration) -> io::Result<Caller> {
        let mut caller = Caller::connect(&server.host, host, PORT, patience).await?;
        let (user, password) = {
            let settings = &server.shared().node.replication.settings;
            (settings.user.clone(), settings.password.clone())
        };
        match (user.is_empty(), password.is_empty()) {
            (_, true) => {}
            (true, false) => drop(caller.ask(&[b"AUTH", &password]).await?),
            (false, false) => drop(caller.ask(&[b"AUTH", &user, &password]).await?),
        }
        Ok(caller)
    }

    /// Sends requests in their last form.
    pub(super) async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write.write_for(Origin::default(), bytes).await
    }

    /// The next reply.
    pub(super) async fn reply(&mut self) -> io::Result<Reply> {
        loop {
            if let Some((reply, len)) = Reply::decode(&self.received).map_err(io::Error::other)? {
                self.received.drain(..len);
                return Ok(reply);
            }
            self.read().await?;
        }
    }

    async fn read(&mut self) -> io::Result<()> {
        let reading = self.read.read_buf(&mut self.received);
        let read = self.host.timeout(self.patience, reading).await;
        match read.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    /// The next command that the other node sends by itself.
    pub(super) async fn command(&mut self) -> io::Result<Vec<Vec<u8>>> {
        loop {
            self.commands.room().append(&mut self.received);
            if let Some(request) = self.commands.take().map_err(io::Error::other)? {
                return Ok(request.args.iter().map(|arg| arg.to_vec()).collect());
            }
            self.read().await?;
        }
    }

    /// The reply to a request; an error reply is an error.
    pub(super) async fn ask(&mut self, words: &[&[u8]]) -> io::Result<Reply> {
        let mut bytes = Vec::new();
        resp::request(&mut bytes, words);
        self.send(&bytes).await?;
        match self.reply().await? {
            Reply::Error(text) => Err(io::Error::other(text)),
            reply => Ok(reply),
        }
    }
}
