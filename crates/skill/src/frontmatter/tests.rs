use super::*;
use crate::corpus;

#[test]
fn the_fast_path_agrees_with_the_full_parser_on_every_real_skill() {
    let limits = Limits::default();
    let mut fast = 0;
    let files = corpus::files();
    for (path, bytes) in &files {
        let Ok((yaml, _)) = split_whole(bytes, &limits) else { continue };
        let Ok(yaml) = std::str::from_utf8(&bytes[yaml]) else { continue };
        if let Some(fields) = plain::parse(yaml) {
            fast += 1;
            assert_eq!(Ok(fields), full::parse(yaml, &limits), "{path}");
        }
    }
    println!("fast path: {fast} of {}", files.len());
}
