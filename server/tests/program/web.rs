//! What the server lets in, and the headers of all that it sends.

use crate::common::{Answer, Home, Site};

fn assert_guarded(answer: &Answer, path: &str) {
    assert_eq!(answer.header("x-content-type-options"), "nosniff", "{path}");
    assert_eq!(answer.header("x-frame-options"), "DENY", "{path}");
    let policy = answer.header("content-security-policy");
    assert!(policy.contains("default-src") && policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
    assert!(!policy.contains("unsafe-inline") && !policy.contains('*'), "{path}: {policy}");
}

fn write_bundle(home: &Home) {
    for (name, text) in [
        ("hash.txt", "js: a1\nwasm: b2\ncss: c3\nstart: d4\n"),
        ("pkg/skilldelta.a1.js", "export default 1;\n"),
        ("pkg/skilldelta.b2.wasm", "\0asm\x01\0\0\0"),
        ("pkg/skilldelta.c3.css", "body {}\n"),
        ("pkg/start.d4.js", "import './skilldelta.a1.js';\n"),
    ] {
        home.write(&format!("site/{name}"), text);
    }
}

#[test]
fn pages_and_assets_are_guarded_and_what_is_not_there_is_not_found() {
    let home = Home::new("guard");
    write_bundle(&home);
    let site_root = home.path("site").display().to_string();
    let site = home.serve(&["--site", &site_root]);
    for path in ["/", "/skills", "/tasks", "/evaluations", "/evaluations/new"] {
        let page = site.get(path);
        assert_eq!((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"), "{path}");
        assert_guarded(&page, path);
        assert!(page.header("content-security-policy").contains("script-src"), "{path}");
        assert_eq!(page.header("cache-control"), "no-store", "{path}");
        assert!(page.body.contains("/pkg/skilldelta.c3.css") && page.body.contains("/pkg/start.d4.js"), "{path}");
        assert_no_inline_script(&page, path);
    }
    for (path, kind) in [
        ("/pkg/skilldelta.a1.js", "text/javascript"),
        ("/pkg/skilldelta.b2.wasm", "application/wasm"),
        ("/pkg/skilldelta.c3.css", "text/css"),
    ] {
        let asset = site.get(path);
        assert_eq!(asset.status, 200, "{path}");
        assert!(asset.header("content-type").starts_with(kind), "{path}: {}", asset.header("content-type"));
        assert!(asset.header("cache-control").contains("immutable"), "{path}");
        assert_guarded(&asset, path);
    }
    for path in ["/pkg/skilldelta.zz.wasm", "/pkg/", "/fonts/none.woff2", "/favicon.svg", "/pkg/..%2fhash.txt"] {
        let absent = site.get(path);
        assert_eq!(absent.status, 404, "{path}: {}", absent.body);
        assert!(!absent.body.contains("<html"), "{path}: the app page in place of an asset");
        assert!(!absent.header("cache-control").contains("immutable"), "{path}: kept for ever as absent");
        assert_guarded(&absent, path);
    }
    for path in ["/no/such/page", "/evaluations/999", "/skills/999"] {
        let absent = site.get(path);
        assert_eq!(absent.status, 404, "{path}");
        assert_guarded(&absent, path);
    }
    // Programs are told by status and words, whether a number is wrong or no number at all.
    for (path, status, words) in [
        ("/evaluations/x/export/json", 404, "/evaluations/x/export/json does not exist"),
        ("/evaluations/999/export/json", 404, "evaluation 999 does not exist"),
        ("/evaluations/1/export/word", 422, "there are: json, csv"),
        ("/leaderboard/export/word", 422, "there are: json, csv"),
        ("/leaderboard/export/json?model=&verdict=bogus&sort=-delta", 422, "no such view: verdict=bogus;"),
        ("/leaderboard/export/json?data=snapshot-x&zzz=1", 422, "no such view: data=snapshot-x, zzz=1;"),
        ("/leaderboard/snapshots/x/document", 404, "does not exist"),
        ("/evaluations/1/trials/x/patch", 404, "does not exist"),
        ("/api/evaluations/x/events", 404, "does not exist"),
        ("/api/evaluation?id=999", 404, "evaluation 999 does not exist"),
        ("/api/evaluation?id=x", 422, "invalid digit"),
        ("/api/matrix", 422, "missing field `id`"),
    ] {
        let refused = site.get(path);
        assert_eq!(refused.status, status, "{path}: {}", refused.body);
        assert!(refused.body.contains(words), "{path}: {}", refused.body);
        assert_guarded(&refused, path);
    }
    site.stop();
    home.finish();
}

/// Every script is loaded from us or carries the policy's nonce.
fn assert_no_inline_script(page: &Answer, path: &str) {
    let policy = page.header("content-security-policy");
    let nonce = policy.split("'nonce-").nth(1).and_then(|rest| rest.split('\'').next()).unwrap_or("none");
    for script in page.body.split("<script").skip(1) {
        let tag = script.split('>').next().unwrap();
        assert!(tag.contains("src=\"/") || tag.contains(nonce), "{path}: {tag}");
    }
    for (attribute, _) in
        page.body.match_indices(" on").filter_map(|(at, _)| Some((page.body.get(at + 1..at + 12)?, at)))
    {
        assert!(!attribute.starts_with("onclick=") && !attribute.starts_with("onload="), "{path}: {attribute}");
    }
}

#[test]
fn requests_from_elsewhere_change_nothing() {
    let home = Home::new("origin");
    let site = home.serve(&[]);
    let elsewhere = site.send(site.client.get(site.url("/")).header("host", "evil.example"));
    assert_eq!(elsewhere.status, 421, "{}", elsewhere.body);
    assert!(elsewhere.body.contains("public_hosts"), "{}", elsewhere.body);
    assert_guarded(&elsewhere, "foreign host");
    let port = site.host.rsplit(':').next().unwrap();
    let local = site.send(site.client.get(site.url("/")).header("host", format!("localhost:{port}")));
    assert_eq!(local.status, 200);
    let csrf = site.csrf();
    let theme = |fields: &[(&str, &str)], headers: &[(&str, &str)]| {
        let request = site.form("/theme", fields);
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        site.send(request).status
    };
    let ours = site.url("");
    let good = [("csrf", csrf.as_str()), ("theme", "dark")];
    assert_eq!(theme(&good, &[("origin", &ours)]), 303);
    assert_eq!(theme(&good, &[("origin", &ours), ("sec-fetch-site", "same-origin")]), 303);
    for (fields, headers) in [
        (good.as_slice(), vec![]),
        (&good, vec![("origin", "http://evil.example")]),
        (&good, vec![("origin", "null")]),
        (&good, vec![("origin", ours.as_str()), ("sec-fetch-site", "cross-site")]),
    ] {
        assert_eq!(theme(fields, &headers), 403, "{fields:?} {headers:?}");
    }
    for fields in [&[("csrf", "0"), ("path", "/")], &[("path", "/"), ("other", "")]] {
        let forged = site.send(site.form("/tasks/add", fields).header("origin", &ours));
        assert_eq!(forged.status, 403, "{fields:?}: {}", forged.body);
    }
    assert_tasks_only_below_roots(&home, &site);
    site.stop();
    home.finish();
}

fn assert_tasks_only_below_roots(home: &Home, site: &Site<'_>) {
    home.write("outside/secret/instruction.md", "x");
    let outside = home.path("outside").display().to_string();
    let climbing = format!("{}/../outside", home.tasks());
    for path in [outside.as_str(), "/etc", &climbing] {
        let refused = site.post("/tasks/add", &[("path", path)]);
        assert!(matches!(refused.status, 400 | 403 | 404 | 422), "{path}: {} {}", refused.status, refused.body);
    }
}
