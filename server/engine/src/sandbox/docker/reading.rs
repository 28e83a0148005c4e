//! What an engine sends, read by code that blocks, on a thread that is free again once nobody waits for it.

use std::io;

use bytes::Bytes;
use futures::Stream;
use tokio::sync::mpsc;
use tokio::task::JoinError;
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::io::{StreamReader, SyncIoBridge};
use tokio_util::task::AbortOnDropHandle;

/// Starts a sender by itself. It ends when the handle is dropped, and with it what is received.
pub(super) fn started<T, F>(send: impl FnOnce(mpsc::Sender<T>) -> F) -> (ReceiverStream<T>, AbortOnDropHandle<()>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let (chunks, received) = mpsc::channel(4);
    (ReceiverStream::new(received), AbortOnDropHandle::new(tokio::spawn(send(chunks))))
}

/// Reads what is sent. Where this is dropped, the reader meets the end of it: its thread cannot be aborted, and would hold up the end of
/// the program for as long as something comes.
///
/// # Errors
/// The reader panicked.
pub(super) async fn read<S, T>(
    sent: S,
    sending: AbortOnDropHandle<()>,
    reader: impl FnOnce(SyncIoBridge<StreamReader<S, Bytes>>) -> T + Send + 'static,
) -> Result<T, JoinError>
where
    S: Stream<Item = io::Result<Bytes>> + Send + Unpin + 'static,
    T: Send + 'static,
{
    let sent = SyncIoBridge::new(StreamReader::new(sent));
    let read = tokio::task::spawn_blocking(move || reader(sent)).await;
    drop(sending);
    read
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_reader_is_set_free_once_nobody_waits_for_it() {
        let (sent, sending) = started(|chunks| async move {
            chunks.send(Ok(Bytes::from_static(b"x"))).await.unwrap();
            std::future::pending::<()>().await;
        });
        let ((begin, begun), (end, ended)) = (oneshot::channel(), oneshot::channel());
        let reading = read(sent, sending, move |mut reader| {
            let mut byte = [0];
            reader.read_exact(&mut byte).unwrap();
            begin.send(()).unwrap();
            end.send(reader.read(&mut byte).unwrap()).unwrap();
        });
        tokio::select! {
            _ = reading => panic!("there is more to come"),
            begun = begun => begun.unwrap(),
        }
        assert_eq!(ended.await.unwrap(), 0);
    }
}
