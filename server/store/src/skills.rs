//! Skills and their versions. Same owner and bytes: the same version; new bytes: a new version of the same skill; another owner's
//! skill of the same name is another skill. A skill's newest version is the last one that was uploaded or on trial: what came only to be compared
//! with (an earlier version, a control, a distractor) stands behind those, however late it came.

use domain::finding::Finding;
use domain::hash::ContentHash;
use domain::id::{SkillId, SkillVersionId};
use domain::listing::VersionChoice;
use domain::skill::SkillPackage;
use domain::time::Timestamp;
use sqlx::{FromRow, SqliteConnection};

use crate::Store;
use crate::codec::{from_json, readable, to_hash, to_json, to_u32};
use crate::error::{Result, StoreError};

/// What a skill version is stored for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Its own sake: it was uploaded, or is to be on trial.
    Itself,
    /// To compare another with it.
    ToCompare,
}

/// What became of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PutOutcome {
    /// The skill it belongs to.
    pub skill: SkillId,
    /// Its version.
    pub version: SkillVersionId,
    /// Whether these bytes were new to the skill.
    pub was_new: bool,
}

/// A skill with its newest version.
#[derive(Debug, Clone, PartialEq)]
pub struct SkillRow {
    /// Its id.
    pub id: SkillId,
    /// Whose it is.
    pub owner: String,
    /// Unique for its owner.
    pub name: String,
    /// When it was first uploaded.
    pub created_at: Timestamp,
    /// Number of versions, at least 1.
    pub versions: u32,
    /// Number of evaluations that treat with any of its versions.
    pub evaluations: u32,
    /// The newest one.
    pub latest: SkillVersionRow,
}

/// A skill version.
#[derive(Debug, Clone, PartialEq)]
pub struct SkillVersionRow {
    /// Its id.
    pub id: SkillVersionId,
    /// The skill it is a version of.
    pub skill: SkillId,
    /// 1 for the skill's first version, 2 for its second, in the order in which they were stored.
    pub number: u32,
    /// Whether it came only to be compared with.
    pub only_compared: bool,
    /// Its address.
    pub hash: ContentHash,
    /// Manifest and files.
    pub package: SkillPackage,
    /// What its check said.
    pub findings: Vec<Finding>,
    /// When it was stored.
    pub created_at: Timestamp,
}

#[derive(FromRow)]
struct RawVersion {
    id: i64,
    skill_id: i64,
    number: i64,
    only_compared: bool,
    hash: String,
    manifest: String,
    tree: String,
    findings: String,
    created_at: i64,
}

impl TryFrom<RawVersion> for SkillVersionRow {
    type Error = StoreError;

    fn try_from(raw: RawVersion) -> Result<Self> {
        Ok(Self {
            id: SkillVersionId(raw.id),
            skill: SkillId(raw.skill_id),
            number: to_u32("skill_versions.number", raw.number)?,
            only_compared: raw.only_compared,
            hash: to_hash("skill_versions.hash", &raw.hash)?,
            package: SkillPackage {
                manifest: from_json("skill_versions.manifest", &raw.manifest)?,
                tree: from_json("skill_versions.tree", &raw.tree)?,
            },
            findings: from_json("skill_versions.findings", &raw.findings)?,
            created_at: Timestamp(raw.created_at),
        })
    }
}

#[derive(FromRow)]
struct RawSkill {
    owner: String,
    name: String,
    first_at: i64,
    versions: i64,
    evaluations: i64,
    #[sqlx(flatten)]
    latest: RawVersion,
}

impl TryFrom<RawSkill> for SkillRow {
    type Error = StoreError;

    fn try_from(raw: RawSkill) -> Result<Self> {
        Ok(Self {
            id: SkillId(raw.latest.skill_id),
            owner: raw.owner,
            name: raw.name,
            created_at: Timestamp(raw.first_at),
            versions: to_u32("skills.versions", raw.versions)?,
            evaluations: to_u32("skills.evaluations", raw.evaluations)?,
            latest: raw.latest.try_into()?,
        })
    }
}

macro_rules! select_versions {
    ($rest:literal) => {
        concat!(
            "SELECT v.id, v.skill_id, v.only_compared, v.hash, v.manifest, v.tree, v.findings, v.created_at, \
             (SELECT count(*) FROM skill_versions o WHERE o.skill_id = v.skill_id AND o.id <= v.id) AS number \
             FROM skill_versions v ",
            $rest
        )
    };
}

macro_rules! select_skills {
    ($rest:literal) => {
        concat!(
            "SELECT s.owner, s.name, s.created_at AS first_at, \
             v.id, v.skill_id, v.only_compared, v.hash, v.manifest, v.tree, v.findings, v.created_at, \
             (SELECT count(*) FROM skill_versions o WHERE o.skill_id = s.id) AS versions, \
             (SELECT count(*) FROM skill_versions o WHERE o.skill_id = s.id AND o.id <= v.id) AS number, \
             (SELECT count(DISTINCT u.evaluation_id) FROM evaluation_skills u \
              JOIN skill_versions o ON o.id = u.skill_version_id WHERE o.skill_id = s.id) AS evaluations \
             FROM skills s \
             JOIN skill_versions v ON v.id = (SELECT o.id FROM skill_versions o WHERE o.skill_id = s.id \
              ORDER BY o.only_compared, o.id DESC LIMIT 1) ",
            $rest
        )
    };
}

