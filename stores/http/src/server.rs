//! The server's end of a connection.

use std::future::Future;

use picklock_sim::host::Origin;
use picklock_sim::stream::{ReadHalf, Stream};
use tokio::io::AsyncReadExt as _;

use crate::codec::{read_request, written_response};
use crate::message::{Request, Response};

/// Answers the requests of one connection, one after another, until it ends. An answer that is under way is dropped when its client goes away.
pub async fn serve<F>(stream: Stream, answer: impl Fn(Request, Origin) -> F)
where
    F: Future<Output = Response>,
{
    let (mut reader, mut writer) = stream.into_split();
    let mut bytes = Vec::new();
    loop {
        let request = match next(&mut reader, &mut bytes).await {
            Ok(Some(request)) => request,
            // The client is gone.
            Ok(None) => return,
            Err(response) => {
                let origin = reader.origin();
                // It may be gone, too.
                let _ = writer.write_for(origin, &written_response(&response)).await;
                return;
            }
        };
        let origin = reader.origin();
        let closes = request.closes;
        let mut response = tokio::select! {
            biased;
            response = answer(request, origin) => response,
            () = leaves(&mut reader, &mut bytes) => return,
        };
        response.closes |= closes;
        if writer.write_for(origin, &written_response(&response)).await.is_err() || response.closes {
            return;
        }
    }
}

/// The next request; none once the client is gone.
async fn next(reader: &mut ReadHalf, bytes: &mut Vec<u8>) -> Result<Option<Request>, Response> {
    loop {
        match read_request(bytes) {
            Ok(Some((request, len))) => {
                bytes.drain(..len);
                return Ok(Some(request));
            }
            Ok(None) => {}
            Err(malformed) => {
                let response = Response::text(400, format!("400 Bad Request: {malformed}"));
                return Err(Response { closes: true, ..response });
            }
        }
        if !matches!(reader.read_buf(bytes).await, Ok(1..)) {
            return Ok(None);
        }
    }
}

/// More than this is not read ahead.
const AHEAD_MAX: usize = 1 << 20;

/// Waits until the client is gone. What it sends meanwhile is kept.
async fn leaves(reader: &mut ReadHalf, bytes: &mut Vec<u8>) {
    while bytes.len() < AHEAD_MAX {
        if !matches!(reader.read_buf(bytes).await, Ok(1..)) {
            return;
        }
    }
    std::future::pending().await
}
