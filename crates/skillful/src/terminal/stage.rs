//! The one who writes to the terminal while a run or a conversation goes on.
//!
//! What is done stands above and scrolls by; the panel stands below and is drawn again when something changes, at
//! most some twenty times a second, and at once for a key. Everything is behind one lock, so that nothing tears.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use agent::model::Cancel;

use super::device::{Device, size, write_err, write_out};
use super::editor::{Editor, Typed};
use super::keys::Key;
use super::panel::{Asked, Panel};
use super::reader;
use crate::output::Palette;
use crate::output::markdown::Look;

/// The shortest time between two drawings.
const REST: Duration = Duration::from_millis(40);
const SECOND: Duration = Duration::from_secs(1);
/// How a process ends that was interrupted.
const INTERRUPTED: i32 = 130;

/// The terminal, for everyone who has something to show.
#[derive(Clone)]
pub(crate) struct Stage {
    shared: Arc<Shared>,
}

pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

/// What was said to a question.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said {
    Line(String),
    /// Esc.
    No,
    /// The run is to stop, or nobody is there any more.
    Nothing,
}

pub(super) struct State {
    panel: Panel,
    device: Option<Device>,
    /// Rows of the panel on the screen, and the row of them where the cursor is.
    drawn: (usize, usize),
    /// Text that waits to be written above the panel.
    above: Vec<Above>,
    needs_drawing: bool,
    /// Whether somebody else writes to the terminal.
    is_aside: bool,
    /// Whether they read from it, too.
    pub(super) is_lent: bool,
    pub(super) has_ended: bool,
    said: Option<Said>,
    /// What stops the run that goes on, if one does.
    running: Option<Cancel>,
    /// Whether Ctrl-C was pressed with nothing to stop.
    is_leaving: bool,
    has_left: bool,
}

enum Above {
    /// Words beside the answer.
    Words(String),
    /// The answer.
    Answer(String),
}

impl Stage {
    /// A panel on stderr, which must be a terminal; keys are read where stdin is one, too.
    pub(crate) fn open(prompt: Option<Editor>) -> Self {
        let mut panel = Panel::new(
            Palette::for_stream(&std::io::stderr()),
            Look::for_stream(&std::io::stdout()),
        );
        panel.prompt = prompt;
        let device = Device::open();
        let has_keys = device.is_some();
        device.iter().for_each(Device::take_keys);
        let state = State {
            panel,
            device,
            drawn: (0, 0),
            above: Vec::new(),
            needs_drawing: true,
            is_aside: false,
            is_lent: false,
            has_ended: false,
            said: None,
            running: None,
            is_leaving: false,
            has_left: false,
        };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        let drawer = Arc::clone(&shared);
        std::thread::spawn(move || drawer.draw_on());
        if has_keys {
            let reader = Arc::clone(&shared);
            std::thread::spawn(move || reader::read(&reader));
        }
        Self { shared }
    }

    /// Whether somebody can press keys.
    pub(crate) fn has_keys(&self) -> bool {
        self.shared.lock().device.is_some()
    }