impl Store {
    /// Stores a checked skill under its owner; its name is the manifest's. The files must be in the blob store already. Findings of bytes
    /// that are known are brought up to date. A version that is new here, and came only to be compared with, is never the newest beside others.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::DiskFull`].
    pub async fn put_skill_version(
        &self,
        owner: &str,
        package: &SkillPackage,
        findings: &[Finding],
        wanted: Wanted,
        at: Timestamp,
    ) -> Result<PutOutcome> {
        let mut change = self.change().await?;
        let skill = put_skill(change.db(), owner, &package.manifest.name, at).await?;
        let (version, was_new) = put_version(change.db(), skill, package, findings, wanted, at).await?;
        change.commit().await?;
        Ok(PutOutcome { skill, version, was_new })
    }

    /// All skills by name, then owner, each with its newest version.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn skills(&self) -> Result<Vec<SkillRow>> {
        let rows: Vec<RawSkill> =
            sqlx::query_as(select_skills!("ORDER BY s.name, s.owner")).fetch_all(self.reader()).await?;
        Ok(readable("skill", rows, |raw| raw.latest.skill_id))
    }

    /// All versions of all skills by what people choose them by: skills in the order of [`Store::skills`], versions in that of
    /// [`Store::versions`].
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn version_choices(&self) -> Result<Vec<VersionChoice>> {
        let rows: Vec<(i64, String, String, i64, bool, bool)> = sqlx::query_as(
            "SELECT v.id, s.name, v.hash, row_number() OVER (PARTITION BY v.skill_id ORDER BY v.id), \
             v.id = first_value(v.id) OVER (PARTITION BY v.skill_id ORDER BY v.only_compared, v.id DESC), v.only_compared \
             FROM skill_versions v JOIN skills s ON s.id = v.skill_id ORDER BY s.name, s.owner, v.only_compared, v.id DESC",
        )
        .fetch_all(self.reader())
        .await?;
        let choice = |(id, name, hash, number, newest, only_compared): (i64, String, String, i64, bool, bool)| {
            Ok(VersionChoice {
                id: SkillVersionId(id),
                name,
                version: to_hash("skill_versions.hash", &hash)?,
                number: to_u32("skill_versions.number", number)?,
                newest,
                only_compared,
            })
        };
        rows.into_iter().map(choice).collect()
    }

    /// One skill with its newest version.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn skill(&self, id: SkillId) -> Result<SkillRow> {
        let row: Option<RawSkill> =
            sqlx::query_as(select_skills!("WHERE s.id = $1")).bind(id.0).fetch_optional(self.reader()).await?;
        row.ok_or_else(|| StoreError::not_found("skill", id))?.try_into()
    }

    /// The skill of that name and owner, if there is one.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn skill_named(&self, owner: &str, name: &str) -> Result<Option<SkillRow>> {
        let row: Option<RawSkill> = sqlx::query_as(select_skills!("WHERE s.owner = $1 AND s.name = $2"))
            .bind(owner)
            .bind(name)
            .fetch_optional(self.reader())
            .await?;
        row.map(TryInto::try_into).transpose()
    }

    /// One skill version.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn skill_version(&self, id: SkillVersionId) -> Result<SkillVersionRow> {
        let row: Option<RawVersion> =
            sqlx::query_as(select_versions!("WHERE v.id = $1")).bind(id.0).fetch_optional(self.reader()).await?;
        row.ok_or_else(|| StoreError::not_found("skill version", id))?.try_into()
    }

    /// The versions of a skill, newest first, those that came only to be compared with last; empty if there is no such skill.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn versions(&self, skill: SkillId) -> Result<Vec<SkillVersionRow>> {
        let rows: Vec<RawVersion> =
            sqlx::query_as(select_versions!("WHERE v.skill_id = $1 ORDER BY v.only_compared, v.id DESC"))
                .bind(skill.0)
                .fetch_all(self.reader())
                .await?;
        rows.into_iter().map(TryInto::try_into).collect()
    }
}

async fn put_skill(db: &mut SqliteConnection, owner: &str, name: &str, at: Timestamp) -> Result<SkillId> {
    // Nothing changes on conflict, but only a row that is updated is returned.
    let id = sqlx::query_scalar(
        "INSERT INTO skills (owner, name, created_at) VALUES ($1, $2, $3) \
         ON CONFLICT (owner, name) DO UPDATE SET name = excluded.name RETURNING id",
    )
    .bind(owner)
    .bind(name)
    .bind(at.0)
    .fetch_one(db)
    .await?;
    Ok(SkillId(id))
}

async fn put_version(
    db: &mut SqliteConnection,
    skill: SkillId,
    package: &SkillPackage,
    findings: &[Finding],
    wanted: Wanted,
    at: Timestamp,
) -> Result<(SkillVersionId, bool)> {
    let hash = package.version().to_hex();
    let findings = to_json("findings", findings)?;
    let only_compared = wanted == Wanted::ToCompare;
    let known: Option<i64> = sqlx::query_scalar(
        "UPDATE skill_versions SET findings = $3, only_compared = min(only_compared, $4) \
         WHERE skill_id = $1 AND hash = $2 RETURNING id",
    )
    .bind(skill.0)
    .bind(&hash)
    .bind(&findings)
    .bind(only_compared)
    .fetch_optional(&mut *db)
    .await?;
    if let Some(id) = known {
        return Ok((SkillVersionId(id), false));
    }
    let id = sqlx::query_scalar(
        "INSERT INTO skill_versions (skill_id, hash, manifest, tree, findings, created_at, only_compared) \
         VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id",
    )
    .bind(skill.0)
    .bind(hash)
    .bind(to_json("manifest", &package.manifest)?)
    .bind(to_json("tree", &package.tree)?)
    .bind(findings)
    .bind(at.0)
    .bind(only_compared)
    .fetch_one(db)
    .await?;
    Ok((SkillVersionId(id), true))
}
