use super::*;

const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[test]
fn it_is_written_and_read_back() {
    let hash = Sha256::of("");
    assert_eq!(hash.to_string(), EMPTY);
    assert_eq!(EMPTY.parse(), Ok(hash));
    assert_eq!(Sha256::from(sha2::Sha256::new()), hash);
    assert_eq!(format!("{hash:?}"), EMPTY);
}

#[test]
fn other_texts_are_refused() {
    let others = ["", "e3", &EMPTY[1..], &EMPTY.to_uppercase(), &EMPTY.replace('e', "g")];
    for other in others {
        assert_eq!(other.parse::<Sha256>(), Err(InvalidSha256), "{other}");
    }
    let wide = "é".repeat(32);
    assert_eq!(wide.parse::<Sha256>(), Err(InvalidSha256));
}
