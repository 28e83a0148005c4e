//! What monitors ask of the store. They ask often, so nothing is counted.

use crate::Store;
use crate::error::Result;

/// The store at a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Health {
    /// Reading connections in use, this one not counted.
    pub readers_in_use: u32,
    /// Reading connections there may be.
    pub readers: u32,
}

impl Store {
    /// Whether the database answers.
    ///
    /// # Errors
    /// [`crate::StoreError::Busy`] if pages have used up the readers; [`crate::StoreError::DatabaseDamaged`].
    pub async fn health(&self) -> Result<Health> {
        let (readers_in_use, readers) = self.inner.pools.readers_in_use();
        // Reads the first row of a table, where one is: an answer without the file would say nothing.
        sqlx::query("SELECT EXISTS (SELECT 1 FROM evaluations)").execute(self.reader()).await?;
        Ok(Health { readers_in_use, readers })
    }
}
