//! One turn per key: of several who want to make the same thing, one does and the others find it made.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use super::progress::{BuildEvent, Progress};

/// Locks by key; a lock lives while somebody holds it or waits for it.
#[derive(Debug, Default)]
pub(super) struct Locks(Mutex<HashMap<String, Weak<AsyncMutex<()>>>>);

impl Locks {
    /// Waits for the turn; tells so when there is somebody before.
    pub async fn turn(&self, key: &str, progress: &dyn Progress) -> OwnedMutexGuard<()> {
        let lock = self.lock(key);
        match Arc::clone(&lock).try_lock_owned() {
            Ok(turn) => turn,
            Err(_) => {
                progress.event(BuildEvent::Waiting);
                lock.lock_owned().await
            }
        }
    }

    fn lock(&self, key: &str) -> Arc<AsyncMutex<()>> {
        let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        locks.retain(|_, lock| lock.strong_count() > 0);
        if let Some(lock) = locks.get(key).and_then(Weak::upgrade) {
            return lock;
        }
        let lock = Arc::default();
        locks.insert(key.to_owned(), Arc::downgrade(&lock));
        lock
    }
}
