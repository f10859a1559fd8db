//! What was typed before.

/// What was typed before, the newest last.
#[derive(Debug, Default)]
pub(super) struct History {
    entries: Vec<String>,
    /// The entry that is shown.
    place: Option<usize>,
    /// What was being typed before an entry was shown.
    draft: String,
    search: Option<Search>,
}

#[derive(Debug, Default)]
struct Search {
    words: String,
    found: Option<usize>,
}

impl History {
    pub(super) fn new(entries: Vec<String>) -> Self {
        Self { entries, ..Self::default() }
    }

    pub(super) fn add(&mut self, text: &str) {
        if !text.trim().is_empty() && self.entries.last().is_none_or(|last| last != text) {
            self.entries.push(text.to_owned());
        }
        self.rest();
    }

    /// Shows nothing any more.
    pub(super) fn rest(&mut self) {
        (self.place, self.search) = (None, None);
    }

    pub(super) fn older(&mut self, typed: String) -> Option<String> {
        let place = self.place.unwrap_or(self.entries.len()).checked_sub(1)?;
        if self.place.is_none() {
            self.draft = typed;
        }
        self.place = Some(place);
        self.entries.get(place).cloned()
    }

    pub(super) fn newer(&mut self) -> Option<String> {
        let place = self.place? + 1;
        let entry = self.entries.get(place).cloned();
        self.place = entry.is_some().then_some(place);
        Some(entry.unwrap_or_else(|| std::mem::take(&mut self.draft)))
    }

    pub(super) fn is_searching(&self) -> bool {
        self.search.is_some()
    }

    /// Begins to search, or finds the next older one.
    pub(super) fn search(&mut self) {
        match &mut self.search {
            None => self.search = Some(Search::default()),
            Some(search) => {
                let before = search.found.unwrap_or(self.entries.len());
                let older = last_with(&self.entries[..before], &search.words);
                search.found = older.or(search.found);
            }
        }
    }

    pub(super) fn narrow(&mut self, c: char) {
        self.look_again(|words| words.push(c));
    }

    pub(super) fn widen(&mut self) {
        self.look_again(|words| {
            words.pop();
        });
    }

    fn look_again(&mut self, change: impl FnOnce(&mut String)) {
        let Some(search) = &mut self.search else { return };
        change(&mut search.words);
        search.found = last_with(&self.entries, &search.words);
    }

    pub(super) fn end_search(&mut self) -> bool {
        self.search.take().is_some()
    }

    pub(super) fn found(&self) -> Option<&str> {
        self.entries.get(self.search.as_ref()?.found?).map(String::as_str)
    }

    /// What is searched for, and what was found.
    pub(super) fn searched(&self) -> Option<(&str, &str)> {
        let search = self.search.as_ref()?;
        Some((&search.words, self.found().unwrap_or_default()))
    }
}

fn last_with(entries: &[String], words: &str) -> Option<usize> {
    (!words.is_empty()).then(|| entries.iter().rposition(|entry| entry.contains(words)))?
}
