//! Images built and found on the real engine (case H25 and its relatives).
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod sandbox_support;

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bollard::query_parameters::{ListImagesOptions, RemoveImageOptions};
use domain::path::RelPath;
use domain::tree::{LoadedFile, LoadedTree};
use domain::verdict::InfraClass;
use engine::image::{
    BuildEvent, BuildRequest, Context, IMAGE_LABEL, ImageConfig, ImageRequest, Images, ReadyImage, StandIns,
    strip_skill_copies,
};
use engine::sandbox::{Engine, SandboxError, SandboxSpec};
use sandbox_support::{LONG, Rig, text};

/// A rig that also knows which images it made.
struct Bench {
    rig: Rig,
    images: Images,
    events: Arc<Mutex<Vec<BuildEvent>>>,
    made: Mutex<Vec<String>>,
}

impl Bench {
    async fn new(name: &str, ca_bundle: Option<&str>) -> Self {
        let rig = Rig::new(name).await;
        // Every test's Dockerfiles begin FROM this name, which no registry has.
        let stand_ins = StandIns::parse([format!("base.invalid/os:1={}", rig.image)]).unwrap();
        let config = ImageConfig { stand_ins, ca_bundle: ca_bundle.map(|text| text.as_bytes().to_vec()) };
        let images = Images::new(rig.engine.clone(), config);
        Self { rig, images, events: Arc::default(), made: Mutex::default() }
    }

    /// The instance's name in the file makes the image this test's own.
    fn request(&self, dockerfile: &str, files: &[(&str, &str, bool)]) -> BuildRequest {
        let tree: LoadedTree = files
            .iter()
            .map(|(path, text, executable)| {
                (RelPath::new(path).unwrap(), LoadedFile { executable: *executable, bytes: text.as_bytes().to_vec() })
            })
            .collect();
        BuildRequest {
            file: "environment/Dockerfile".to_owned(),
            dockerfile: format!("FROM base.invalid/os:1\nLABEL test={}\n{dockerfile}\n", self.rig.instance),
            context: Context::loaded(tree),
            args: BTreeMap::new(),
            limit: LONG,
            no_cache: false,
        }
    }

    async fn ensure(&self, request: BuildRequest) -> Result<ReadyImage, SandboxError> {
        let events = Arc::clone(&self.events);
        let progress = move |event| events.lock().unwrap().push(event);
        let image = self.images.ensure(&ImageRequest::Build(request), &progress).await?;
        self.made.lock().unwrap().push(image.tag.clone());
        Ok(image)
    }

    async fn show(&self, image: &ReadyImage, script: &str) -> String {
        let spec = SandboxSpec { image: image.id.clone(), ..self.rig.spec() };
        let sandbox = self.rig.engine.create(&spec).await.unwrap().sandbox;
        let shown = text(&*sandbox, script).await;
        sandbox.remove().await.unwrap();
        shown
    }

