//! The connections of one program, and the ports that it listens on: what they are in its world.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::pin::Pin;
use std::time::Duration;

use picklock_sim::driver::HostDriver;
use picklock_sim::host::Host;
use picklock_sim::stream::{ReadHalf, Stream, WriteHalf};
use picklock_sim::task::Task;
use picklock_supervisor::{ConnectError, Ending, Group, SocketId};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc::UnboundedSender;

use crate::event::HostEvent;
use crate::network;
use crate::within::Within;

/// How many bytes of a connection are handed over at once.
const CHUNK: usize = 64 << 10;

/// The port from which connections come.
const EPHEMERAL: u16 = 40_000;

pub(crate) struct Connections {
    host: Host,
    names: Vec<String>,
    sockets: BTreeMap<SocketId, Socket>,
    /// The doors that take connections, by the sockets that listen.
    doors: BTreeMap<SocketId, Door>,
    within: Within,
    /// The queue to which events are delivered.
    events: UnboundedSender<HostEvent>,
}

/// An open port. Its task ends with it.
struct Door {
    port: u16,
    task: Task,
}

impl Drop for Door {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A connection to another host. Its tasks end with it.
struct Socket {
    write: Option<WriteHalf>,
    task: Task,
}

impl Drop for Socket {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Connections {
    /// Of the program on this host, which has none yet.
    pub(crate) fn new(host: &Host, events: UnboundedSender<HostEvent>) -> Connections {
        Connections {
            host: host.clone(),
            names: HostDriver::of(host).host_names(),
            sockets: BTreeMap::new(),
            doors: BTreeMap::new(),
            within: Within::default(),
            events,
        }
    }

    /// True if nothing can come from another host.
    pub(crate) fn is_empty(&self) -> bool {
        self.sockets.is_empty()
    }

    /// The program wants a connection to this address.
    pub(crate) fn connect(&mut self, group: &mut Group, socket: SocketId, to: SocketAddrV4) {
        let name = network::place(*to.ip()).and_then(|place| self.names.get(place)).cloned();
        if name == Some(self.host.name()) || to.ip().is_loopback() || to.ip().is_unspecified() {
            return self.connect_within(group, socket, to.port());
        }
        let (host, events) = (self.host.clone(), self.events.clone());
        let task = self.host.spawn(async move {
            let outcome = match name {
                Some(name) => {
                    host.connect(&name, to.port()).await.map_err(|error| network::refusal(error.kind()))
                }
                None => Err(ConnectError::Unreachable),
            };
            // The program may be gone.
            let _ = events.send(HostEvent::Connected(socket, outcome));
        });
        self.sockets.insert(socket, Socket { write: None, task });
    }

    /// A connection of the program to a port of its own.
    fn connect_within(&mut self, group: &mut Group, socket: SocketId, port: u16) {
        let listener = self.doors.iter().find(|(_, door)| door.port == port).map(|(listener, _)| *listener);
        let from = SocketAddrV4::new(Ipv4Addr::LOCALHOST, EPHEMERAL);
        let Some(other) = listener.and_then(|listener| group.accept(listener, from)) else {
            return group.connected(socket, Err(ConnectError::Refused));
        };
        self.within.join(socket, other);
        group.connected(socket, Ok(()));
    }

    /// A connect of the program has come to its end.
    pub(crate) fn connected(
        &mut self,
        group: &mut Group,
        socket: SocketId,
        outcome: Result<Stream, ConnectError>,
    ) {
        let outcome = match outcome {
            Ok(stream) => {
                self.join(socket, stream);
                Ok(())
            }
            Err(why) => {
                self.sockets.remove(&socket);
                Err(why)
            }
        };
        group.connected(socket, outcome);
    }

    /// Opens a port of the host.
    pub(crate) fn listen(&mut self, listener: SocketId, port: u16) {
        let (host, names, events) = (self.host.clone(), self.names.clone(), self.events.clone());
        let task = self.host.spawn(async move {
            let Ok(door) = host.bind(port).await else { return };
            while let Ok((stream, from)) = door.accept().await {
                let from = names.iter().position(|name| *name == from).unwrap_or_default();
                if events.send(HostEvent::Accepted(listener, stream, from)).is_err() {
                    return;
                }
            }
        });
        self.doors.insert(listener, Door { port, task });
    }

    /// Another host has connected to a port.
    pub(crate) fn accepted(&mut self, group: &mut Group, listener: SocketId, stream: Stream, from: usize) {
        // Nobody distinguishes ports: any will do.
        let from = SocketAddrV4::new(network::address(from), EPHEMERAL);
        if let Some(id) = group.accept(listener, from) {
            self.join(id, stream);
        }
    }

    fn join(&mut self, id: SocketId, stream: Stream) {
        let (read, write) = stream.into_split();
        let task = self.host.spawn(hand_over(id, read, self.events.clone()));
        self.sockets.insert(id, Socket { write: Some(write), task });
    }

    /// The program has set `TCP_USER_TIMEOUT` of a connection.
    pub(crate) fn set_user_timeout(&self, socket: SocketId, timeout: Option<Duration>) {
        let write = self.sockets.get(&socket).and_then(|socket| socket.write.as_ref());
        if let Some(write) = write {
            write.set_user_timeout(timeout);
        }
    }

    /// The program has sent these bytes.
    pub(crate) async fn send(&mut self, group: &mut Group, socket: SocketId, bytes: &[u8]) {
        if let Some(other) = self.within.other(socket) {
            return group.deliver(other, bytes);
        }
        let write = self.sockets.get_mut(&socket).and_then(|socket| socket.write.as_mut());
        if let Some(write) = write {
            // The reader of the connection learns that it is broken.
            let _ = write.write_all(bytes).await;
        }
    }

    /// The program sends no more.
    pub(crate) async fn shut(&mut self, group: &mut Group, socket: SocketId) {
        if let Some(other) = self.within.other(socket) {
            return group.closed(other, Ending::Eof);
        }
        let write = self.sockets.get_mut(&socket).and_then(|socket| socket.write.take());
        if let Some(mut write) = write {
            let _ = write.shutdown().await;
        }
    }

    /// The program has closed a connection or a port.
    pub(crate) fn close(&mut self, group: &mut Group, socket: SocketId) {
        if let Some(other) = self.within.close(socket) {
            group.closed(other, Ending::Eof);
        }
        self.sockets.remove(&socket);
        self.doors.remove(&socket);
    }
}

/// Hands over what arrives on a connection.
async fn hand_over(id: SocketId, mut read: ReadHalf, events: UnboundedSender<HostEvent>) {
    let mut room = vec![0; CHUNK];
    loop {
        let came = match Pin::new(&mut read).read(&mut room).await {
            Ok(0) => HostEvent::Ended(id, Ending::Eof),
            Ok(len) => HostEvent::Came(id, room[..len].to_vec()),
            Err(_) => HostEvent::Ended(id, Ending::Reset),
        };
        let over = matches!(came, HostEvent::Ended(..));
        if events.send(came).is_err() || over {
            return;
        }
    }
}
