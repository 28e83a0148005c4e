//! Pooling: finished evaluations that are in no row yet are put into the row of their key, which is made anew from all the trials of all its
//! evaluations. Each row is one transaction; what is interrupted goes on the next time.

use std::collections::{BTreeMap, BTreeSet};

use domain::analysis::pool::{Member, PoolKey, TaskSetKey, pool};
use domain::id::{EvaluationId, SkillId};
use domain::leaderboard::{Attestation, Names, RowRecord, RowSkill, record};
use domain::plan::{EvaluationPlan, SkillRef, Treatment};
use domain::report::TrialRecord;
use domain::unlisted::Unlisted;
use sqlx::FromRow;

use super::rows::Waiting;
use crate::codec::{from_json, to_json, to_u32};
use crate::error::{Result, among_others};
use crate::{EvaluationRow, Store};

/// Evaluations that are looked at together.
const BATCH: u32 = 200;

/// The row that an evaluation belongs to.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// That of its key.
    Pooled(String),
    /// One of its own, since nobody here saw the runs.
    Alone(EvaluationId),
    /// None, for a reason that its result tells ([`Unlisted`]).
    Nowhere,
}

impl Place {
    fn of(waiting: &Waiting) -> Result<Self> {
        let plan: EvaluationPlan = from_json("evaluations.plan", &waiting.plan)?;
        Ok(match (Unlisted::of(&plan), waiting.is_imported) {
            (Some(_), _) => Self::Nowhere,
            (None, true) => Self::Alone(EvaluationId(waiting.id)),
            (None, false) => Self::Pooled(PoolKey::of(&plan).address().to_hex()),
        })
    }
}

#[derive(FromRow)]
struct RawSkill {
    skill_id: i64,
    owner: String,
    number: i64,
}

impl Store {
    /// Puts all finished evaluations into their rows.
    pub(super) async fn pool_finished(&self) -> Result<()> {
        loop {
            let waiting = self.first_waiting(BATCH).await?;
            if waiting.is_empty() {
                return Ok(());
            }
            let mut places: BTreeMap<Place, BTreeSet<EvaluationId>> = BTreeMap::new();
            let mut unread = Vec::new();
            for one in &waiting {
                let id = EvaluationId(one.id);
                match among_others(id, Place::of(one))? {
                    Some(place) => drop(places.entry(place).or_default().insert(id)),
                    None => unread.push(id),
                }
            }
            self.leave_out_unread(&unread).await?;
            for (place, evaluations) in places {
                self.fill(place, evaluations).await?;
            }
        }
    }

    async fn fill(&self, place: Place, mut evaluations: BTreeSet<EvaluationId>) -> Result<()> {
        let key = match place {
            Place::Nowhere => return self.leave_out(&Vec::from_iter(evaluations)).await,
            Place::Alone(id) => format!("imported-{id}"),
            Place::Pooled(key) => {
                evaluations.extend(self.members_of(&key).await?);
                key
            }
        };
        let mut members: Vec<(EvaluationRow, Vec<TrialRecord>)> = Vec::with_capacity(evaluations.len());
        let mut unread = Vec::new();
        for id in evaluations {
            match among_others(id, self.member(id).await)? {
                Some(Some(member)) => members.push(member),
                // One that was removed since leaves the others to be looked at again.
                Some(None) => return Ok(()),
                None => unread.push(id),
            }
        }
        self.leave_out_unread(&unread).await?;
        let Some(record) = self.record_of(&key, &members).await? else { return self.drop_row(&key).await };
        let members: Vec<EvaluationId> = members.iter().map(|(row, _)| row.id).collect();
        self.put_row(&key, &members, &record).await?;
        Ok(())
    }

    async fn member(&self, id: EvaluationId) -> Result<Option<(EvaluationRow, Vec<TrialRecord>)>> {
        let Some(row) = self.evaluation_if_there(id).await? else { return Ok(None) };
        let trials = self.records(&row).await?;
        Ok(Some((row, trials)))
    }

    async fn record_of(&self, key: &str, members: &[(EvaluationRow, Vec<TrialRecord>)]) -> Result<Option<RowRecord>> {
        let Some((newest, _)) = members.last() else { return Ok(None) };
        let given: Vec<Member<'_>> = members
            .iter()
            .map(|(row, trials)| {
                let (plan, stopped) = (&row.plan, row.stopped.as_ref());
                Member { id: row.id, created_at: row.created_at, plan, trials, stopped }
            })
            .collect();
        let pooled = pool(PoolKey::of(&newest.plan), &given);
        let attestation = match &newest.imported {
            Some(imported) => Attestation::Imported { sentence: imported.sentence() },
            None => Attestation::own(pooled.key.demonstration()),
        };
        let names = self.names(newest, members, &pooled.key.task_set).await?;
        Ok(Some(record(key.to_owned(), &pooled, &given, attestation, names)))
    }

    async fn names(
        &self,
        newest: &EvaluationRow,
        members: &[(EvaluationRow, Vec<TrialRecord>)],
        set: &TaskSetKey,
    ) -> Result<Names> {
        let mut skills = Vec::new();
        if let Treatment::Skills { versions } = &newest.plan.treatment {
            for version in versions {
                skills.push(self.row_skill(version).await?);
            }
        }
        let tasks: BTreeSet<i64> =
            members.iter().flat_map(|(row, _)| &row.plan.tasks).map(|task| task.id.0).filter(|id| *id > 0).collect();
        let categories: Vec<Option<String>> = sqlx::query_scalar(
            "SELECT DISTINCT t.spec ->> '$.metadata.category' FROM json_each($1) m JOIN tasks t ON t.id = m.value",
        )
        .bind(to_json("tasks", &tasks)?)
        .fetch_all(self.reader())
        .await?;
        let set_tasks = match set {
            TaskSetKey::Named { name } => {
                self.task_sets().await?.into_iter().find(|set| set.name == *name).map(|set| set.tasks)
            }
            TaskSetKey::Listed { .. } => None,
        };
        Ok(Names { skills, categories, set_tasks })
    }

    /// Ids in plans of others name no row here.
    async fn row_skill(&self, version: &SkillRef) -> Result<RowSkill> {
        let known: Option<RawSkill> = sqlx::query_as(
            "SELECT v.skill_id, s.owner, \
             (SELECT count(*) FROM skill_versions o WHERE o.skill_id = v.skill_id AND o.id <= v.id) AS number \
             FROM skill_versions v JOIN skills s ON s.id = v.skill_id WHERE v.id = $1",
        )
        .bind(version.id.0)
        .fetch_optional(self.reader())
        .await?;
        Ok(RowSkill {
            name: version.name.clone(),
            owner: known.as_ref().map(|known| known.owner.clone()),
            skill: known.as_ref().map(|known| SkillId(known.skill_id)),
            version: version.version.known(),
            number: known.map(|known| to_u32("skill_versions.number", known.number)).transpose()?,
        })
    }
}
