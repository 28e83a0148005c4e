//! Statistics of paired evaluations.
