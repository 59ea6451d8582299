//! The bill of materials: a `CycloneDX` file with every crate and library of the programs.

use std::fmt::Write as _;
use std::fs;

use super::{Release, files, packages};
use crate::Result;

/// Libraries that are given away beside the program: name, version, licence, purl.
const LIBRARIES: [[&str; 4]; 3] = [
    [
        "libtorch",
        "2.11.0",
        "BSD-3-Clause",
        "pkg:pypi/torch@2.11.0",
    ],
    [
        "cuda-runtime",
        "13.0.96",
        "LicenseRef-NVIDIA-Proprietary",
        "pkg:pypi/nvidia-cuda-runtime@13.0.96",
    ],
    [
        "cuda-cupti",
        "13.0.85",
        "LicenseRef-NVIDIA-Proprietary",
        "pkg:pypi/nvidia-cuda-cupti@13.0.85",
    ],
];

/// Writes `plethora-VERSION.cdx.json`.
pub(super) fn make(release: &Release) -> Result<()> {
    let lock = release.root.join("Cargo.lock");
    let lock = fs::read_to_string(&lock).map_err(|error| format!("{}: {error}", lock.display()))?;
    let mut components = Vec::new();
    for package in packages::list(&release.root)? {
        let purl = format!("pkg:cargo/{}@{}", package.name, package.version);
        let sum = checksum(&lock, &package.name, &package.version);
        let parts = [&package.name, &package.version, &package.licence, &purl];
        components.push(component(parts.map(String::as_str), sum));
    }
    components.extend(LIBRARIES.iter().map(|parts| component(*parts, None)));
    let text = format!(
        "{{\n  \"bomFormat\": \"CycloneDX\",\n  \"specVersion\": \"1.5\",\n  \"version\": 1,\n  \
         \"metadata\": {{\"component\": {{\"type\": \"application\", \"name\": \"plethora\", \
         \"version\": {}}}}},\n  \"components\": [\n    {}\n  ]\n}}\n",
        quoted(&release.version),
        components.join(",\n    ")
    );
    let name = format!("plethora-{}.cdx.json", release.version);
    files::write(&release.output.join(name), &text)
}

fn component([name, version, licence, purl]: [&str; 4], checksum: Option<&str>) -> String {
    let mut text = format!(
        "{{\"type\": \"library\", \"name\": {}, \"version\": {}, \"purl\": {}, \"bom-ref\": {}",
        quoted(name),
        quoted(version),
        quoted(purl),
        quoted(purl)
    );
    if !licence.is_empty() {
        let _ = write!(
            text,
            ", \"licenses\": [{{\"expression\": {}}}]",
            quoted(licence)
        );
    }
    if let Some(checksum) = checksum {
        let content = quoted(checksum);
        let _ = write!(
            text,
            ", \"hashes\": [{{\"alg\": \"SHA-256\", \"content\": {content}}}]"
        );
    }
    text.push('}');
    text
}

/// The checksum of a crate, as Cargo.lock has it.
fn checksum<'a>(lock: &'a str, name: &str, version: &str) -> Option<&'a str> {
    let head = format!("name = {name:?}\nversion = {version:?}\n");
    let (_, rest) = lock.split_once(&head)?;
    let package = rest.split("[[package]]").next()?;
    let (_, sum) = package.split_once("checksum = \"")?;
    sum.split('"').next()
}

/// A string of JSON.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            control if control < ' ' => {
                let _ = write!(quoted, "\\u{:04x}", control as u32);
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_right_package() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"x\"\nchecksum = \"11\"\n\n\
                    [[package]]\nname = \"own\"\nversion = \"1.0.0\"\n\n\
                    [[package]]\nname = \"b\"\nversion = \"1.0.0\"\nchecksum = \"22\"\n";
        assert_eq!(checksum(lock, "a", "1.0.0"), Some("11"));
        assert_eq!(checksum(lock, "own", "1.0.0"), None);
        assert_eq!(checksum(lock, "b", "2.0.0"), None);
    }

    #[test]
    fn components_are_json() {
        let text = component(["a\"b", "1", "MIT", "pkg:cargo/a@1"], Some("11"));
        assert!(text.starts_with("{\"type\": \"library\", \"name\": \"a\\\"b\""));
        assert!(text.ends_with("\"content\": \"11\"}]}"));
    }
}