    /// Removes what was made, by name first; nothing with this test's label may be left then, but what is in the cache.
    async fn finish(self) {
        let mut made = self.made.into_inner().unwrap();
        made.sort();
        made.dedup();
        for tag in &made {
            let options = RemoveImageOptions { force: true, ..RemoveImageOptions::default() };
            let _ = self.rig.docker.remove_image(tag, Some(options), None).await;
            assert!(self.rig.docker.inspect_image(tag).await.is_err(), "{tag} is left");
        }
        let filters = HashMap::from([("label".to_owned(), vec![format!("test={}", self.rig.instance)])]);
        let options = ListImagesOptions { filters: Some(filters), ..ListImagesOptions::default() };
        for image in self.rig.docker.list_images(Some(options)).await.unwrap() {
            assert_eq!(image.labels.get(IMAGE_LABEL).map(String::as_str), Some("cache"), "{image:?}");
            // A build that was given up lets go of its image a moment later.
            let mut tries = 0;
            while let Err(error) = self.rig.docker.remove_image(&image.id, None::<RemoveImageOptions>, None).await {
                tries += 1;
                assert!(error.to_string().contains("conflict") && tries < 600, "{error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
        self.rig.finish().await;
    }
}

#[tokio::test]
async fn an_image_follows_its_content_and_nothing_else() {
    let bench = Bench::new("h25", None).await;
    let v1 = [("pen.txt", "3", false)];
    let first =
        bench.ensure(bench.request("COPY pen.txt /pen.txt\nRUN echo v1 > /version\nWORKDIR /w", &v1)).await.unwrap();
    assert!(!first.reused && first.id.starts_with("sha256:") && first.context.is_some());
    assert_eq!(first.workdir.as_deref(), Some("/w"));
    assert_eq!(bench.show(&first, "cat /version /pen.txt").await, "v1\n3");
    // The same content again; its times are never asked for.
    let again =
        bench.ensure(bench.request("COPY pen.txt /pen.txt\nRUN echo v1 > /version\nWORKDIR /w", &v1)).await.unwrap();
    assert_eq!((again.reused, &again.id), (true, &first.id));
    for (dockerfile, files, want) in [
        ("COPY pen.txt /pen.txt\nRUN echo v2 > /version\nWORKDIR /w", v1, "v2\n3"),
        ("COPY pen.txt /pen.txt\nRUN echo v1 > /version\nWORKDIR /w", [("pen.txt", "4", false)], "v1\n4"),
        ("COPY pen.txt /pen.txt\nRUN echo v1 > /version\nWORKDIR /w", [("pen.txt", "3", true)], "v1\n3"),
    ] {
        let other = bench.ensure(bench.request(dockerfile, &files)).await.unwrap();
        assert!(!other.reused && other.tag != first.tag, "{dockerfile}");
        assert_eq!(bench.show(&other, "cat /version /pen.txt").await, want);
    }
    let fresh = BuildRequest {
        no_cache: true,
        ..bench.request("COPY pen.txt /pen.txt\nRUN echo v1 > /version\nWORKDIR /w", &v1)
    };
    let fresh = bench.ensure(fresh).await.unwrap();
    assert!(!fresh.reused && fresh.tag == first.tag && fresh.id != first.id);
    bench.finish().await;
}

#[tokio::test]
async fn many_who_want_one_image_build_it_once() {
    let bench = Bench::new("once", None).await;
    let request = bench.request("RUN cat /proc/sys/kernel/random/uuid > /id", &[]);
    let all = futures::future::join_all((0..6).map(|_| bench.ensure(request.clone()))).await;
    let all: Vec<ReadyImage> = all.into_iter().map(Result::unwrap).collect();
    assert_eq!(all.iter().filter(|image| !image.reused).count(), 1);
    assert!(all.iter().all(|image| image.id == all[0].id));
    let events = bench.events.lock().unwrap().clone();
    assert_eq!(events.iter().filter(|event| **event == BuildEvent::Waiting).count(), 5, "{events:?}");
    let steps = events
        .iter()
        .filter(|event| matches!(event, BuildEvent::Step { text, .. } if text.contains("RUN cat")))
        .count();
    assert_eq!(steps, 1, "{events:?}");
    bench.finish().await;
}

#[tokio::test]
async fn what_goes_wrong_is_told_with_its_step_reason_and_remedy() {
    let bench = Bench::new("wrong", None).await;
    let failed = bench.ensure(bench.request("RUN echo some words && exit 3", &[])).await.unwrap_err();
    let SandboxError::BuildFailed { step, reason, log_tail } = &failed else { panic!("{failed}") };
    assert_eq!(
        (step.as_str(), reason.as_str()),
        ("environment/Dockerfile:3: RUN echo some words && exit 3", "the command returned 3")
    );
    assert!(log_tail.contains("some words") && failed.to_string().contains("it printed: "), "{failed}");
    let no_file = bench.ensure(bench.request("COPY none.txt /x", &[])).await.unwrap_err();
    assert!(matches!(&no_file, SandboxError::BuildFailed { step, .. } if step.contains("COPY none.txt")), "{no_file}");
    let slow = BuildRequest { limit: Duration::from_secs(2), ..bench.request("RUN sleep 600", &[]) };
    let slow = bench.ensure(slow).await.unwrap_err();
    assert!(matches!(slow, SandboxError::Timeout { seconds: 2, .. }), "{slow}");
    let refused = bench.ensure(bench.request("RUN --security=insecure x", &[])).await.unwrap_err();
    assert!(refused.to_string().starts_with("environment/Dockerfile:3: "), "{refused}");
    assert_eq!((refused.class(), failed.class()), (InfraClass::NoImage, InfraClass::Image), "only one is sure to last");
    for image in ["registry.invalid/none:1", "skilldelta-no-such-image"] {
        let missing = bench.images.ensure(&ImageRequest::Named(image.to_owned()), &|_| ()).await.unwrap_err();
        let words = missing.to_string();
        assert!(
            matches!(missing, SandboxError::ImageMissing { .. }) && words.contains("stand-in") && words.contains(image),
            "{words}"
        );
        // Where no registry is reached it may be reached later. The other name is asked of a real one, if there is a way to it.
        assert!(missing.class() == InfraClass::Image || !image.contains("invalid"), "{words}");
    }
    bench.finish().await;
}

#[tokio::test]
async fn a_stand_in_is_used_and_said() {
    let bench = Bench::new("stand-in", None).await;
    let image = bench.images.ensure(&ImageRequest::Named("base.invalid/os:1".to_owned()), &|_| ()).await.unwrap();
    assert_eq!((image.tag.as_str(), image.findings.len()), (bench.rig.image.as_str(), 1));
    assert!(image.findings[0].message.contains("base.invalid/os:1") && image.reused);
    bench.finish().await;
}

#[tokio::test]
async fn heredocs_stages_and_empty_folders_build() {
    let bench = Bench::new("heredoc", None).await;
    let dockerfile = "RUN cat > /a.txt <<'EOF'\none $HOME `x`\nEOF\nRUN <<EOF\nset -e\necho two > /b.txt\nEOF\n\
        FROM base.invalid/os:1\nCOPY --from=0 /a.txt /b.txt /\nCOPY skills /s\nCOPY . /all\n";
    let mut request = bench.request(dockerfile, &[("data/x.txt", "x", false), (".dockerignore", "nothing\n", false)]);
    request.context.empty_folders.push(RelPath::new("skills").unwrap());
    let image = bench.ensure(request).await.unwrap();
    let shown = bench.show(&image, "cat /a.txt /b.txt; ls -A /s; cd /all; find . -type f").await;
    assert_eq!(shown, "one $HOME `x`\ntwo\n./data/x.txt\n");
    assert_eq!(image.findings.iter().filter(|finding| finding.code == "dockerfile_rewritten").count(), 2);
    bench.finish().await;
}

#[tokio::test]
async fn bundled_skills_are_not_built_in() {
    let bench = Bench::new("strip", None).await;
    let stripped = strip_skill_copies("Dockerfile", "COPY skills /root/.claude/skills\nCOPY data /data\n");
    let mut request = bench.request(&stripped.text, &[("data/x", "x", false)]);
    request.context.empty_folders.push(RelPath::new("skills").unwrap());
    let image = bench.ensure(request).await.unwrap();
    assert_eq!(bench.show(&image, "ls /data; find / -xdev -name skills -path '*claude*'").await, "x\n");
    bench.finish().await;
}

#[tokio::test]
async fn own_certificates_are_in_builds_and_containers() {
    let bundle = format!("not really certificates, {}\n", std::process::id());
    let bench = Bench::new("ca", Some(&bundle)).await;
    let image = bench.ensure(bench.request("RUN cat $SSL_CERT_FILE > /seen", &[])).await.unwrap();
    let seen = bench.show(&image, "cat /seen; cat $PIP_CERT $NODE_EXTRA_CA_CERTS; echo $CURL_CA_BUNDLE").await;
    assert_eq!(seen, format!("{bundle}{bundle}{bundle}/etc/ssl/certs/skilldelta-ca.crt\n"));
    let named = bench.images.ensure(&ImageRequest::Named("base.invalid/os:1".to_owned()), &|_| ()).await.unwrap();
    assert!(named.reused && named.tag.starts_with("skilldelta/base:"), "{named:?}");
    assert_eq!(bench.show(&named, "cat $REQUESTS_CA_BUNDLE").await, bundle);
    // Children before parents, or the parent cannot go.
    bench.made.lock().unwrap().push(named.tag);
    bench.finish().await;
}

#[tokio::test]
async fn pruning_takes_the_least_recently_used_that_nothing_uses_and_stops_when_it_is_enough() {
    let bench = Bench::new("prune", None).await;
    let old = bench.ensure(bench.request("RUN echo old > /x", &[])).await.unwrap();
    let new = bench.ensure(bench.request("RUN echo new > /x", &[])).await.unwrap();
    let used = bench.ensure(bench.request("RUN echo used > /x", &[])).await.unwrap();
    let spec = SandboxSpec { image: used.id.clone(), ..bench.rig.spec() };
    let sandbox = bench.rig.engine.create(&spec).await.unwrap().sandbox;
    // Other images of ours on this engine are left out of it.
    let kept = |last_used: HashMap<String, i64>| {
        let (images, tags) = (&bench.images, [old.tag.clone(), new.tag.clone(), used.tag.clone()]);
        async move {
            let mut kept = images.kept(&last_used).await.unwrap();
            kept.retain(|image| tags.contains(&image.tag));
            kept
        }
    };
    let day = 86_400;
    let now = kept(HashMap::new()).await[0].last_used;
    // By tag or by id; what is older than the image itself is not believed.
    let known = [(used.tag.clone(), now), (old.id.clone(), now + day), (new.tag.clone(), now + 2 * day)];
    let found = kept(known.into_iter().collect()).await;
    assert_eq!(found.iter().map(|image| &image.tag).collect::<Vec<_>>(), [&used.tag, &old.tag, &new.tag]);
    assert_eq!(found.iter().map(|image| image.in_use).collect::<Vec<_>>(), [true, false, false]);
    assert!(found.iter().all(|image| image.kind == "task" && image.bytes > 0));
    let removed = bench.images.prune(found, |image| image.last_used > now + day).await;
    assert_eq!(removed, [old.tag.as_str()]);
    assert!(bench.rig.docker.inspect_image(&used.tag).await.is_ok(), "an image in use was removed");
    sandbox.remove().await.unwrap();
    assert!(bench.rig.docker.inspect_image(&new.tag).await.is_ok());
    bench.finish().await;
}