    /// Changes what is drawn.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Panel)) {
        let mut state = self.shared.lock();
        change(&mut state.panel);
        self.shared.soon(&mut state);
    }

    /// Writes lines above the panel.
    pub(crate) fn say(&self, lines: &str) {
        let mut state = self.shared.lock();
        state.above.push(Above::Words(lines.to_owned()));
        self.shared.soon(&mut state);
    }

    /// The next piece of the answer.
    pub(crate) fn answer(&self, piece: &str) {
        let mut state = self.shared.lock();
        let lines = state.panel.answer.push(piece, size().0);
        state.add_answer(&lines);
        self.shared.soon(&mut state);
    }

    /// The answer is complete, or nothing comes of it.
    pub(crate) fn end_answer(&self) {
        let mut state = self.shared.lock();
        let lines = state.panel.answer.finish(size().0);
        state.add_answer(&lines);
        self.shared.soon(&mut state);
    }

    /// A run goes on until it is told otherwise; Ctrl-C stops it.
    pub(crate) fn runs(&self, cancel: Option<Cancel>) {
        let mut state = self.shared.lock();
        state.is_leaving = false;
        state.running = cancel;
        self.shared.soon(&mut state);
    }

    /// Puts a question, and waits for what is said to it.
    pub(crate) fn ask(&self, question: Asked) -> Said {
        let mut state = self.shared.lock();
        state.panel.question = Some(question);
        state.said = None;
        self.shared.soon(&mut state);
        let is_stopped =
            |state: &State| state.has_left || state.running.as_ref().is_some_and(Cancel::requested);
        while state.said.is_none() && !is_stopped(&state) {
            state = self.shared.wait(state);
        }
        let said = if is_stopped(&state) { None } else { state.said.take() };
        state.panel.question = None;
        self.shared.soon(&mut state);
        said.unwrap_or(Said::Nothing)
    }

    /// The next request, once somebody has typed one; nothing when they leave.
    pub(crate) fn request(&self) -> Option<String> {
        let mut state = self.shared.lock();
        loop {
            if state.has_left {
                return None;
            }
            if let Some(request) = state.panel.queued.pop_front() {
                self.shared.soon(&mut state);
                return Some(request);
            }
            state = self.shared.wait(state);
        }
    }

    /// Somebody wants it to stop, whatever it is.
    pub(crate) fn interrupt(&self) {
        let mut state = self.shared.lock();
        state.interrupt();
        self.shared.soon(&mut state);
    }

    /// Leaves the terminal to something that writes by itself.
    pub(crate) fn step_aside<T>(&self, work: impl FnOnce() -> T) -> T {
        {
            let mut state = self.shared.lock();
            state.erase_for_good();
            state.is_aside = true;
        }
        let result = work();
        let mut state = self.shared.lock();
        state.is_aside = false;
        self.shared.soon(&mut state);
        result
    }

    /// The same where it reads, too.
    pub(crate) fn lend<T>(&self, work: impl FnOnce() -> T) -> T {
        self.step_aside(|| {
            self.set_lent(true);
            let result = work();
            self.set_lent(false);
            result
        })
    }

    fn set_lent(&self, is_lent: bool) {
        let mut state = self.shared.lock();
        state.is_lent = is_lent;
        let change = if is_lent { Device::give_back } else { Device::take_keys };
        state.device.iter().for_each(change);
    }

    /// Nothing is drawn any more, and the terminal is as it was found.
    pub(crate) fn close(&self) {
        let mut state = self.shared.lock();
        if !state.has_ended {
            state.end();
        }
        self.shared.changed.notify_all();
    }
}

