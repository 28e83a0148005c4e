//! What the program says of itself.

use crate::common::Home;

#[test]
fn a_command_tells_its_own_options_before_those_of_every_command() {
    let home = Home::new("help");
    for (command, own) in [
        (&["eval"][..], "--stop-early"),
        (&["check"], "--sarif"),
        (&["plan"], "--delta"),
        (&["evaluations", "list"], "--limit"),
        (&["serve"], "--listen"),
    ] {
        for help in ["-h", "--help"] {
            let ended = home.run(&[command, &[help]].concat());
            let (before, after) =
                ended.out.split_once("Settings of every command:").unwrap_or_else(|| panic!("{ended}"));
            assert!(before.contains(own) && !after.contains(own), "{ended}");
            for everywhere in
                ["--data", "--config", "--image-stand-in", "--repository-mirror", "--ca-bundle", "--scripted-model"]
            {
                let option = format!("{everywhere} <");
                assert!(after.contains(&option) && !before.contains(&option), "{everywhere}: {ended}");
            }
        }
    }
    home.finish();
}
