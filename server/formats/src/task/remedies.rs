//! What to do about an error whose place in the code knows no better: every refusal names a remedy.

use domain::finding::Finding;

/// Gives each error without a hint the one of its code.
pub(super) fn complete(findings: &mut [Finding]) {
    for finding in findings.iter_mut().filter(|finding| finding.is_error() && finding.hint.is_none()) {
        finding.hint = Some(of(&finding.code).to_owned());
    }
}

fn of(code: &str) -> &'static str {
    match code {
        "wrong_type" => "write a value of the kind that is asked for, or remove the key for its default",
        "limit_out_of_range" => "write a number within the limit, or remove the key for its default",
        "schema_version" => "write `version = \"1.0\"` if the settings are in this form",
        "network_conflict" => {
            "keep one setting: `network_mode` as `public`, `no-network`, or `allowlist` with `allowed_hosts`"
        }
        "bad_workdir" => "write it from the top of the container, such as `/app`",
        "bad_user" => "write the name or number of a user of the image",
        "bad_folder" => "write the folder as seen from the task's own, such as `tests`",
        "several_services" => "put what the task needs into one image",
        "unsupported_reward_range" => "let test.sh write its reward as a share from 0 to 1",
        "unsupported_os" => "only Linux containers are run; leave the task out",
        "unsupported_environment" => "prepare it in the Dockerfile or in test.sh, or leave the task out",
        "unsupported_multi_agent" => "put what the agent has to do into one instruction, or leave the task out",
        "toml_syntax" => "mend the line: a text in quotes, one `key = value` a line",
        "unreadable" | "not_a_folder" => "check that it is there and may be read",
        _ => "mend it as the message says, or leave the task out",
    }
}
