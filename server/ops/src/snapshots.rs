//! Publishing the leaderboard as it stands, and reading what was published.

use std::sync::Arc;

use domain::id::SnapshotId;
use domain::leaderboard::{LeaderboardRow, PublishedSnapshot, Snapshot};
use formats::export::ExportFile;
use tokio::sync::Mutex;

use crate::export::Export;
use crate::{Ops, OpsError, Result, blocking};

/// The snapshot that was read last: a published one never changes, and readers turn its pages.
pub(crate) type LastRead = Arc<Mutex<Option<(SnapshotId, Arc<Snapshot>)>>>;

impl Ops {
    /// Publishes the leaderboard with every finished evaluation in it. The same rows are not published twice: then the answer is the earlier
    /// snapshot, and that it is not new.
    ///
    /// # Errors
    /// [`OpsError::Invalid`] while there is no row; storage trouble.
    pub async fn publish_leaderboard(&self) -> Result<(PublishedSnapshot, bool)> {
        let snapshot = self.store.leaderboard().await?;
        let rows = u32::try_from(snapshot.rows().len()).unwrap_or(u32::MAX);
        if rows == 0 {
            return Err(OpsError::invalid(
                "there is no row to publish: the leaderboard has none until an evaluation is finished",
            ));
        }
        let bytes = blocking(move || formats::snapshot::write(snapshot.rows())).await?;
        let bytes =
            bytes.map_err(|error| OpsError::internal("the rows could not be written; the log tells more", &error))?;
        let document = self.store.blobs().put(bytes).await?;
        let (published, is_new) = self.store.put_snapshot(document.hash, rows, self.now()).await?;
        if is_new {
            tracing::info!(snapshot = published.id.0, hash = %published.hash, rows, "published the leaderboard");
        }
        Ok((published, is_new))
    }

    /// All published snapshots, newest first.
    ///
    /// # Errors
    /// Storage trouble.
    pub async fn published_snapshots(&self) -> Result<Vec<PublishedSnapshot>> {
        Ok(self.store.snapshots().await?)
    }

    /// A published snapshot's document, byte for byte.
    ///
    /// # Errors
    /// [`OpsError::NotFound`], or storage trouble, also where the bytes are not those that its hash names.
    pub async fn snapshot_document(&self, id: SnapshotId) -> Result<Export> {
        let published = self.store.snapshot(id).await?;
        let bytes = self.store.blobs().get(published.hash).await?;
        let name = format!("skilldelta-snapshot-{id}.json");
        Ok(Export {
            name: name.clone(),
            is_folder: false,
            media_type: "application/json",
            files: vec![ExportFile { path: name, bytes }],
            left_out: Vec::new(),
        })
    }

    /// A published snapshot, ready to be viewed.
    pub(crate) async fn read_snapshot(&self, id: SnapshotId) -> Result<Arc<Snapshot>> {
        // One reader at a time: a large document takes memory while it is read.
        let mut last = self.last_read.lock().await;
        if let Some((_, snapshot)) = last.as_ref().filter(|(read, _)| *read == id) {
            return Ok(Arc::clone(snapshot));
        }
        let published = self.store.snapshot(id).await?;
        let bytes = self.store.blobs().get(published.hash).await?;
        let rows = blocking(move || formats::snapshot::read(&bytes)).await?;
        let rows = rows.map_err(|error| {
            let message =
                format!("the published snapshot {id} cannot be read ({error}); a newer program may have written it");
            OpsError::internal(message, &error)
        })?;
        let snapshot = Arc::new(blocking(move || Snapshot::published(rows, String::new())).await?);
        *last = Some((id, Arc::clone(&snapshot)));
        Ok(snapshot)
    }

    /// The newest published snapshot with the row of that key in it; `None` where nothing was published, or not that row.
    ///
    /// # Errors
    /// Storage trouble.
    pub async fn published_row(&self, key: &str) -> Result<Option<(PublishedSnapshot, LeaderboardRow)>> {
        let Some(newest) = self.store.snapshots().await?.into_iter().next() else { return Ok(None) };
        let snapshot = self.read_snapshot(newest.id).await?;
        let row = snapshot.rows().iter().find(|row| row.record.key == key);
        Ok(row.map(|row| (newest, row.clone())))
    }
}

#[cfg(test)]
mod tests {
    use domain::time::Timestamp;
    use store::Store;

    use super::*;

    #[tokio::test]
    async fn a_published_snapshot_that_cannot_be_read_is_no_fault_of_who_asked() {
        let store = Store::temp().await.unwrap();
        let ops = Ops::new(store.clone(), Arc::new(|| Timestamp(1)), crate::OpsConfig::default());
        let document = b"{\"schema\":\"skilldelta.snapshot.v9\",\"rows\":[]}".to_vec();
        let document = store.blobs().put(document).await.unwrap();
        store.put_snapshot(document.hash, 1, Timestamp(1)).await.unwrap();
        let fault = ops.published_row("key").await.unwrap_err();
        assert!(
            matches!(&fault, OpsError::Internal { message } if message.contains("published snapshot")),
            "{fault:?}"
        );
    }
}
