#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

const RIGHT: &str = "0123456789abcdef0123456789abcdef";

fn check(values: &[&str]) -> Sent {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(AUTHORIZATION, value.parse().unwrap());
    }
    Token::parse(RIGHT).unwrap().check(&headers)
}

#[test]
fn only_the_whole_token_in_the_one_header_is_right() {
    for value in [format!("Bearer {RIGHT}"), format!("bearer  {RIGHT} ")] {
        assert_eq!(check(&[&value]), Sent::Right, "{value}");
    }
    assert_eq!(check(&[]), Sent::Nothing);
    for value in [
        String::new(),
        RIGHT.to_owned(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        format!("Basic {RIGHT}"),
        format!("Bearer {}", &RIGHT[1..]),
        format!("Bearer {RIGHT}0"),
        format!("Bearer {}", RIGHT.to_uppercase()),
        format!("Bearer {RIGHT}, Bearer {RIGHT}"),
    ] {
        assert_eq!(check(&[&value]), Sent::Wrong, "{value}");
    }
    let right = format!("Bearer {RIGHT}");
    assert_eq!(check(&[&right, &right]), Sent::Wrong, "one of two may be somebody else's");
}

#[test]
fn a_token_that_can_be_guessed_or_sent_by_no_header_is_refused() {
    assert_eq!(Token::parse("secret").unwrap_err(), TokenError::Short(6));
    assert_eq!(Token::parse("").unwrap_err(), TokenError::Short(0));
    assert_eq!(Token::parse(&"ä".repeat(40)).unwrap_err(), TokenError::Character);
    assert_eq!(Token::parse(&" ".repeat(40)).unwrap_err(), TokenError::Character);
}

#[test]
fn a_random_token_carries_all_its_bits_and_does_not_show_itself() {
    let token = Token::random([0xa5; 32]);
    let sent = token.header();
    assert_eq!(BASE64_URL_SAFE_NO_PAD.decode(token.secret()).unwrap(), [0xa5; 32]);
    assert_eq!(
        bearer(sent.strip_prefix("Authorization: ").unwrap().as_bytes()),
        Some(token.secret().as_bytes())
    );
    assert!(Token::parse(token.secret()).is_ok());
    assert!(!format!("{token:?}").contains(token.secret()));
}
