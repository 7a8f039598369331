//! Making connections: the client's connect and the server's bind, on either engine.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::AsyncWriteExt as _;

use super::host::Host;
use super::sockets::{Dialing, SocketListener, SocketReader, SocketWriter};
use super::stream::{Listener, Stream, broken};
use crate::world::{Admission, Direction, Listening, Route, Side, Visit, WAY_OUT};
use picklock_model::ids::{ConnId, HostId};
use picklock_model::trace::Disconnect;

/// The longest name of a real host, in bytes (RFC 1035).
const HOST_NAME_MAX: usize = 255;

impl Host {
    /// Connects to a port of another host.
    ///
    /// # Errors
    /// When nobody listens there, the host is unknown or is this one, or the connection breaks meanwhile. There is no
    /// timeout but TCP's own: wrap it in [`timeout`](Host::timeout).
    pub async fn connect(&self, peer: &str, port: u16) -> io::Result<Stream> {
        match self.world.route(peer, port) {
            Some(Route::Host(target, port)) if target != self.id => Connect::new(self, target, port).await,
            Some(Route::Out(outside)) if peer.len() <= HOST_NAME_MAX => {
                let mut stream = Connect::new(self, outside, WAY_OUT).await?;
                stream.write_all(format!("{peer}:{port}\n").as_bytes()).await?;
                Ok(stream)
            }
            Some(Route::Host(..) | Route::Out(_)) | None => {
                Err(io::Error::new(io::ErrorKind::NotFound, format!("no other host is named `{peer}`")))
            }
        }
    }

    /// In a served world: clients come to this port of the host through another real port from now on.
    ///
    /// # Errors
    /// When that port is taken, or no real client comes to this one.
    pub fn move_door(&self, port: u16, to: u16) -> io::Result<()> {
        self.world.move_door(self.id, port, to)
    }

    /// Listens on a port.
    ///
    /// # Errors
    /// When this process already listens there.
    pub async fn bind(&self, port: u16) -> io::Result<Listener> {
        super::connect::bind(self, port).await
    }
}

/// A connect under way.
pub(crate) struct Connect<'a> {
    host: &'a Host,
    target: HostId,
    port: u16,
    /// The connection, once its first segment is sent.
    conn: Option<ConnId>,
    /// In the turmoil engine, the socket that connects beside the model.
    dialing: Option<Dialing>,
    sockets: Option<(SocketReader, SocketWriter)>,
    /// The real client in whose name this is done.
    client: Option<Box<Visit>>,
}

impl<'a> Connect<'a> {
    pub(crate) fn new(host: &'a Host, target: HostId, port: u16) -> Connect<'a> {
        Connect { host, target, port, conn: None, dialing: None, sockets: None, client: None }
    }

    /// The same in the name of a real client that came in through this door.
    pub(crate) fn for_client(mut self, client: String, door: String) -> Connect<'a> {
        self.client = Some(Box::new(Visit { client, door }));
        self
    }

    fn side(conn: ConnId) -> Side {
        Side { conn, sends: Direction::Out }
    }
}

impl Future for Connect<'_> {
    type Output = io::Result<Stream>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<Stream>> {
        let this = self.get_mut();
        let mut state = this.host.world.state();
        if state.gate(this.host.id(), cx.waker()) == Admission::Wait {
            return Poll::Pending;
        }
        let conn = *this.conn.get_or_insert_with(|| {
            let conn = state.open(this.host.id(), this.target, this.port);
            state.network.conn_mut(conn).client = this.client.take();
            if let Some(directory) = this.host.spawner.sockets() {
                let target = &this.host.world.hosts()[usize::from(this.target.0)].name;
                directory.dialed(this.host.id(), this.target, conn);
                this.dialing = Some(Dialing::new(target, this.port));
            }
            conn
        });
        if let Some(dialing) = &mut this.dialing {
            drop(state);
            if let Poll::Ready(outcome) = dialing.poll(cx) {
                this.sockets = outcome.ok();
                this.dialing = None;
            }
            state = this.host.world.state();
        }
        let visits = state.network.conn(conn).client.is_some();
        let end = state.network.end(Self::side(conn));
        // A real client may read what was said before it was turned away, in the same instant.
        let turned_away = visits && end.established && end.ended == Some(Disconnect::Closed);
        if let Some(why) = end.ended.filter(|_| !turned_away) {
            return Poll::Ready(Err(broken(why)));
        }
        if !end.established || this.dialing.is_some() {
            end.reader.wait(cx.waker());
            return Poll::Pending;
        }
        drop(state);
        // From here on the stream closes the connection when it is dropped.
        this.conn = None;
        Poll::Ready(Ok(Stream::new(this.host, Self::side(conn), this.sockets.take())))
    }
}

impl Drop for Connect<'_> {
    fn drop(&mut self) {
        if let Some(conn) = self.conn {
            self.host.world.tidy(|state| state.close(Self::side(conn)));
        }
    }
}

pub(crate) async fn bind(host: &Host, port: u16) -> io::Result<Listener> {
    // A process that died within this step binds nothing any more: it would take the port from the one that is started anew.
    poll_fn(|cx| {
        let mut state = host.world.state();
        if state.gate(host.id(), cx.waker()) == Admission::Wait {
            return Poll::Pending;
        }
        let place = (host.id(), port);
        if state.network.listening.contains_key(&place) {
            return Poll::Ready(Err(io::Error::from(io::ErrorKind::AddrInUse)));
        }
        state.network.listening.insert(place, Listening::default());
        Poll::Ready(Ok(()))
    })
    .await?;
    let socket = match host.spawner.sockets() {
        Some(directory) => Some(SocketListener::bind(port, directory).await?),
        None => None,
    };
    Ok(Listener::new(host.clone(), port, socket))
}
