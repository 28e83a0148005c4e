//! Several places checked together: what is found in each, and what can be seen only of all.

use std::path::Path;

use domain::finding::Finding;
use formats::task::copies;
use serde::Serialize;

use crate::{CheckReport, CheckedTask};

/// What was found in one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckedPlace {
    /// As it was asked for.
    pub place: String,
    /// Files are named from there.
    #[serde(flatten)]
    pub report: CheckReport,
}

/// What was found in all of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckedPlaces {
    /// In the order they were asked for.
    pub places: Vec<CheckedPlace>,
    /// About all of them together; empty where there is one, which then has these among its own.
    pub findings: Vec<Finding>,
}

impl CheckedPlaces {
    /// Looks at the places side by side.
    #[must_use]
    pub fn of(mut places: Vec<CheckedPlace>) -> Self {
        let tasks = places.iter().flat_map(|place| place.report.tasks.iter().map(move |task| (place, task)));
        let several = places.len() > 1;
        let told: Vec<(String, &CheckedTask)> =
            tasks.map(|(place, task)| (if several { place.of_task(task) } else { task.path.clone() }, task)).collect();
        let found =
            copies(told.iter().filter_map(|(place, task)| Some((place.as_str(), task.name.as_str(), task.version?))));
        match places.as_mut_slice() {
            [one] => {
                one.report.findings.extend(found);
                Self { places, findings: Vec::new() }
            }
            _ => Self { places, findings: found },
        }
    }

    /// Every finding.
    pub fn all(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().chain(self.places.iter().flat_map(|place| place.report.all()))
    }
}

impl CheckedPlace {
    /// Where a task of it lies: below the place, or it is the place itself.
    fn of_task(&self, task: &CheckedTask) -> String {
        let below = Path::new(&self.place).join(&task.path);
        if below.exists() { below.display().to_string() } else { self.place.clone() }
    }
}
