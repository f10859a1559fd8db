//! A small world to run programs in: a home, a workspace, a skill, other people's things, services
//! that listen, a second process of the same user, and the sandboxes of kernels with fewer
//! features.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{ErrorKind, Read, Seek};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;
use std::{fs, thread};

use skillful_tools::sandbox::{
    Confinement, Exit, Feature, Invocation, Kernel, Limits, Network, Output, SandboxError, Stdin,
    run,
};
use skillful_tools::view::{View, ViewOptions, ViewPlaces};
use tempfile::TempDir;

/// What nobody in a sandbox may learn.
pub(crate) const SECRET: &str = "s3cr3t-0f-th3-0uts1d3";
/// What a program says when it got what it should not.
pub(crate) const ESCAPED: &str = "ESCAPED";

static KERNEL: LazyLock<Kernel> = LazyLock::new(Kernel::detect);

/// The kernels that everything is tried with: this one, one whose containers allow no namespaces,
/// and the oldest one with Landlock.
pub(crate) fn kernels() -> [(&'static str, Kernel); 4] {
    let plain = || KERNEL.clone().without(Feature::Namespaces);
    [
        ("this kernel", KERNEL.clone()),
        ("old Landlock", KERNEL.clone().with_landlock_at_most(1).without(Feature::ProcessLimit)),
        ("no namespaces", plain()),
        ("no namespaces, old Landlock", plain().with_landlock_at_most(1)),
    ]
}

pub(crate) fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Runs the tests of a module once more as a user who owns nothing; they must succeed there as well.
pub(crate) fn run_again_unprivileged(module: &str) {
    /// One after the other: the kernel counts the processes of a user, whoever started them.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    const NOBODY: u32 = 65534;
    if !is_root() {
        println!("skipped: this is the unprivileged user already");
        return;
    }
    let _own_turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = TempDir::new().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let suite = folder.path().join(program());
    fs::copy(std::env::current_exe().unwrap(), &suite).unwrap();
    let mut again = Command::new(&suite);
    again.arg(module).current_dir("/").uid(NOBODY).gid(NOBODY);
    let output = loop {
        match again.output() {
            // A process that another thread has just begun still has the copy open for writing.
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {
                thread::sleep(Duration::from_millis(10));
            }
            ended => break ended.unwrap(),
        }
    };
    let said = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success(), "as an unprivileged user: {said}");
    assert!(!said.contains(" 0 passed"), "no tests in {module}: {said}");
    println!("as an unprivileged user: {said}");
}

