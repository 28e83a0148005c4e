//! What live pages alone need goes once its evaluation is finished: else each line of each log lies in the database for ever, beside the file.

use crate::Store;
use crate::codec::to_json;
use crate::error::Result;

/// Events that one transaction removes.
const AT_ONCE: u32 = 500;

impl Store {
    /// Removes the log and step events of finished evaluations, in short transactions; answers how many. Those of an attempt that left no
    /// result stay: they are all that is known of it. Of what an attempt told of its spending the last word stays, unless its result counts all of
    /// it.
    ///
    /// # Errors
    /// [`crate::StoreError::Busy`], [`crate::StoreError::DiskFull`]: what was removed before stays removed.
    pub async fn prune_events(&self) -> Result<u64> {
        let (mut after, mut removed) = (0, 0);
        loop {
            let found: Vec<i64> = sqlx::query_scalar(
                "SELECT e.id FROM events e JOIN evaluations v ON v.id = e.evaluation_id JOIN attempts a ON a.id = e.attempt_id \
                 WHERE e.id > $1 AND v.finished_at IS NOT NULL AND (e.kind IN ('log', 'step_done') AND a.result IS NOT NULL \
                 OR e.kind = 'spent' AND (EXISTS (SELECT 1 FROM events l WHERE l.attempt_id = a.id AND l.id > e.id AND l.kind = 'spent') \
                 OR a.tokens_input + a.tokens_cache_read + a.tokens_cache_write + a.tokens_output IS NOT NULL \
                 AND a.result ->> '$.cost' IS NOT NULL AND a.result ->> '$.model_calls' IS NOT NULL \
                 AND e.body ->> '$.spent.uncounted' = 0)) \
                 ORDER BY e.id LIMIT $2",
            )
            .bind(after)
            .bind(AT_ONCE)
            .fetch_all(self.reader())
            .await?;
            let Some(last) = found.last() else { return Ok(removed) };
            after = *last;
            let mut change = self.change().await?;
            let done = sqlx::query("DELETE FROM events WHERE id IN (SELECT value FROM json_each($1))")
                .bind(to_json("events", &found)?)
                .execute(change.db())
                .await?;
            change.commit().await?;
            removed += done.rows_affected();
        }
    }
}
