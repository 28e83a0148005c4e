//! The leaderboard: views of it, their exports, a skill's rows and its badge.

use std::sync::Arc;
use std::time::Duration;

use domain::id::SkillId;
use domain::leaderboard::badge::{self, Badge};
use domain::leaderboard::{DataSet, LeaderboardPage, LeaderboardQuery, LeaderboardRow, Snapshot, published_rows};
use formats::export::{ExportFile, LeaderboardFormat, LeaderboardView, render_leaderboard};
use formats::results::published;

use crate::analyze::unusable;
use crate::export::{Export, refused};
use crate::{Ops, OpsError, Result};

/// How long a reader waits for evaluations that were just finished to be brought in; then the rows are shown without them, and it is said so.
const PATIENCE: Duration = Duration::from_millis(500);

/// Which of a skill's rows its badge shows; empty texts leave it open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BadgeChoice {
    /// Model name.
    pub model: String,
    /// Agent name.
    pub agent: String,
    /// Task set.
    pub set: String,
}

/// A badge as an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadgeImage {
    /// The SVG document.
    pub svg: String,
    /// Whether there is such a skill.
    pub known: bool,
}

/// A view of which every part is understood: a file with other rows than were asked for is worse than none.
///
/// # Errors
/// [`OpsError::Invalid`] with what is not understood.
pub fn leaderboard_view(query: &str) -> Result<LeaderboardQuery> {
    match LeaderboardQuery::not_understood(query).as_slice() {
        [] => Ok(LeaderboardQuery::parse(query)),
        wrong => Err(OpsError::invalid(format!(
            "the leaderboard has no such view: {}; copy the address of its page",
            wrong.join(", ")
        ))),
    }
}

impl Ops {
    /// One page of a view.
    ///
    /// # Errors
    /// Storage trouble.
    pub async fn leaderboard(&self, query: &LeaderboardQuery) -> Result<LeaderboardPage> {
        let (snapshot, waiting) = self.snapshot(query.data).await?;
        Ok(snapshot.page(query, waiting))
    }

    /// All rows of a view as a file.
    ///
    /// # Errors
    /// Storage trouble.
    pub async fn export_leaderboard(&self, query: &LeaderboardQuery, format: LeaderboardFormat) -> Result<Export> {
        let (snapshot, waiting) = self.snapshot(query.data).await?;
        let page = snapshot.page(query, waiting);
        let (rows, honest) = (snapshot.matching(query), page.counts.sentence());
        let view = LeaderboardView { query, honest: &honest, note: &page.note, rows: &rows };
        let bytes = render_leaderboard(format, &view).map_err(refused)?;
        Ok(Export {
            name: format.file().to_owned(),
            is_folder: false,
            media_type: format.media_type(),
            files: vec![ExportFile { path: format.file().to_owned(), bytes }],
            left_out: Vec::new(),
        })
    }

    /// The rows of any version of a skill: newest version first, then the one with most pairs.
    ///
    /// # Errors
    /// Storage trouble.
    pub async fn skill_rows(&self, skill: SkillId) -> Result<Vec<LeaderboardRow>> {
        Ok(self.snapshot(DataSet::Own).await?.0.of_skill(skill))
    }

    /// A skill's badge. Of several rows it shows the newest version's, and of those the one with most pairs: never the best. The numbers are those
    /// of the newest published snapshot; a row that is not in it has a grey badge, and so has a skill that is not here.
    ///
    /// # Errors
    /// Storage trouble.
    pub async fn badge(&self, skill: Option<SkillId>, choice: &BadgeChoice) -> Result<BadgeImage> {
        let found = match skill {
            Some(skill) => self.badge_words(skill, choice).await,
            None => Err(OpsError::NotFound { what: "skill", id: String::new() }),
        };
        match found {
            Ok(words) => Ok(BadgeImage { svg: charts::badge(&words), known: true }),
            Err(OpsError::NotFound { .. }) => Ok(BadgeImage { svg: charts::badge(&badge::unknown()), known: false }),
            Err(error) => Err(error),
        }
    }

    async fn badge_words(&self, skill: SkillId, choice: &BadgeChoice) -> Result<Badge> {
        let name = self.store.skill(skill).await?.name;
        let is = |asked: &str, found: Option<&str>| asked.is_empty() || found == Some(asked);
        let rows = self.skill_rows(skill).await?;
        let row = rows.iter().find(|row| {
            is(&choice.model, row.record.model.as_deref())
                && is(&choice.agent, Some(&row.record.agent.name))
                && is(&choice.set, Some(&row.record.task_set.name))
        });
        let Some(row) = row else { return Ok(badge::badge(&name, None)) };
        Ok(match self.published_row(&row.record.key).await? {
            Some((snapshot, published)) => badge::badge(&name, Some((&published, Some(snapshot)))),
            None => badge::badge(&name, Some((row, None))),
        })
    }

    /// Brings finished evaluations into their rows as they come, for ever, so that no reader waits for it.
    pub async fn keep_leaderboard(&self) {
        let mut finished = self.store.subscribe_finished();
        loop {
            finished.mark_unchanged();
            if let Err(error) = self.store.leaderboard().await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "the leaderboard could not be brought up to date"
                );
            }
            if finished.changed().await.is_err() {
                return;
            }
        }
    }

    async fn snapshot(&self, data: DataSet) -> Result<(Arc<Snapshot>, u32)> {
        match data {
            DataSet::Own => {}
            DataSet::Paper => return Ok((Arc::new(paper()?), 0)),
            DataSet::Snapshot(id) => return Ok((self.read_snapshot(id).await?, 0)),
        }
        match tokio::time::timeout(PATIENCE, self.store.leaderboard()).await {
            Ok(snapshot) => Ok((snapshot?, 0)),
            Err(_) => Ok(self.store.leaderboard_so_far().await?),
        }
    }
}

/// The paper's table as rows.
fn paper() -> Result<Snapshot> {
    let table = published::swe_skills_bench().map_err(|findings| unusable("the built-in table", findings))?;
    let zero = table.rows.iter().filter(|row| row.net() == 0).count();
    let note = format!(
        "{}, published by others: one task for each skill and one run of it in each arm, so none of the {} rows can be told from chance. \
         Δ is over the test cases of that run, as in the paper; it is 0 in {zero} rows.",
        table.name,
        table.rows.len(),
    );
    Ok(Snapshot::of(published_rows(&table), note))
}