/// The name of the test program.
fn program() -> String {
    let path = std::env::current_exe().unwrap();
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// The first of these programs that is installed system-wide.
pub(crate) fn installed(name: &str) -> Option<PathBuf> {
    let found = ["/usr/bin", "/bin", "/usr/local/bin"].map(|folder| Path::new(folder).join(name));
    let found = found.into_iter().find(|path| path.is_file());
    if found.is_none() {
        println!("skipped: `{name}` is not installed");
    }
    found
}

/// One world, removed when dropped.
pub(crate) struct World {
    _folder: TempDir,
    pub(crate) root: PathBuf,
    decoy: Child,
    tcp: TcpListener,
    udp: Arc<UdpSocket>,
    _unix: UnixListener,
    _abstract: UnixDatagram,
    abstract_name: String,
    _open_secret: fs::File,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let root = fs::canonicalize(folder.path()).unwrap();
        for (path, content) in FILES {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content.replace("SECRET", SECRET)).unwrap();
        }
        fs::create_dir_all(root.join(SANDBOX)).unwrap();
        fs::create_dir_all(root.join("private")).unwrap();
        if is_root() {
            let program = root.join("workspace/who");
            fs::copy("/usr/bin/id", &program).unwrap();
            std::os::unix::fs::chown(&program, Some(1), Some(1)).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o4755)).unwrap();
            for folder in ["", "workspace"] {
                fs::set_permissions(root.join(folder), fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
        let unix = UnixListener::bind(root.join("daemon.sock")).unwrap();
        let abstract_name = root.to_str().unwrap().replace('/', "_");
        let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
        let udp = Arc::new(UdpSocket::bind("127.0.0.1:0").unwrap());
        echo(Arc::clone(&udp));
        let open_secret = fs::File::open(root.join("home/.ssh/id_ed25519")).unwrap();
        rustix::io::fcntl_setfd(&open_secret, rustix::io::FdFlags::empty()).unwrap();
        Self {
            decoy: decoy(),
            tcp: TcpListener::bind("127.0.0.1:0").unwrap(),
            udp,
            _unix: unix,
            _abstract: UnixDatagram::bind_addr(&address).unwrap(),
            abstract_name,
            _open_secret: open_secret,
            root,
            _folder: folder,
        }
    }

    pub(crate) fn sandbox(&self) -> PathBuf {
        self.root.join(SANDBOX)
    }

    /// Whether the other process of this user still lives.
    pub(crate) fn decoy_lives(&mut self) -> bool {
        self.decoy.try_wait().unwrap().is_none()
    }

    /// Fills the places of this world into a program's text.
    pub(crate) fn fill(&self, code: &str) -> String {
        let texts = [
            ("@ROOT@", self.root.to_str().unwrap().to_owned()),
            ("@SANDBOX@", self.sandbox().to_str().unwrap().to_owned()),
            ("@SECRET@", SECRET.to_owned()),
            ("@PROGRAM@", program()),
            ("@AGENT@", std::process::id().to_string()),
            ("@DECOY@", self.decoy.id().to_string()),
            ("@TCP@", self.tcp.local_addr().unwrap().port().to_string()),
            ("@UDP@", self.udp.local_addr().unwrap().port().to_string()),
            ("@ABSTRACT@", self.abstract_name.clone()),
        ];
        texts.iter().fold(code.to_owned(), |code, (name, value)| code.replace(name, value))
    }

    /// Skill and workspace to read, with the runs of the workspace closed; the sandbox folder to
    /// write.
    pub(crate) fn confinement(&self, limits: Limits) -> Confinement {
        Confinement {
            read: vec![self.root.join("skill"), self.root.join("workspace")],
            hidden: vec![self.root.join("workspace/.agent")],
            write: vec![self.sandbox()],
            network: Network::Denied,
            limits,
            ..Confinement::default()
        }
    }

    pub(crate) fn invocation(&self, program: &Path, arguments: &[&str]) -> Invocation {
        Invocation {
            program: program.into(),
            arguments: arguments.iter().map(|argument| self.fill(argument).into()).collect(),
            environment: self.environment(),
            folder: self.sandbox(),
            stdin: Stdin::default(),
        }
    }

    fn environment(&self) -> Vec<(OsString, OsString)> {
        vec![
            ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()),
            ("HOME".into(), self.sandbox().into()),
            ("LANG".into(), "C.UTF-8".into()),
        ]
    }

    /// The folders of this run: in the workspace, as in real life.
    pub(crate) fn places(&self) -> ViewPlaces {
        let own = |name: &str| {
            let path = self.root.join("workspace/.agent/runs/this").join(name);
            fs::create_dir_all(&path).unwrap();
            path
        };
        ViewPlaces {
            workspace: self.root.join("workspace"),
            layer: own("layer"),
            home: own("home"),
            temporary: own("temporary"),
        }
    }

    /// How this run sees the workspace.
    pub(crate) fn view(&self, kernel: &Kernel) -> View {
        View::open(kernel, self.places(), ViewOptions::default()).unwrap()
    }

    /// Runs a program that sees the workspace, and works in it.
    pub(crate) fn run_in(&self, kernel: &Kernel, view: &View, code: &str) -> Exit {
        let confinement = Confinement {
            read: vec![self.root.join("skill")],
            network: Network::Private,
            ..Confinement::default()
        };
        let mut invocation = self.invocation(Path::new("/bin/sh"), &["-c", code]);
        invocation.folder = view.folder().into();
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let output = Output { stdout: &mut stdout, stderr: &mut stderr };
        view.run(kernel, &confinement, &invocation, output, &AtomicBool::new(false)).unwrap()
    }

    /// Runs a program in the sandbox.
    pub(crate) fn run(
        &self,
        kernel: &Kernel,
        confinement: &Confinement,
        invocation: &Invocation,
    ) -> Result<Exit, SandboxError> {
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let output = Output { stdout: &mut stdout, stderr: &mut stderr };
        run(kernel, confinement, invocation, output, &AtomicBool::new(false))
    }

    /// Runs the same program without a sandbox and returns what it said.
    pub(crate) fn run_freely(&self, invocation: &Invocation) -> String {
        // A file, because whoever survives would hold a pipe open.
        let mut said = tempfile::tempfile().unwrap();
        let mut command = Command::new(&invocation.program);
        command.args(&invocation.arguments).current_dir(&invocation.folder).stdin(Stdio::null());
        command
            .stdout(said.try_clone().unwrap())
            .stderr(said.try_clone().unwrap())
            .status()
            .unwrap();
        let mut content = Vec::new();
        said.rewind().unwrap();
        said.read_to_end(&mut content).unwrap();
        text(&content)
    }

    /// Everything outside the sandbox folder that a program could have changed.
    pub(crate) fn snapshot(&self) -> BTreeMap<PathBuf, (u32, i64, u64, Vec<u8>)> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let (path, metadata) = (entry.path(), entry.metadata().unwrap());
                if path == self.sandbox() || OWN.iter().any(|own| path == self.root.join(own)) {
                    continue;
                }
                let content =
                    if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
                found.insert(
                    path.clone(),
                    (metadata.permissions().mode(), metadata.mtime(), metadata.nlink(), content),
                );
                if metadata.is_dir() {
                    folders.push(path);
                }
            }
        }
        found
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.decoy.kill();
        let _ = self.decoy.wait();
        let _ = self.udp.send_to(b"", self.udp.local_addr().unwrap());
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a program said in a sandbox.
pub(crate) fn said(exit: &Exit) -> String {
    text(&exit.stdout.head) + &text(&exit.stdout.tail) + &text(&exit.stderr.head)
}

