//! What is told while an image is made ready.

/// Something that happened on the way to an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BuildEvent {
    /// Somebody else is making the same image; their result will be used.
    Waiting,
    /// The engine fetches an image.
    Pulling {
        /// Which.
        image: String,
        /// The engine's words.
        status: String,
    },
    /// A step of a build begins.
    Step {
        /// From 1.
        number: usize,
        /// How many there are.
        of: usize,
        /// The instruction.
        text: String,
    },
    /// A line of a build's output.
    Line(String),
}

/// Takes events; must not block.
pub trait Progress: Send + Sync {
    /// Takes one.
    fn event(&self, event: BuildEvent);
}

impl<F: Fn(BuildEvent) + Send + Sync> Progress for F {
    fn event(&self, event: BuildEvent) {
        self(event);
    }
}
