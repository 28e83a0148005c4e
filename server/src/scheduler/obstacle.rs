//! What keeps new trials from being started: a full disk, an engine that does not answer. Broken infrastructure pauses the queue instead of
//! spending the attempts of one trial after another.

use std::path::PathBuf;

use engine::sandbox::docker::DockerEngine;
use engine::sandbox::{Engine, free_space};

/// Looks for obstacles before trials are started.
pub struct Obstacles {
    data: PathBuf,
    floor: u64,
    engine: DockerEngine,
    suspect: bool,
}

impl Obstacles {
    /// Obstacles of a data folder that must keep `floor` bytes free, and of an engine.
    #[must_use]
    pub fn new(data: PathBuf, floor: u64, engine: DockerEngine) -> Self {
        Self { data, floor, engine, suspect: false }
    }

    /// The engine failed an attempt: ask it before the next one.
    pub fn suspect_engine(&mut self) {
        self.suspect = true;
    }

    /// The first obstacle, in words with a remedy.
    pub async fn look(&mut self) -> Option<String> {
        if let Some(reason) = self.disk() {
            return Some(reason);
        }
        if self.suspect {
            if let Err(error) = self.engine.ping().await {
                return Some(error.to_string());
            }
            self.suspect = false;
        }
        None
    }

    /// A disk that is too full, in words.
    pub(super) fn disk(&self) -> Option<String> {
        let engine = self.engine.facts().root_dir.as_ref().map(PathBuf::from);
        std::iter::once(&self.data).chain(&engine).find_map(|place| {
            // A folder that cannot be asked, such as that of an engine elsewhere, is no obstacle.
            let free = free_space(place).ok()?.free;
            (free < self.floor).then(|| {
                format!(
                    "only {} MB are free where {} lies, and {} MB are to stay free; free some space or lower disk_floor_mb",
                    free >> 20,
                    place.display(),
                    self.floor >> 20,
                )
            })
        })
    }
}
