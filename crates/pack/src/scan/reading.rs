//! One file while it is read: window by window, so that its size does not matter.
//!
//! Windows end between lines and overlap, so a match is seen whole and once wherever it stands.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;

use super::document::{Document, Kind};
use super::finding::{Finding, Severity};
use super::{Area, Rule, Scan, excerpt, hidden, opaque, rules};

/// Bytes that the next window sees again: longer matches over several lines are cut.
pub(super) const OVERLAP: usize = 64 << 10;
/// Bytes that tell what kind of file it is.
const HEAD: usize = 512;
/// Findings of one rule and severity in one file; more of them teach nothing.
const FINDINGS: usize = 10;

/// Why something is not looked at as a whole.
const FILE_TOO_LARGE: &str = "only its first 64 MiB were scanned";
const SKILL_TOO_LARGE: &str = "a scan of one skill ends after 256 MiB";
const LONG_LINE: &str = "a line of more than 4 MiB, which was scanned in pieces";

/// A file while it is read. Write to it what the file holds, then finish.
#[derive(Debug)]
pub struct Reading<'a, 's> {
    scan: &'a mut Scan<'s>,
    path: &'a str,
    executable: bool,
    /// What was read and is not looked at yet.
    window: Vec<u8>,
    /// How the file begins.
    head: Vec<u8>,
    kind: Option<Kind>,
    bytes: u64,
    /// Why the rest of it is not looked at.
    stopped: Option<Cow<'static, str>>,
    has_long_line: bool,
    /// Where the window begins.
    line: usize,
    column: usize,
    is_text: bool,
    has_nul: bool,
    has_packed: bool,
    reads_credentials: bool,
    sends: Option<Finding>,
    counts: BTreeMap<(&'static str, Severity), usize>,
}

impl<'a, 's> Reading<'a, 's> {
    pub(super) fn new(scan: &'a mut Scan<'s>, path: &'a str, executable: bool) -> Self {
        let stopped = (scan.left == 0).then_some(SKILL_TOO_LARGE.into());
        Self {
            scan,
            path,
            executable,
            window: Vec::new(),
            head: Vec::new(),
            kind: None,
            bytes: 0,
            stopped,
            has_long_line: false,
            line: 0,
            column: 0,
            is_text: true,
            has_nul: false,
            has_packed: false,
            reads_credentials: false,
            sends: None,
            counts: BTreeMap::new(),
        }
    }

    /// Whether the rest of the file would not be looked at.
    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Looks at no more of it.
    pub(super) fn stop(&mut self, reason: String) {
        self.stopped.get_or_insert(reason.into());
    }

    /// Takes what comes next.
    pub(super) fn take(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.is_stopped() {
            let most = (self.scan.largest_file - self.bytes).min(self.scan.left);
            let room = self.scan.window - self.window.len();
            let room = room.min(usize::try_from(most).unwrap_or(room));
            if room == 0 {
                let is_file = self.scan.left > 0;
                let reason = if is_file { FILE_TOO_LARGE } else { SKILL_TOO_LARGE };
                return self.stop(reason.to_owned());
            }
            let (taken, rest) = bytes.split_at(bytes.len().min(room));
            let missing = HEAD.saturating_sub(self.head.len()).min(taken.len());
            self.head.extend_from_slice(&taken[..missing]);
            self.window.extend_from_slice(taken);
            self.bytes += taken.len() as u64;
            self.scan.left -= taken.len() as u64;
            if self.window.len() == self.scan.window {
                self.look(false);
            }
            bytes = rest;
        }
    }

    /// Looks at what is left, and says what could not be looked at.
    pub fn finish(mut self) {
        self.look(true);
        let sends = self.sends.take().filter(|_| self.reads_credentials);
        sends.into_iter().for_each(|finding| self.push(finding));
        let gap = self.stopped.take().or(self.has_long_line.then_some(LONG_LINE.into()));
        match (gap, self.is_text) {
            (Some(reason), _) => self.scan.skip(self.path, &reason),
            (None, true) => {
                self.scan.looked_at.files += 1;
                self.scan.looked_at.bytes += self.bytes;
            }
            (None, false) if self.scan.repository.takes(self.path, &self.head) => {}
            (None, false) => {
                let opaque = opaque::of(&self.head, self.has_nul, self.kind, self.path);
                self.scan.note(self.path, opaque.what);
                self.scan.opaque(self.path, 1, opaque.severity, opaque.what);
            }
        }
    }