/// Where the program of a run works: inside the workspace, as in real life.
const SANDBOX: &str = "workspace/.agent/runs/this/sandbox";

/// Where else a run keeps what is its own.
const OWN: &[&str] = &[
    "workspace/.agent/runs/this/layer",
    "workspace/.agent/runs/this/home",
    "workspace/.agent/runs/this/temporary",
];

const FILES: &[(&str, &str)] = &[
    ("home/.ssh/id_ed25519", "SECRET"),
    ("home/.bashrc", "# profile\n"),
    ("other-project/main.py", "SECRET"),
    ("workspace/data.csv", "name,count\nnut,3\nbolt,4\n"),
    ("workspace/.git/hooks/pre-commit", "#!/bin/sh\n"),
    ("workspace/.agent/runs/other/observations/1.txt", "SECRET"),
    ("workspace/.agent/runs/this/events.jsonl", "SECRET"),
    ("skill/SKILL.md", "---\nname: skill\n---\n"),
    ("skill/scripts/run.py", "print('the skill')\n"),
];

/// Another process of this user, with a secret in its environment.
fn decoy() -> Child {
    let mut decoy = Command::new("/bin/sh")
        .args(["-c", "echo ready; exec sleep 600"])
        .env("DECOY_SECRET", SECRET)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut ready = [0; 6];
    decoy.stdout.as_mut().unwrap().read_exact(&mut ready).unwrap();
    decoy
}

/// Answers every datagram, like a name server.
fn echo(socket: Arc<UdpSocket>) {
    thread::spawn(move || {
        let mut packet = [0; 512];
        // An empty one ends it.
        while let Ok((length @ 1.., from)) = socket.recv_from(&mut packet) {
            let _ = socket.send_to(&packet[..length], from);
        }
    });
}
