//! Forms, and what every page has in common.

use crate::support::{Answer, TOKEN, get, post, send, site_of};
use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use store::Store;

async fn site() -> Router {
    site_of(Store::temp().await.unwrap())
}

/// Posts files as a browser does: the hidden field first.
async fn upload(site: &Router, token: &str, files: &[(&str, &str)]) -> Answer {
    let mut body = format!("--cut\r\nContent-Disposition: form-data; name=\"csrf\"\r\n\r\n{token}\r\n");
    for (name, text) in files {
        body += &format!("--cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n");
        body += &format!("Content-Type: application/octet-stream\r\n\r\n{text}\r\n");
    }
    body += "--cut--\r\n";
    let request = Request::post("/skills/upload").header(header::CONTENT_TYPE, "multipart/form-data; boundary=cut");
    send(site, request.body(Body::from(body)).unwrap()).await
}

const GOOD: &str =
    "---\nname: count-sheep\ndescription: Counts sheep. Use when sheep are to be counted.\n---\n# Sheep\n";

#[tokio::test]
async fn posts_without_our_token_do_nothing() {
    let site = site().await;
    const FIELDS: [&str; 3] = ["", "csrf=&path=%2F", "csrf=another&theme=dark"];
    for path in [
        "/skills/fetch",
        "/tasks/add",
        "/evaluations/check",
        "/evaluations/start",
        "/evaluations/1/cancel",
        "/leaderboard/publish",
    ] {
        for fields in FIELDS {
            let answer = post(&site, path, fields).await;
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{path} {fields}");
        }
    }
    // The choice of colours is not worth an error page: the way back, and no cookie.
    for fields in FIELDS {
        let answer = post(&site, "/theme", fields).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER, "{fields}");
        assert_eq!(answer.header(header::SET_COOKIE), "", "{fields}");
    }
    assert_eq!(upload(&site, "another", &[("SKILL.md", GOOD)]).await.status, StatusCode::FORBIDDEN);
    assert!(get(&site, "/skills").await.body.contains("No skills yet"));
}

#[tokio::test]
async fn an_upload_is_answered_with_what_went_in() {
    let site = site().await;
    let answer = upload(&site, TOKEN, &[("count-sheep/SKILL.md", GOOD), ("count-sheep/.DS_Store", "x")]).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.body);
    for part in ["1 accepted, 0 refused", "count-sheep", ".DS_Store"] {
        assert!(answer.body.contains(part), "{part}");
    }
    let again = upload(&site, TOKEN, &[("count-sheep/SKILL.md", GOOD)]).await;
    assert!(again.body.contains("already known"));
    assert!(get(&site, "/skills").await.body.contains("All skills (1)"));
}

#[tokio::test]
async fn a_refused_skill_is_answered_with_place_reason_and_hint() {
    let site = site().await;
    let answer = upload(&site, TOKEN, &[("bad/SKILL.md", "---\nname: bad\ndescription: \"never closed\n---\n")]).await;
    assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY);
    for part in ["0 accepted, 1 refused", "SKILL.md:", "Hint: "] {
        assert!(answer.body.contains(part), "{part} in {}", answer.body);
    }
    let mixed = upload(&site, TOKEN, &[("broken.zip", "PK"), ("SKILL.md", GOOD)]).await;
    assert!(mixed.body.contains("1 accepted, 1 refused") && mixed.body.contains("broken.zip"), "{}", mixed.body);
    let none = upload(&site, TOKEN, &[]).await;
    assert_eq!(none.status, StatusCode::UNPROCESSABLE_ENTITY);
    assert!(none.body.contains("o file was chosen"), "{}", none.body);
}

#[tokio::test]
async fn an_address_that_is_not_fetched_is_answered_with_the_reason() {
    let site = site().await;
    for (address, want) in [
        ("http://example.com/a", "only https:// addresses are fetched"),
        ("https://me:key@example.com/a", "user name or password"),
        ("https://127.0.0.1/a", "names no host"),
        ("https://example.com/a@--upload-pack=x", "no commit, branch or tag"),
        ("https://example.com/a", "this server fetches no repositories"),
    ] {
        let answer = post(&site, "/skills/fetch", &format!("csrf={TOKEN}&address={address}")).await;
        assert_eq!(answer.status, StatusCode::UNPROCESSABLE_ENTITY, "{address}");
        assert!(answer.body.contains(want), "{address}: {}", answer.body);
    }
    assert!(get(&site, "/skills").await.body.contains("fetch-address"));
}

