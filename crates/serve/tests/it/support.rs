//! A place with skills, a server over it, and a client that speaks in JSON.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use permission::{Configuration, Engine, Invocation, Rules};
use runtime::journal::{Owner, Redactor};
use runtime::open::{Runtime, Start};
use serde_json::{Value, json};
use skill::index::Index;
use skillful_serve::mcp::serve_lines;
use skillful_serve::shelf::{Settings, Shelf};
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

/// A temporary folder with skills of the user, and some of a project that is not trusted.
pub(crate) struct World {
    _folder: TempDir,
    pub(crate) root: PathBuf,
    rules: Rules,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_rules(json!({}))
    }

    /// With the user's rules.
    pub(crate) fn with_rules(rules: Value) -> Self {
        Self::with_rule_text(&rules.to_string())
    }

    /// With the user's rules as text, in which their order counts.
    pub(crate) fn with_rule_text(rules: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for part in ["explicit", "project/.agents/skills", "project/.git"] {
            fs::create_dir_all(root.join(part)).unwrap();
        }
        Self { _folder: folder, root, rules: serde_json::from_str(rules).unwrap() }
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    /// A skill that may be used; `more` is frontmatter.
    pub(crate) fn skill(&self, name: &str, more: &str) -> &Self {
        self.write(
            &format!("explicit/{name}/SKILL.md"),
            format!("---\nname: {name}\ndescription: What {name} does.\n{more}---\n\n# {name}\n\nDo it.\n"),
        )
    }

    /// What the server is started in: the user's skills, and no home.
    pub(crate) fn runtime(&self) -> Runtime {
        self.runtime_with(&[])
    }

    /// The same, with a home.
    #[cfg(all(target_os = "linux", not(portable)))]
    pub(crate) fn runtime_at_home(&self) -> Runtime {
        self.runtime_with(&[("HOME".into(), self.root.join("home").into())])
    }

    fn runtime_with(&self, more: &[(OsString, OsString)]) -> Runtime {
        let environment = [
            ("PATH".into(), "/usr/bin:/bin".into()),
            ("SKILLFUL_REGISTRY_PRECEDENCE".into(), r#"["explicit", "project"]"#.into()),
        ];
        let start = Start {
            directory: Some(self.root.join("project")),
            roots: vec![self.root.join("explicit")],
            environment: environment.into_iter().chain(more.iter().cloned()).collect(),
            ..Start::default()
        };
        Runtime::open(start).unwrap()
    }

    pub(crate) fn index(&self) -> Arc<Index> {
        Arc::new(self.runtime().index().unwrap())
    }

    pub(crate) fn shelf(&self) -> Arc<Shelf> {
        self.shelf_of(self.runtime(), None)
    }

    /// Whose records are the user's.
    #[cfg(all(target_os = "linux", not(portable)))]
    pub(crate) fn owned_shelf(&self) -> Arc<Shelf> {
        let runtime = self.runtime_at_home();
        let owner = runtime.new_owner().unwrap();
        self.shelf_of(runtime, Some(owner))
    }

    fn shelf_of(&self, runtime: Runtime, owner: Option<Owner>) -> Arc<Shelf> {
        let configuration = Configuration { user: self.rules.clone(), ..Default::default() };
        let settings = Settings {
            runtime: Arc::new(runtime),
            engine: Engine::new("project", configuration),
            owner,
            redactor: Redactor::new([], []).unwrap(),
            invocation: Invocation {
                command: vec!["skillful".into(), "mcp".into()],
                arguments: Vec::new(),
            },
        };
        Arc::new(Shelf::new(self.index(), settings))
    }

    /// The folders of the sessions' records.
    pub(crate) fn records(&self) -> Vec<PathBuf> {
        let runs = fs::read_dir(self.root.join("project/.agent/runs"));
        let mut found: Vec<PathBuf> = runs
            .into_iter()
            .flatten()
            .map(|entry| entry.unwrap().path())
            .filter(|path| !path.file_name().unwrap().to_string_lossy().starts_with('.'))
            .collect();
        found.sort();
        found
    }
}

/// Whether every session has ended, its record finished.
pub(crate) async fn closed(shelf: &Arc<Shelf>) -> bool {
    let shelf = Arc::clone(shelf);
    let wait = move || shelf.wait_until_closed(std::time::Duration::from_secs(60));
    tokio::task::spawn_blocking(wait).await.unwrap()
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// A script that says that it runs, and then never ends.
pub(crate) const ENDLESS: &str = "#!/bin/sh\necho running\nwhile :; do sleep 1; done\n";

pub(crate) async fn until_running(world: &World) {
    let runs = |record: &PathBuf| {
        let observations = fs::read_dir(record.join("observations"));
        observations.is_ok_and(|mut files| {
            files.any(|file| read(&file.unwrap().path()).contains("running"))
        })
    };
    while !world.records().iter().any(runs) {
        tokio::task::yield_now().await;
    }
}

/// A client over lines, of a revision with a handshake.
pub(crate) struct Client {
    read: BufReader<ReadHalf<DuplexStream>>,
    write: WriteHalf<DuplexStream>,
    next_id: u64,
    /// What it says when it is asked something.
    pub(crate) answer: Value,
    /// Notifications and questions of the server.
    pub(crate) heard: Vec<Value>,
}

impl Client {
    /// A connection over which nothing was said yet.
    pub(crate) fn unconnected(shelf: &Arc<Shelf>) -> Self {
        let (near, far) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(far);
        tokio::spawn(serve_lines(Arc::clone(shelf), read, write));
        let (read, write) = tokio::io::split(near);
        let read = BufReader::new(read);
        Self { read, write, next_id: 0, answer: Value::Null, heard: Vec::new() }
    }

    pub(crate) async fn connect(shelf: &Arc<Shelf>) -> Self {
        Self::connect_with(shelf, json!({})).await
    }

    pub(crate) async fn connect_with(shelf: &Arc<Shelf>, capabilities: Value) -> Self {
        let mut client = Self::unconnected(shelf);
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": "test", "version": "1"}});
        client.ask("initialize", params).await;
        client.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        client
    }

    /// Writes a line as it is.
    pub(crate) async fn say(&mut self, line: &str) {
        self.write.write_all(line.as_bytes()).await.unwrap();
        self.write.write_all(b"\n").await.unwrap();
    }

    /// Writes a part of a line.
    pub(crate) async fn say_part(&mut self, part: &str) {
        self.write.write_all(part.as_bytes()).await.unwrap();
    }

    /// The next line.
    pub(crate) async fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.read.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap_or(Value::Null)
    }

    /// Sends a request; its whole answer.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.begin(method, params).await;
        loop {
            let heard = self.hear().await;
            if heard.get("method").is_some() {
                if let Some(asked) = heard.get("id") {
                    let answer = json!({"jsonrpc": "2.0", "id": asked, "result": self.answer});
                    self.say(&answer.to_string()).await;
                }
                self.heard.push(heard);
            } else if heard["id"] == id || heard.is_null() {
                return heard;
            }
        }
    }

    /// Sends a request and does not wait.
    pub(crate) async fn begin(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.say(&request.to_string()).await;
        id
    }

    /// Calls a tool; its text.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.ask("tools/call", json!({"name": tool, "arguments": arguments})).await;
        match answer["result"]["content"][0]["text"].as_str() {
            Some(text) => text.to_owned(),
            None => answer.to_string(),
        }
    }
}