    /// Looks at the window. What begins in its last lines is left for the next one, unless there is none.
    fn look(&mut self, is_last: bool) {
        let window = std::mem::take(&mut self.window);
        let end = if is_last { window.len() } else { self.cut(&window) };
        let text = text(&window, is_last);
        let is_text = matches!(text, Cow::Borrowed(_));
        self.is_text &= is_text;
        self.has_nul |= window.contains(&0);
        let limit = match is_last {
            true => text.len(),
            false if is_text => end,
            false => lossy(&window[..end]).len(),
        };
        let kind = *self.kind.get_or_insert_with(|| Kind::of(self.path, self.executable, &text));
        let document = Document::new(&text, kind);
        if is_text {
            self.unseen(&document, limit);
        }
        self.matches(&document, limit);
        self.scan.claims.read(&self.scan.scanner.claims, self.path, self.line, &document);
        let seen = &text[..text.floor_char_boundary(limit)];
        match seen.rfind('\n') {
            Some(newline) => {
                self.line += seen.matches('\n').count();
                self.column = seen[newline + 1..].chars().count();
            }
            None => self.column += seen.chars().count(),
        }
        self.window = window[end..].to_vec();
    }

    /// Where the next window begins: at a line, and early enough to see matches over several lines again.
    fn cut(&mut self, window: &[u8]) -> usize {
        let latest = window.len() - OVERLAP;
        // What is no text has strings between zeros.
        let ends = |byte: &u8| matches!(byte, b'\n' | 0);
        match window[..latest].iter().rposition(ends) {
            Some(end) => end + 1,
            None => {
                self.has_long_line = true;
                let starts_character = |at: &usize| window[*at] & 0b1100_0000 != 0b1000_0000;
                (latest - 3..=latest).rfind(starts_character).unwrap_or(latest)
            }
        }
    }

    /// What a reader does not see: hidden characters, and packed code.
    fn unseen(&mut self, document: &Document<'_>, limit: usize) {
        if let (Kind::Code(_), false) = (document.kind, self.has_packed)
            && let Some((line, what)) = opaque::packed(document)
        {
            self.has_packed = true;
            self.scan.opaque(self.path, self.line + line, Severity::Medium, &what);
        }
        let opens_file = self.line == 0 && self.column == 0;
        for found in hidden::find(document.text, opens_file) {
            if found.range.start < limit {
                let explanation = format!("{}: {}", rules::HIDDEN_UNICODE.explanation, found.what);
                let rule = &rules::HIDDEN_UNICODE;
                self.add(rule, found.severity, &found.range, document, explanation);
            }
        }
    }

    /// What the patterns find.
    fn matches(&mut self, document: &Document<'_>, limit: usize) {
        let scanner = self.scan.scanner;
        for spot in scanner.spots(document) {
            if spot.range.start < limit {
                self.reads_credentials |= spot.rule.id == rules::CREDENTIAL_ACCESS.id
                    && document.place(&spot.range) == Area::Code;
                let explanation = spot.rule.explanation.to_owned();
                self.add(spot.rule, spot.severity, &spot.range, document, explanation);
            }
        }
        if self.sends.is_none()
            && let Some(range) = scanner.sends(document)
        {
            let rule = &rules::EXFILTRATION;
            let explanation =
                format!("{}: this script reads credentials and sends data", rule.explanation);
            self.sends = Some(self.finding(rule, Severity::High, &range, document, explanation));
        }
    }

    fn add(
        &mut self,
        rule: &'static Rule,
        severity: Severity,
        range: &Range<usize>,
        document: &Document<'_>,
        explanation: String,
    ) {
        if self.counts.get(&(rule.id, severity)).is_some_and(|count| *count >= FINDINGS) {
            self.scan.omitted += 1;
        } else {
            self.push(self.finding(rule, severity, range, document, explanation));
        }
    }

    fn push(&mut self, finding: Finding) {
        *self.counts.entry((finding.rule, finding.severity)).or_default() += 1;
        self.scan.push(finding);
    }

    fn finding(
        &self,
        rule: &'static Rule,
        severity: Severity,
        range: &Range<usize>,
        document: &Document<'_>,
        explanation: String,
    ) -> Finding {
        let excerpt = match rule.id == rules::SECRET.id {
            true => excerpt::redacted(&document.text[range.clone()]),
            false => self.scan.scanner.without_secrets(excerpt::around(document.text, range)),
        };
        let line = document.line_of(range.start);
        // Only a line of several windows begins before its window.
        let before = if line == 0 { self.column } else { 0 };
        Finding {
            rule: rule.id,
            severity,
            file: self.path.to_owned(),
            line: self.line + line + 1,
            column: before + document.column_of(range.start) + 1,
            excerpt,
            explanation,
            hint: rule.hint,
        }
    }
}

impl io::Write for Reading<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.take(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What can be read of a window: all of it where it is text, and of anything else what is text in it.
fn text(window: &[u8], is_last: bool) -> Cow<'_, str> {
    if window.contains(&0) {
        return lossy(window).into();
    }
    match std::str::from_utf8(window) {
        Ok(text) => text.into(),
        // The rest of the last character comes with the next window.
        Err(error) if !is_last && error.error_len().is_none() => {
            std::str::from_utf8(&window[..error.valid_up_to()]).unwrap_or_default().into()
        }
        Err(_) => lossy(window).into(),
    }
}

/// Without zeros, which shells pass over and UTF-16 has between letters.
fn lossy(bytes: &[u8]) -> String {
    let seen: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&seen).into_owned()
}
