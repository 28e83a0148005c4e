//! Uploads of skills by the page (Z10).

use std::io::Write as _;

use zip::write::SimpleFileOptions;

use crate::common::Home;

/// A zip with a skill and `mb` of bytes that do not shrink.
fn zip_of(mb: usize) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    zip.start_file("count-sheep/SKILL.md", options).unwrap();
    zip.write_all(b"---\nname: count-sheep\ndescription: Counts sheep.\n---\nbody\n").unwrap();
    zip.start_file("count-sheep/assets/r.bin", options).unwrap();
    let mut state = 1_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    })
    .take(mb << 20)
    .collect();
    zip.write_all(&noise).unwrap();
    zip.finish().unwrap().into_inner()
}

#[test]
fn an_upload_over_the_limit_is_told_the_limit() {
    let home = Home::new("upload");
    let site = home.serve(&[]);
    let csrf = site.csrf();
    let taken = site.upload(&csrf, &[("big-3m.zip", &zip_of(3))]);
    assert_eq!(taken.status, 200, "{}", taken.body);
    assert!(taken.body.contains("count-sheep"), "{}", taken.body);
    let refused = site.upload(&csrf, &[("big-60m.zip", &zip_of(60))]);
    assert_eq!(refused.status, 413, "{}", refused.body);
    assert!(refused.body.contains("larger than 50 MB"), "{}", refused.body);
    // Other forms keep a small limit.
    let refused = site.post("/tasks/add", &[("path", &"x".repeat(4 << 20))]);
    assert!(matches!(refused.status, 413 | 422 | 400), "{} {}", refused.status, refused.body);
    let broken = site.upload(&csrf, &[("broken.zip", b"PK\x03\x04 and then nothing")]);
    assert_eq!(broken.status, 422, "{} {}", broken.status, broken.body);
    assert!(broken.body.contains("broken.zip"), "{}", broken.body);
    assert_eq!(site.upload(&"0".repeat(32), &[("big-3m.zip", &zip_of(1))]).status, 403);
    let page = site.get("/skills").body;
    assert!(page.contains("count-sheep") && page.matches("/skills/").count() >= 1, "{page}");
    site.stop();
    home.finish();
}
