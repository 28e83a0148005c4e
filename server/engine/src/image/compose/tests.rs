use super::*;

const REAL: &str = r#"services:
  main:
    build:
      context: ${CONTEXT_DIR}
    image: ${MAIN_IMAGE_NAME}
    command: [ "sh", "-c", "sleep infinity" ]
    environment:
      - GH_TOKEN=${GH_TOKEN}
      - TEST_DIR=${TEST_DIR:-/tests}
      - OPENAI_API_KEY
      - MODE=fast
    volumes:
      - ${HOST_VERIFIER_LOGS_PATH}:${ENV_VERIFIER_LOGS_PATH}
      - ${HOST_AGENT_LOGS_PATH}:${ENV_AGENT_LOGS_PATH}
    deploy:
      resources:
        limits:
          cpus: ${CPUS}
          memory: 2G
    network_mode: ${NETWORK_MODE:-bridge}
"#;

#[test]
fn a_real_one_is_read() {
    let vars = BTreeMap::from([("CPUS".to_owned(), "2".to_owned())]);
    let got = read("docker-compose.yaml", REAL, &vars).unwrap();
    assert_eq!((got.service.as_str(), got.context.as_deref(), got.image), ("main", Some("."), None));
    assert_eq!((got.cpus, got.memory_mb, got.network), (Some(2.0), Some(2048), Some(NetworkPolicy::Public)));
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(got.env, BTreeMap::from([pair("MODE", "fast"), pair("TEST_DIR", "/tests")]));
    assert_eq!(
        got.env_from_host,
        BTreeMap::from([pair("GH_TOKEN", "GH_TOKEN"), pair("OPENAI_API_KEY", "OPENAI_API_KEY")])
    );
    assert_eq!(got.notes.len(), 1, "{:?}", got.notes);
}

#[test]
fn what_opens_the_host_is_refused_with_its_line() {
    for (keys, line) in [
        ("image: a\n    privileged: true", 4),
        ("image: a\n    cap_add: [SYS_ADMIN]", 4),
        ("devices: [/dev/kvm]", 3),
        ("network_mode: host", 3),
        ("network_mode: container:x", 3),
        ("pid: host", 3),
        ("ipc: host", 3),
        ("volumes:\n      - /var/run/docker.sock:/s", 4),
        ("volumes:\n      - data:/d\n      - ./x:/x", 5),
        ("volumes:\n      - type: bind\n        source: data\n        target: /d", 4),
        ("volumes:\n      - ${HOME}:/h", 4),
        ("security_opt: [seccomp:unconfined]", 3),
        ("volumes_from: [x]", 3),
        ("extra_hosts: ['host.docker.internal:host-gateway']", 3),
        ("env_file: .env", 3),
        ("build: ../..", 3),
        ("build: https://x.invalid/r.git", 3),
        ("build:\n      context: .\n      network: host", 5),
        ("some_new_key: 1", 3),
        ("deploy:\n      resources:\n        reservations:\n          devices: [a]", 6),
    ] {
        let text = format!("services:\n  main:\n    {keys}\n");
        let refused = read("c.yaml", &text, &BTreeMap::new()).unwrap_err();
        let places: Vec<Option<u32>> = refused.iter().map(|finding| finding.line).collect();
        assert_eq!(places, [Some(line)], "{text}: {refused:?}");
    }
}

#[test]
fn several_services_none_and_no_yaml_are_refused() {
    for (text, line) in [
        ("services:\n  a:\n    image: x\n  b:\n    image: y\n", Some(4)),
        ("services: {}\n", Some(1)),
        ("version: '3'\n", Some(1)),
        ("services:\n  a:\n    image: x\nsecrets:\n  s: {file: /etc/shadow}\n", Some(4)),
    ] {
        let refused = read("c.yaml", text, &BTreeMap::new()).unwrap_err();
        assert_eq!(refused.first().and_then(|finding| finding.line), line, "{text}: {refused:?}");
    }
    let broken = read("c.yaml", "services:\n  a: [\n", &BTreeMap::new()).unwrap_err();
    assert_eq!(broken.first().map(|finding| finding.code.as_str()), Some("compose_syntax"));
}

#[test]
fn no_text_makes_it_panic() {
    for cut in 0..REAL.len() {
        let (head, tail) = (REAL.get(..cut).unwrap_or_default(), REAL.get(cut..).unwrap_or_default());
        for text in [
            head.to_owned(),
            tail.to_owned(),
            format!("{head}{{[\"${{{tail}"),
            format!("{head}\u{feff}\t- &a *a {tail}"),
        ] {
            // Whatever it says: an answer with places.
            let refused = read("c.yaml", &text, &BTreeMap::new()).err().unwrap_or_default();
            assert!(refused.iter().all(|finding| finding.is_error()), "{text}");
        }
    }
    assert!(read("c.yaml", &"[".repeat(100_000), &BTreeMap::new()).is_err());
    assert!(read("c.yaml", &"a: {".repeat(100_000), &BTreeMap::new()).is_err());
}

#[test]
fn sizes_are_read_in_every_spelling() {
    for (size, want) in [
        ("512m", Some(512)),
        ("2G", Some(2048)),
        ("1.5gb", Some(1536)),
        ("536870912", Some(512)),
        ("x", None),
        ("-1g", None),
    ] {
        let text = format!("services:\n  main:\n    mem_limit: {size}\n");
        assert_eq!(read("c.yaml", &text, &BTreeMap::new()).unwrap().memory_mb, want, "{size}");
    }
}
