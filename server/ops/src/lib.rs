//! What a user can ask for. Called by pages and by the command line alike, so that they never differ.
