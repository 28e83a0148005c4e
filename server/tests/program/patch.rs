//! What an agent changed, from its pair's page to a file that `git apply` takes.

use std::process::Command;

use crate::common::{Home, PASS, Task};

const CHANGE: &str =
    "printf 'one\\ntwo\\n' > 'new file.txt'; sed -i s/old/new/ app.py; rm gone.txt; printf '\\000' > data.bin";

#[test]
fn a_patch_goes_from_the_page_to_a_download_and_an_export() {
    let home = Home::new("patch");
    let dockerfile = "RUN echo old > app.py && echo x > gone.txt\n".to_owned();
    home.task(&Task { dockerfile, test: PASS.to_owned(), ..Task::new("changes") });
    let (ended, _) = home.eval(&["--agent", "command", "--command", CHANGE]);
    assert_eq!(ended.code, 0, "{ended}");

    let site = home.serve(&[]);
    let page = site.get("/evaluations/1/pairs/1/1").body;
    let links: Vec<&str> = page
        .split("href=\"")
        .filter_map(|rest| rest.split('"').next())
        .filter(|link| link.ends_with("/patch"))
        .collect();
    assert_eq!(links.len(), 2, "{page}");
    assert!(page.contains("4 files, +3 −2"), "{page}");
    let result = site.get("/evaluations/1").body;
    assert!(result.contains("href=\"/evaluations/1/export/patch\""), "{result}");
    let mut patches = Vec::new();
    for link in links {
        let answer = site.get(link);
        assert_eq!((answer.status, answer.header("x-content-type-options")), (200, "nosniff"), "{link}");
        assert!(answer.header("content-disposition").starts_with("attachment"), "{answer:?}");
        patches.push(answer.body);
    }
    for absent in ["/evaluations/1/trials/999/patch", "/evaluations/9/trials/1/patch", "/evaluations/1/trials/x/patch"]
    {
        assert!([400, 404].contains(&site.get(absent).status), "{absent}");
    }
    site.stop();

    let ended = home.run(&["export", "1", "--format", "patch", "--out", "patches"]);
    assert_eq!(ended.code, 0, "{ended}");
    let mut exported: Vec<String> = files(&home.path("patches"));
    exported.sort();
    patches.sort();
    assert_eq!(exported, patches);

    home.write("tree/app.py", "old\n");
    home.write("tree/gone.txt", "x\n");
    home.write("one.patch", &patches[0]);
    let apply = Command::new("git").args(["apply", "../one.patch"]).current_dir(home.path("tree")).output().unwrap();
    assert!(apply.status.success(), "{}\n{}", String::from_utf8_lossy(&apply.stderr), patches[0]);
    let read = |name: &str| std::fs::read_to_string(home.path("tree").join(name)).ok();
    assert_eq!((read("app.py").as_deref(), read("new file.txt").as_deref()), (Some("new\n"), Some("one\ntwo\n")));
    assert_eq!(read("gone.txt"), None);
    home.finish();
}

fn files(folder: &std::path::Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![std::fs::read_to_string(path).unwrap()] })
        .collect()
}
