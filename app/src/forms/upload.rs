//! The upload of skills.

use axum::body::Body;
use axum::extract::State;
use axum::http::Request;
use axum::response::Response;
use domain::finding::Finding;
use domain::listing::{Refused, SkillIntake};

use super::body::UploadedFile;
use super::{Forms, answer, body};
use crate::api::backend::Upload;
use crate::error::AppError;
use crate::posted::Posted;

/// Whose a skill is that comes in by the page: there are no accounts yet.
pub(super) const OWNER: &str = "local";

/// Takes the files in; archives one by one, all others together as one folder.
pub async fn upload(State(forms): State<Forms>, request: Request<Body>) -> Response {
    let limit_mb = forms.ops.choices().upload_limit >> 20;
    let (parts, files) = body::files(request, limit_mb).await;
    let posted = match files {
        Ok(files) => take_in(&forms, files).await.map_or_else(Posted::Failed, Posted::Skills),
        Err(error) => Posted::Failed(error),
    };
    answer::page(&forms, parts, posted).await
}

async fn take_in(forms: &Forms, files: Vec<UploadedFile>) -> Result<SkillIntake, AppError> {
    let mut all = SkillIntake::default();
    for upload in uploads(files) {
        let path = path(&upload);
        let intake = match forms.ops.upload_skills(OWNER, upload).await.map_err(AppError::from) {
            Ok(intake) => intake,
            // One archive that cannot be read must not hide what became of the others.
            Err(AppError::Invalid { message, findings }) => refused(path, message, findings),
            Err(error) => return Err(error),
        };
        all.accepted.extend(intake.accepted);
        all.refused.extend(intake.refused);
        all.left_out.extend(intake.left_out);
        all.findings.extend(intake.findings);
    }
    Ok(all)
}

/// What the person will know it by.
fn path(upload: &Upload) -> String {
    match upload {
        Upload::Zip { name, .. } => name.clone(),
        Upload::Files(_) => "the files".to_owned(),
        Upload::Path(path) => path.display().to_string(),
        Upload::Repository(source) => source.to_string(),
    }
}

fn refused(path: String, message: String, findings: Vec<Finding>) -> SkillIntake {
    let findings = if findings.is_empty() { vec![Finding::error("upload", &path, message)] } else { findings };
    SkillIntake { refused: vec![Refused { path, findings }], ..SkillIntake::default() }
}

fn uploads(files: Vec<UploadedFile>) -> Vec<Upload> {
    let (archives, loose): (Vec<_>, Vec<_>) = files.into_iter().partition(|(name, _)| is_archive(name));
    let loose = (!loose.is_empty()).then_some(Upload::Files(loose));
    archives.into_iter().map(|(name, bytes)| Upload::Zip { name, bytes }).chain(loose).collect()
}

/// Whether it was chosen as an archive: one that lies in a chosen folder is a file of a skill.
fn is_archive(name: &str) -> bool {
    let lower = name.to_lowercase();
    !name.contains('/') && (lower.ends_with(".zip") || lower.ends_with(".skill"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_go_in_one_by_one_and_loose_files_together() {
        let file = |name: &str| (name.to_owned(), Vec::new());
        let uploads = uploads(vec![file("a.zip"), file("s/SKILL.md"), file("s/data.zip"), file("B.SKILL")]);
        let names: Vec<String> = uploads
            .iter()
            .map(|upload| match upload {
                Upload::Zip { name, .. } => name.clone(),
                Upload::Files(files) => files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join("+"),
                Upload::Path(path) => path.display().to_string(),
                Upload::Repository(source) => source.to_string(),
            })
            .collect();
        assert_eq!(names, ["a.zip", "B.SKILL", "s/SKILL.md+s/data.zip"]);
    }
}
