use std::collections::BTreeMap;

use super::*;
use crate::frontmatter::split_whole;
use crate::metadata::{Metadata, ReadOptions};

#[test]
fn every_real_skill_is_indexed_or_refused_with_a_reason() {
    let files = files();
    let options = ReadOptions::default();
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    for expected in expected() {
        let bytes = &files[&expected.path];
        let folder = expected.path.rsplit('/').nth(1).unwrap();
        let read = split_whole(bytes, &options.limits).and_then(|(yaml, _)| {
            Metadata::read(std::str::from_utf8(&bytes[yaml]).unwrap(), folder, &options)
        });
        match &read {
            Ok(metadata) => {
                if let (true, Some(name)) =
                    (expected.yaml_ok, expected.name.as_ref().and_then(|n| n.as_str()))
                {
                    assert_eq!(metadata.name, name.trim(), "{}", expected.path);
                }
                if !expected.yaml_ok || !expected.has_description {
                    println!(
                        "indexed although yaml_ok={} desc={}: {} {:?}",
                        expected.yaml_ok,
                        expected.has_description,
                        expected.path,
                        metadata.diagnostics.iter().map(|d| d.code.as_str()).collect::<Vec<_>>()
                    );
                }
            }
            Err(error) => {
                *refused.entry(error.code()).or_default() += 1;
                if expected.yaml_ok && expected.has_description && expected.name.is_some() {
                    println!("refused {} {error}", expected.path);
                }
            }
        }
    }
    println!("{refused:?}");
}

#[test]
fn the_standard_verdict_is_the_references() {
    let files = files();
    let (mut counted, mut same) = (0, 0);
    for expected in expected().iter().filter(|expected| !expected.reference_rejects_flow_style) {
        let folder = expected.path.rsplit('/').nth(1).unwrap();
        let verdict = crate::standard::check(&files[&expected.path], folder);
        counted += 1;
        if verdict.errors.is_empty() == expected.reference_valid {
            same += 1;
        } else {
            println!(
                "{} ours {:?} reference {:?}",
                expected.path, verdict, expected.reference_errors
            );
        }
    }
    println!("{same} of {counted}");
}
