use super::{fold, originals};

#[test]
fn a_name_is_folded_as_the_most_forgiving_file_system_does() {
    for (path, folded) in [
        ("src/a.txt", "src/a.txt"),
        ("Src/A.TXT", "src/a.txt"),
        (".a\u{200d}gent/x", ".agent/x"),
        (".g\u{200c}it\u{feff}", ".git"),
        ("．ａｇｅｎｔ", ".agent"),
        (".agent\u{17f}", ".agents"),
        (".\u{212a}ube", ".kube"),
        (".git. ./config ", ".git/config"),
        ("cafe\u{301}", "caf\u{e9}"),
    ] {
        assert_eq!(fold(path), folded, "{path}");
    }
}

#[test]
fn the_name_of_a_copy_tells_of_what() {
    for (copy, expected) in [
        ("a/key.pem.bak", &["a/key.pem"][..]),
        ("key.pem.bak2", &["key.pem"]),
        ("key.pem.old.7", &["key.pem.old", "key.pem"]),
        ("key.pem-old", &["key.pem"]),
        ("key.pem copy 2", &["key.pem copy", "key.pem"]),
        ("key.pem (1)", &["key.pem"]),
        (".netrc~", &[".netrc"]),
        (".netrc.~12~", &[".netrc"]),
        (".netrc.swp", &[".netrc", "netrc"]),
        ("a/#x#", &["a/x"]),
        ("a/.#x", &["a/x"]),
        ("key.pem", &[]),
        ("a-7", &[]),
        ("a.bak/c", &[]),
        ("~", &[]),
        (".bak", &[]),
        ("##", &[]),
        ("", &[]),
    ] {
        assert_eq!(originals(copy), expected, "{copy}");
    }
}
