//! How much there is of each noun that people make.

use crate::Store;
use crate::codec::to_u32;
use crate::error::Result;

/// Numbers of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Skills of all owners.
    pub skills: u32,
    /// Task versions.
    pub tasks: u32,
    /// Evaluations that compare without and with a skill; no audits.
    pub evaluations: u32,
}

impl Store {
    /// Counts them.
    ///
    /// # Errors
    /// [`crate::StoreError::Busy`].
    pub async fn counts(&self) -> Result<Counts> {
        let (skills, tasks, evaluations): (i64, i64, i64) = sqlx::query_as(
            "SELECT (SELECT count(*) FROM skills), (SELECT count(*) FROM tasks), \
             (SELECT count(*) FROM evaluations WHERE kind = 'evaluation')",
        )
        .fetch_one(self.reader())
        .await?;
        Ok(Counts {
            skills: to_u32("skills", skills)?,
            tasks: to_u32("tasks", tasks)?,
            evaluations: to_u32("evaluations", evaluations)?,
        })
    }
}