#[tokio::test]
async fn hostile_names_and_texts_stay_text() {
    let site = site().await;
    let mark = "<script>document.title='X'</script>";
    let text =
        format!("---\nname: sheep\ndescription: Use when {mark} <img src=x onerror=alert(1)>\n---\n</pre>{mark}\n");
    let answer = upload(&site, TOKEN, &[("sheep/SKILL.md", &text), ("sheep/<svg onload=x>.md", "x")]).await;
    let list = get(&site, "/skills").await;
    let id = list.body.split("href=\"/skills/").nth(1).unwrap().split('"').next().unwrap();
    let path = format!("/skills/{id}");
    let page = get(&site, &path).await;
    assert!(page.body.contains("&lt;script&gt;"), "{}", page.body);
    for answer in [answer, list, page] {
        for bad in ["<script>document", "<img src=x", "<svg onload"] {
            assert!(!answer.body.contains(bad), "{bad}");
        }
    }
}

#[tokio::test]
async fn an_upload_over_the_limit_says_the_limit() {
    let site = site().await;
    let much = "x".repeat(3 << 20);
    let answer = upload(&site, TOKEN, &[("SKILL.md", &much)]).await;
    assert_eq!(answer.status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(answer.body.contains("larger than 1 MB"), "{}", answer.body);
}

#[tokio::test]
async fn a_plan_that_cannot_start_goes_back_to_its_form() {
    let site = site().await;
    upload(&site, TOKEN, &[("count-sheep/SKILL.md", GOOD)]).await;
    let fields = format!("csrf={TOKEN}&skill=1&agent=nop&k=0&title=A+%26+B");
    for path in ["/evaluations/check", "/evaluations/start"] {
        let answer = post(&site, path, &fields).await;
        assert_eq!(answer.status, StatusCode::SEE_OTHER);
        let place = answer.header(header::LOCATION);
        assert!(place.starts_with("/evaluations/new?") && !place.contains(TOKEN), "{place}");
        assert_eq!(get(&site, place).await.status, StatusCode::OK);
    }
    let outside = post(&site, "/tasks/add", &format!("csrf={TOKEN}&path=%2Fetc")).await;
    assert_eq!(outside.status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn the_theme_is_remembered_and_rendered() {
    let site = site().await;
    let answer = post(&site, "/theme", &format!("csrf={TOKEN}&theme=dark&back=%2Fskills")).await;
    assert_eq!((answer.status, answer.header(header::LOCATION)), (StatusCode::SEE_OTHER, "/skills"));
    let cookie = answer.header(header::SET_COOKIE).split(';').next().unwrap().to_owned();
    let page = send(&site, Request::get("/skills").header(header::COOKIE, cookie).body(Body::empty()).unwrap()).await;
    assert!(page.body.contains("data-theme=\"dark\""));
}

#[tokio::test]
async fn every_page_keeps_a_strict_policy_and_says_its_status() {
    let site = site().await;
    upload(&site, TOKEN, &[("count-sheep/SKILL.md", GOOD)]).await;
    for (path, status) in [
        ("/", 200),
        ("/skills", 200),
        ("/skills/upload", 200),
        ("/skills/999999", 404),
        ("/skills/x", 404),
        ("/tasks", 200),
        ("/tasks/999999", 404),
        ("/evaluations", 200),
        ("/evaluations/new", 200),
        ("/evaluations/999999", 404),
        ("/evaluations/999999/pairs/1/1", 404),
        ("/nowhere", 404),
    ] {
        let page = get(&site, path).await;
        assert_eq!(page.status.as_u16(), status, "{path}");
        let policy = page.header(header::CONTENT_SECURITY_POLICY);
        assert!(policy.contains("script-src 'self' 'wasm-unsafe-eval' 'nonce-"), "{path}: {policy}");
        assert!(!policy.contains("unsafe-inline") && !page.body.contains(" style=\""), "{path}");
        assert!(!page.body.contains("<script>"), "{path}: a script without nonce");
        assert!(page.body.contains("<main id=\"main\""), "{path}");
    }
}
