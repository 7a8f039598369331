//! The connections between members: each one dials every other one to speak, and listens to those that dial it.
//!
//! *Source:* etcd's rafthttp, 3.4 and 3.6: a message for a member that cannot be reached is dropped, a connection that is silent for five
//! seconds is given up, and one that has nothing to say sends a sign of life three times in these five seconds.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use picklock_sim::host::{Host, Origin};
use picklock_sim::stream::Stream;
use tokio::io::AsyncReadExt as _;
use tokio::sync::mpsc;

use crate::bytes::unframed;
use crate::entry::MemberId;
use crate::message::Message;

/// A connection that is silent for so long is given up, unless the group has another span for it.
const SILENCE: Duration = Duration::from_secs(5);

/// How long a member waits before it dials again.
const DIALS_AGAIN: Duration = Duration::from_millis(100);

/// So many messages wait for a member; the others are dropped.
const MOST_WAITING: usize = 4096;

/// An empty message: a sign of life, which is read as nothing.
const SIGN_OF_LIFE: [u8; 4] = [0; 4];

/// A message on its way.
pub(super) struct Parcel {
    /// The message in whose service it is sent.
    pub(super) origin: Origin,
    pub(super) bytes: Vec<u8>,
}

pub(super) fn queue() -> (mpsc::Sender<Parcel>, mpsc::Receiver<Parcel>) {
    mpsc::channel(MOST_WAITING)
}

/// Sends messages to a member for as long as there are any, and waits for so long for a connection to it.
pub(super) async fn speak(
    host: Host,
    (patience, silence): (Duration, Option<Duration>),
    (member, address, port): (MemberId, String, u16),
    mut parcels: mpsc::Receiver<Parcel>,
    notify: Notify,
) {
    let sign_of_life = silence.unwrap_or(SILENCE) / 3;
    loop {
        if let Ok(Ok(stream)) = host.timeout(patience, host.connect(&address, port)).await {
            let _ = send_all(&host, stream, &mut parcels, sign_of_life).await;
            (notify.lose)(member);
        }
        // What was to be sent meanwhile has been sent to nobody.
        while parcels.try_recv().is_ok() {}
        host.sleep(DIALS_AGAIN).await;
    }
}

async fn send_all(
    host: &Host,
    stream: Stream,
    parcels: &mut mpsc::Receiver<Parcel>,
    sign_of_life: Duration,
) -> io::Result<()> {
    let (mut read, mut write) = stream.into_split();
    let mut nothing = Vec::new();
    loop {
        tokio::select! {
            biased;
            parcel = parcels.recv() => {
                let Some(Parcel { origin, mut bytes }) = parcel else { return Ok(()) };
                while let Ok(next) = parcels.try_recv() {
                    bytes.extend_from_slice(&next.bytes);
                }
                write.give_for(origin, bytes).await?;
            }
            len = read.read_buf(&mut nothing) => {
                if len? == 0 {
                    return Ok(());
                }
            }
            () = host.sleep(sign_of_life) => write.write_for(Origin::default(), &SIGN_OF_LIFE).await?,
        }
    }
}

/// What connections report to their member.
#[derive(Clone)]
pub(super) struct Notify {
    /// A message of another member, and the message of the trace that brought it.
    pub(super) take: Arc<dyn Fn(Origin, Message) + Send + Sync>,
    /// The connection with another member has ended.
    pub(super) lose: Arc<dyn Fn(MemberId) + Send + Sync>,
}

/// The last connection of each member that speaks to this one, by its number.
type Latest = Arc<Mutex<BTreeMap<MemberId, u64>>>;

/// Listens to all members.
pub(super) async fn listen(host: Host, port: u16, silence: Option<Duration>, notify: Notify) {
    // The port is free: a host runs one member, and this is its start.
    let Ok(listener) = host.bind(port).await else { return };
    let (latest, mut number) = (Latest::default(), 0);
    while let Ok((stream, _)) = listener.accept().await {
        let (own, notify, latest) = (host.clone(), notify.clone(), Arc::clone(&latest));
        number += 1;
        host.spawn(async move {
            let mut from = None;
            let said = |member: MemberId| {
                if from != Some(member) {
                    from = Some(member);
                    latest_of(&latest).insert(member, number);
                }
            };
            let _ = hear(&own, stream, silence.unwrap_or(SILENCE), &notify, said).await;
            // A member that has come back by another connection is not gone.
            if let Some(member) = from.filter(|member| latest_of(&latest).get(member) == Some(&number)) {
                (notify.lose)(member);
            }
        });
    }
}

fn latest_of(latest: &Latest) -> MutexGuard<'_, BTreeMap<MemberId, u64>> {
    latest.lock().expect("nothing panics while it holds the numbers")
}

async fn hear(
    host: &Host,
    mut stream: Stream,
    silence: Duration,
    notify: &Notify,
    mut said: impl FnMut(MemberId),
) -> io::Result<()> {
    let mut received = Vec::new();
    loop {
        let read = host.timeout(silence, stream.read_buf(&mut received)).await;
        let Ok(len) = read else { return Ok(()) };
        if len? == 0 {
            return Ok(());
        }
        let origin = stream.origin();
        while let Some(message) = unframed::<Message>(&mut received) {
            if let Some(message) = message {
                said(message.from);
                (notify.take)(origin, message);
            }
        }
    }
}