impl Shared {
    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // Whoever panicked has left values that can still be drawn.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout(state, Duration::from_millis(100));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn soon(&self, state: &mut State) {
        state.needs_drawing = true;
        self.changed.notify_all();
    }

    /// Draws what changes, until the end.
    fn draw_on(&self) {
        let mut state = self.lock();
        while !state.has_ended {
            if state.needs_drawing || state.panel.status.is_some() {
                state.draw();
            }
            drop(state);
            std::thread::sleep(REST);
            state = self.lock();
            let is_idle = |state: &mut State| !state.needs_drawing && !state.has_ended;
            let waited = self.changed.wait_timeout_while(state, SECOND, is_idle);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// What keys do, and what can be seen of it at once.
    pub(super) fn press(&self, keys: Vec<Key>) {
        let mut state = self.lock();
        keys.into_iter().for_each(|key| state.press(key));
        state.draw();
        self.changed.notify_all();
    }

    /// Nobody can type any more.
    pub(super) fn hang_up(&self) {
        let mut state = self.lock();
        state.has_left = true;
        self.soon(&mut state);
    }
}

impl State {
    fn press(&mut self, key: Key) {
        if key == Key::Ctrl('z') {
            return self.suspend();
        }
        let is_interrupt = key == Key::Ctrl('c');
        if !is_interrupt {
            (self.is_leaving, self.panel.hint) = (false, None);
        }
        let typed = match (&mut self.panel.question, &mut self.panel.prompt) {
            (Some(question), _) => question.answer.key(key),
            (None, Some(prompt)) => prompt.key(key),
            (None, None) if is_interrupt => Typed::Interrupt,
            (None, None) => Typed::Nothing,
        };
        let is_question = self.panel.question.is_some();
        match typed {
            Typed::Nothing => {}
            Typed::Interrupt => self.interrupt(),
            Typed::Sent(line) if is_question => self.said = Some(Said::Line(line)),
            Typed::Escape | Typed::Leave if is_question => self.said = Some(Said::No),
            Typed::Sent(line) if line.trim().is_empty() => {}
            Typed::Sent(line) => self.panel.queued.push_back(line),
            Typed::Leave => self.leave(),
            Typed::Escape => {}
        }
    }

    /// Ctrl-C: stops the run that goes on, or throws the typed text away, or leaves.
    fn interrupt(&mut self) {
        let Some(cancel) = self.running.clone() else {
            match &mut self.panel.prompt {
                Some(prompt) if !prompt.is_empty() => prompt.clear(),
                Some(_) if !self.is_leaving => {
                    self.is_leaving = true;
                    self.panel.hint = Some("Ctrl-C again leaves.");
                }
                _ => self.leave(),
            }
            return;
        };
        if !cancel.requested() {
            cancel.request();
            if let Some(status) = &mut self.panel.status {
                "stopping".clone_into(&mut status.what);
            }
            // They are asked for again: what was to follow may have no sense now.
            let waiting: Vec<String> = self.panel.queued.drain(..).collect();
            if let Some(prompt) = self.panel.prompt.as_mut().filter(|_| !waiting.is_empty()) {
                prompt.give_back(&waiting.join("\n"));
            }
        } else if self.panel.prompt.is_some() && !self.has_left {
            self.leave();
        } else {
            self.end();
            std::process::exit(INTERRUPTED);
        }
    }

    fn leave(&mut self) {
        self.has_left = true;
        self.running.iter().for_each(Cancel::request);
    }

    /// Ctrl-Z: the shell has the terminal until it comes back.
    fn suspend(&mut self) {
        self.erase_for_good();
        self.device.iter().for_each(Device::give_back);
        let _ =
            rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::TSTP);
        self.device.iter().for_each(Device::take_keys);
    }

    fn end(&mut self) {
        self.erase_for_good();
        self.device.iter().for_each(Device::give_back);
        self.has_ended = true;
    }

    fn add_answer(&mut self, lines: &[String]) {
        if !lines.is_empty() {
            self.above.push(Above::Answer(lines.join("\n") + "\n"));
        }
    }

    /// Writes what waits, and draws the panel below it.
    fn draw(&mut self) {
        if self.is_aside || self.has_ended {
            return;
        }
        self.needs_drawing = false;
        let mut text = self.written_above();
        let (width, height) = size();
        let drawing = self.panel.draw(width, height, Instant::now());
        text += &drawing.rows.join("\n");
        let last = drawing.rows.len().saturating_sub(1);
        let row = match drawing.cursor {
            Some((row, column)) => {
                text += &up(last - row.min(last));
                text.push('\r');
                if column > 0 {
                    text += &format!("\x1b[{column}C");
                }
                row
            }
            None => last,
        };
        self.drawn = (drawing.rows.len(), row);
        write_err(&text);
    }

    /// Takes the panel away, with what waits written in its place.
    fn erase_for_good(&mut self) {
        let text = self.written_above();
        self.drawn = (0, 0);
        write_err(&text);
    }

    /// What takes the panel away and writes what waits; what is left of it goes to stderr.
    fn written_above(&mut self) -> String {
        let mut text = String::new();
        let (rows, row) = self.drawn;
        if rows > 0 {
            text = format!("{}\r\x1b[J", up(row));
        }
        for above in self.above.drain(..) {
            match above {
                Above::Words(words) => text += &words,
                Above::Answer(answer) => {
                    write_err(&std::mem::take(&mut text));
                    write_out(&answer);
                }
            }
        }
        self.drawn = (0, 0);
        text
    }
}

fn up(rows: usize) -> String {
    if rows > 0 { format!("\x1b[{rows}A") } else { String::new() }
}
