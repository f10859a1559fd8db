//! The secret that a client sends to be let in.
//!
//! Invariant: a token shows itself only where it is asked for by name, and a wrong one takes as long to
//! compare as the right one.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt;
use std::hint::black_box;
use std::sync::Arc;

use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, CONNECTION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use basics::failure::{Exit, Explain};
use sha2::{Digest, Sha256};

/// Characters of the shortest token that is taken from a person.
const SHORTEST: usize = 32;

/// What a client that was refused is told.
const ADVICE: &str = "Send the header `Authorization: Bearer TOKEN`. The server printed it when it started, unless you gave it a token of your own.\n";

/// What clients send to be let in.
#[derive(Clone)]
pub struct Token(String);

/// Why a text cannot be a token.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// It could be guessed.
    #[error("the token has {0} characters, but it needs at least {SHORTEST}")]
    Short(usize),
    /// A header cannot carry it.
    #[error("the token has a character other than letters, digits and `-._~+/=`")]
    Character,
}

impl Explain for TokenError {
    fn exit(&self) -> Exit {
        Exit::Usage
    }

    fn code(&self) -> &'static str {
        "Usage"
    }

    fn hint(&self) -> Cow<'static, str> {
        "make one with `openssl rand -hex 32`".into()
    }
}

impl Token {
    /// A token made of 256 random bits.
    pub fn random(bits: [u8; 32]) -> Self {
        Self(BASE64_URL_SAFE_NO_PAD.encode(bits))
    }

    /// A token that somebody chose.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        if text.len() < SHORTEST {
            return Err(TokenError::Short(text.chars().count()));
        }
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
        if !text.bytes().all(fits) {
            return Err(TokenError::Character);
        }
        Ok(Self(text.to_owned()))
    }

    /// The header that carries it, to be shown to the user alone.
    pub fn header(&self) -> String {
        format!("Authorization: Bearer {}", self.0)
    }

    /// The token itself, so that it can be kept out of records.
    pub fn secret(&self) -> &str {
        &self.0
    }

    /// Lets a request in that carries the token.
    pub(super) async fn admit(self: Arc<Self>, request: Request, next: Next) -> Response {
        let challenge = match self.check(request.headers()) {
            Sent::Right => return next.run(request).await,
            Sent::Nothing => "Bearer",
            Sent::Wrong => "Bearer error=\"invalid_token\"",
        };
        // The connection is closed: a stranger's is not kept.
        let headers = [(WWW_AUTHENTICATE, challenge), (CONNECTION, "close")];
        (StatusCode::UNAUTHORIZED, headers, ADVICE).into_response()
    }

    fn check(&self, headers: &HeaderMap) -> Sent {
        let mut sent = headers.get_all(AUTHORIZATION).iter();
        match (sent.next(), sent.next()) {
            (None, _) => Sent::Nothing,
            (Some(one), None) if bearer(one.as_bytes()).is_some_and(|token| self.is(token)) => {
                Sent::Right
            }
            _ => Sent::Wrong,
        }
    }

    /// Hashes have one length and tell nothing about how much was right.
    fn is(&self, other: &[u8]) -> bool {
        let (own, other) = (Sha256::digest(self.0.as_bytes()), Sha256::digest(other));
        let differences = own.iter().zip(other.iter()).fold(0, |all, (a, b)| all | (a ^ b));
        black_box(differences) == 0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(…)")
    }
}

/// What a client sent in the place of a token.
#[derive(Debug, PartialEq, Eq)]
enum Sent {
    Nothing,
    Wrong,
    Right,
}

/// The token in the value of the header.
fn bearer(value: &[u8]) -> Option<&[u8]> {
    let (scheme, token) = value.split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then(|| token.trim_ascii())
}
