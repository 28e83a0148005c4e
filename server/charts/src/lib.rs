//! Domain values drawn as SVG, one file per chart, themed by CSS variables.
