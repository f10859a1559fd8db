//! JSON that is safe to look at.
//!
//! `--json` may end on a terminal, too, so characters that are not seen are written as `\uXXXX`: the
//! same document for a program, plain letters for a person.

use std::io::{self, Write};

use basics::text::{has_hidden, is_hidden};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Writes `value` as one line.
pub(super) fn write(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *out, Visible))?;
    out.write_all(b"\n")
}

struct Visible;

impl Formatter for Visible {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        if !has_hidden(fragment) {
            return out.write_all(fragment.as_bytes());
        }
        for c in fragment.chars() {
            match is_hidden(c) {
                true => {
                    c.encode_utf16(&mut [0; 2])
                        .iter()
                        .try_for_each(|unit| write!(out, "\\u{unit:04x}"))?;
                }
                false => write!(out, "{c}")?,
            }
        }
        Ok(())
    }
}
