//! Names of runs: `20261115_083000_k3f9`, which sort by time.
//!
//! Invariant: a name is safe as the name of a folder.

use std::fmt;
use std::str::FromStr;

/// The name of a run; a child run adds a number: `20261115_083000_k3f9.2`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(String);

/// A text that is no name of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a run id; they look like `20261115_083000_k3f9`", crate::text::for_terminal(.0))]
pub struct InvalidRunId(pub String);

const ALPHABET: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const SUFFIX: usize = 4;

impl RunId {
    /// A name for a run that begins at a second, as `20261115_083000`, and so many milliseconds later. The suffix
    /// begins with these, so that names sort by time, and ends with what `random` gives.
    pub fn new(second: &str, milliseconds: u32, random: u32) -> Self {
        let letters = (ALPHABET.len() * ALPHABET.len()) as u64;
        let within = u64::from(milliseconds) * letters / 1_000;
        Self::at(second, within * letters + u64::from(random) % letters)
    }

    /// The name to try when this one is taken.
    pub fn next(&self) -> Self {
        let (time, suffix) = self.0.split_at("20261115_083000".len());
        let number = suffix.bytes().skip(1).take(SUFFIX).fold(0, |number, letter| {
            let digit = ALPHABET.iter().position(|known| *known == letter).unwrap_or(0);
            number * ALPHABET.len() as u64 + digit as u64
        });
        Self::at(time, number + 1)
    }

    fn at(time: &str, mut number: u64) -> Self {
        let mut suffix = [b'0'; SUFFIX];
        for letter in suffix.iter_mut().rev() {
            *letter = ALPHABET[(number % ALPHABET.len() as u64) as usize];
            number /= ALPHABET.len() as u64;
        }
        Self(format!("{time}_{}", String::from_utf8_lossy(&suffix)))
    }

    /// The name as a text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The run that began this one, if one did.
    pub fn parent(&self) -> Option<&str> {
        self.0.rsplit_once('.').map(|(parent, _)| parent)
    }
}

impl FromStr for RunId {
    type Err = InvalidRunId;

    fn from_str(text: &str) -> Result<Self, InvalidRunId> {
        let mut parts = text.split('.');
        let own = parts.next().unwrap_or_default();
        let children = parts.all(|part| {
            (1..=9).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
        });
        let shape = own.bytes().enumerate().all(|(place, byte)| match place {
            8 | 15 => byte == b'_',
            0..15 => byte.is_ascii_digit(),
            _ => ALPHABET.contains(&byte),
        });
        let length = "20261115_083000_".len() + SUFFIX;
        if own.len() == length && shape && children {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidRunId(text.to_owned()))
        }
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests;
