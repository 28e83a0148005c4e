//! Skills: upload, list, look at.

use std::path::PathBuf;

use domain::finding::Finding;
use domain::id::SkillId;
use domain::listing::{
    AcceptedSkill, FindingCounts, Refused, SkillDetail, SkillIntake, SkillListing, SkillVersionDetail, VersionChoice,
};
use domain::repository::SkillSource;
use formats::skill::{Intake, IntakeLimits, IntakeRefusal, LoadedSkill, SKILL_MD};
use store::{SkillRow, SkillVersionRow, StoreError, Wanted};

use crate::{Ops, OpsError, Result, blocking};

/// Longest `SKILL.md` that a page shows, in bytes.
const SHOWN_BYTES: usize = 256 << 10;

/// Skills as a person hands them over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Upload {
    /// One file: an archive (`.zip`, `.skill`) or a `SKILL.md`.
    Zip {
        /// As the person calls it.
        name: String,
        /// Its content.
        bytes: Vec<u8>,
    },
    /// Several files with their paths, such as a folder picked in a browser.
    Files(Vec<(String, Vec<u8>)>),
    /// Something on this machine's disk: a folder, an archive or a `SKILL.md`. For the command line only.
    Path(PathBuf),
    /// A git repository, or a part of it, at a commit.
    Repository(SkillSource),
}

impl Upload {
    fn name(&self) -> String {
        match self {
            Self::Zip { name, .. } => name.clone(),
            Self::Files(_) => "upload".to_owned(),
            Self::Path(path) => path.display().to_string(),
            Self::Repository(source) => source.to_string(),
        }
    }
}

impl Ops {
    /// Checks an upload and stores every skill in it that is good. Nothing is dropped in silence: what is refused is in the answer.
    ///
    /// # Errors
    /// [`OpsError::TooLarge`], or [`OpsError::Invalid`] where the upload as a whole is refused; nothing of it was kept then.
    pub async fn upload_skills(&self, owner: &str, upload: Upload) -> Result<SkillIntake> {
        self.take_skills(owner, upload, Wanted::Itself).await
    }

    /// The same for skills that may be wanted only to compare others with: a version that is new here does not become its skill's newest then.
    ///
    /// # Errors
    /// As [`Ops::upload_skills`].
    pub async fn take_skills(&self, owner: &str, upload: Upload, wanted: Wanted) -> Result<SkillIntake> {
        let intake = self.read_upload(upload).await?;
        let mut answer = SkillIntake {
            refused: intake
                .refused
                .into_iter()
                .map(|skill| Refused { path: skill.path, findings: skill.findings })
                .collect(),
            left_out: intake.left_out,
            findings: intake.findings,
            accepted: Vec::new(),
        };
        for skill in intake.skills {
            answer.accepted.push(self.put_skill(owner, skill, wanted).await?);
        }
        Ok(answer)
    }

    /// Checks an upload without storing anything.
    ///
    /// # Errors
    /// As [`Ops::upload_skills`].
    pub async fn read_upload(&self, upload: Upload) -> Result<Intake> {
        let limits = IntakeLimits { max_upload_bytes: self.config.upload_limit, ..IntakeLimits::default() };
        let name = upload.name();
        let read = match upload {
            Upload::Zip { name, bytes } => blocking(move || formats::skill::read_upload(bytes, &name, &limits)).await?,
            Upload::Files(files) => blocking(move || formats::skill::read_files(files, &limits)).await?,
            Upload::Path(path) => blocking(move || formats::skill::read_path(&path, &limits)).await?,
            Upload::Repository(source) => return self.fetched_skills(&source, limits).await,
        };
        read.map_err(|refusal| self.refused(&refusal, &name))
    }

    fn refused(&self, refusal: &IntakeRefusal, name: &str) -> OpsError {
        if matches!(refusal, IntakeRefusal::UploadTooLarge { .. }) {
            return OpsError::TooLarge { limit_mb: self.config.upload_limit >> 20 };
        }
        let finding = refusal.finding(name);
        OpsError::Invalid { message: format!("the upload was refused: {}", finding.message), findings: vec![finding] }
    }

    async fn put_skill(&self, owner: &str, skill: LoadedSkill, wanted: Wanted) -> Result<AcceptedSkill> {
        let package = skill.package();
        self.store.blobs().put_tree(skill.tree).await?;
        let put = self.store.put_skill_version(owner, &package, &skill.findings, wanted, self.now()).await?;
        Ok(AcceptedSkill {
            path: skill.path,
            skill: put.skill,
            version_id: put.version,
            name: package.manifest.name.clone(),
            version: package.version(),
            is_new: put.was_new,
            findings: skill.findings,
        })
    }

    /// All skills, each with its newest version.
    ///
    /// # Errors
    /// Storage trouble.
    pub async fn skills(&self) -> Result<Vec<SkillListing>> {
        Ok(self.store.skills().await?.into_iter().map(listing).collect())
    }

    /// All versions of all skills, skill by skill, newest first; those that came only to be compared with stand last.
    ///
    /// # Errors
    /// Storage trouble.
    pub async fn version_choices(&self) -> Result<Vec<VersionChoice>> {
        Ok(self.store.version_choices().await?)
    }

    /// One skill with all its versions.
    ///
    /// # Errors
    /// [`OpsError::NotFound`], or storage trouble.
    pub async fn skill(&self, id: SkillId) -> Result<SkillDetail> {
        let skill = self.store.skill(id).await?;
        let versions = self.store.versions(id).await?;
        let skill_md = self.skill_md(&skill.latest).await?;
        let versions = versions.into_iter().map(version).collect();
        Ok(SkillDetail { id: skill.id, owner: skill.owner, name: skill.name, versions, skill_md })
    }

    async fn skill_md(&self, version: &SkillVersionRow) -> Result<String> {
        let Some(entry) = version.package.tree.get(SKILL_MD) else { return Ok(String::new()) };
        // A file that is lost or damaged hides neither the skill nor its results.
        let mut bytes = match self.store.blobs().get(entry.hash).await {
            Ok(bytes) => bytes,
            Err(StoreError::NotFound { .. } | StoreError::BlobDamaged { .. }) => {
                return Ok(format!("({SKILL_MD} is not in the data folder as it was; upload the skill again)"));
            }
            Err(error) => return Err(error.into()),
        };
        let cut = bytes.len() > SHOWN_BYTES;
        bytes.truncate(SHOWN_BYTES);
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if cut {
            text += "\n… (the rest is not shown)";
        }
        Ok(text)
    }
}

fn listing(skill: SkillRow) -> SkillListing {
    SkillListing {
        id: skill.id,
        owner: skill.owner,
        name: skill.name,
        description: skill.latest.package.manifest.description.clone(),
        version_id: skill.latest.id,
        version: skill.latest.hash,
        versions: skill.versions,
        findings: FindingCounts::of(&skill.latest.findings),
        created_at: skill.latest.created_at,
    }
}

fn version(row: SkillVersionRow) -> SkillVersionDetail {
    let findings: Vec<Finding> = row.findings;
    SkillVersionDetail {
        id: row.id,
        version: row.hash,
        manifest: row.package.manifest,
        tree: row.package.tree,
        findings,
        only_compared: row.only_compared,
        created_at: row.created_at,
    }
}
