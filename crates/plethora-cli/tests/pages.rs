//! Pages in a browser. `cargo xtask test` runs these, with Chromium in the variable `CHROMIUM`.

mod support;

use std::path::Path;
use std::process::Command;

use support::{Desk, TEST_PART, TRAIN_PART, join};

/// Systems whose models are compared.
const SYSTEMS: [&str; 3] = ["wide-tree", "parabel", "bonsai"];

#[test]
#[ignore = "needs Chromium"]
fn a_report_of_three_models_opens_without_fault_at_any_width() {
    let desk = Desk::with_catalogue(900);
    for system in SYSTEMS {
        let more = ["-o", system, "--system", system];
        desk.succeed(&join(&[&["train"], &TRAIN_PART, &more]));
    }
    let report = ["--report", "report"];
    desk.succeed(&join(&[&["eval"], &SYSTEMS, &TEST_PART, &report]));
    let checker = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/report_page.py");
    let output = Command::new("python3")
        .arg(checker)
        .arg(desk.file("report/report.html"))
        .output()
        .expect("python3 runs");
    let said = String::from_utf8_lossy(&output.stdout);
    let failed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}{failed}");
    assert!(
        said.contains("1280 px") && said.contains("400 px"),
        "{said}"
    );
}
