//! What scripts do for a living, inside the sandbox: it must work as it does outside.

use std::ffi::OsString;
use std::fs;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sha2::{Digest, Sha256};
use skillful_tools::sandbox::{Confinement, Ending, Isolation, Kernel, Limits, Network, Output};
use skillful_tools::script::{
    ApprovedContent, ArgumentLimits, Environment, Interpreters, Script, Surroundings, run,
};

use crate::world::{World, installed, kernels, run_again_unprivileged, text};

/// A script of the skill and how it is called.
struct Work<'a> {
    path: &'a str,
    content: &'a str,
    arguments: &'a [&'a str],
    stdin: &'a str,
    time_zone: Option<&'a str>,
    network: Network,
}

impl Default for Work<'_> {
    fn default() -> Self {
        Self {
            path: "scripts/work.sh",
            content: "",
            arguments: &[],
            stdin: "",
            time_zone: None,
            network: Network::Denied,
        }
    }
}

fn perform(world: &World, kernel: &Kernel, work: &Work<'_>) -> (Ending, String, Isolation) {
    let content = world.fill(work.content);
    let script = Script {
        skill: world.root.join("skill"),
        path: work.path.into(),
        content: ApprovedContent::new(content.clone().into(), Sha256::digest(content).into())
            .unwrap(),
        arguments: work.arguments.iter().map(OsString::from).collect(),
        stdin: work.stdin.into(),
    };
    let surroundings = Surroundings {
        view: world.view(kernel).into(),
        private: world.root.join("private"),
        environment: Environment {
            time_zone: work.time_zone.map(OsString::from),
            ..Environment::default()
        },
        interpreters: Interpreters::default().with("lua", vec!["lua5.4".into()]),
        arguments: ArgumentLimits::default(),
        confinement: Confinement {
            hidden: vec![world.root.join("workspace/.agent")],
            network: work.network,
            // However busy the machine is.
            limits: Limits { time: Duration::from_secs(600), ..Limits::default() },
            ..Confinement::default()
        },
    };
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let output = Output { stdout: &mut stdout, stderr: &mut stderr };
    let exit = run(kernel, &script, &surroundings, output, &AtomicBool::new(false)).unwrap();
    (exit.ending, text(&stdout) + &text(&stderr), exit.applied.isolation)
}

/// Does the work with every kernel; it must end well and say exactly this.
fn check(interpreter: &str, work: &Work<'_>, expected: &str) {
    if installed(interpreter).is_none() {
        return;
    }
    for (name, kernel) in kernels() {
        let (ending, said, _) = perform(&World::new(), &kernel, work);
        assert_eq!((ending, said.as_str()), (Ending::Exited(0), expected), "{name}");
    }
}

fn python(content: &str, expected: &str) {
    check("python3", &Work { path: "scripts/work.py", content, ..Work::default() }, expected);
}

fn node(content: &str, expected: &str) {
    check("node", &Work { path: "scripts/work.mjs", content, ..Work::default() }, expected);
}

fn shell(content: &str, expected: &str) {
    check("sh", &Work { content, ..Work::default() }, expected);
}

#[test]
fn all_of_this_works_for_an_unprivileged_user_as_well() {
    run_again_unprivileged("slow::useful_work::");
}

#[test]
fn python_reads_the_workspace_and_writes_a_result() {
    python(
        "import csv, json, os, pathlib
rows = list(csv.DictReader(open(os.environ['WORKSPACE_DIR'] + '/data.csv')))
pathlib.Path('result.json').write_text(json.dumps(rows))
print(json.loads(open(os.environ['WORKSPACE_DIR'] + '/result.json').read())[1]['name'])",
        "bolt\n",
    );
}

#[test]
fn python_imports_its_standard_library() {
    python(
        "import argparse, asyncio, base64, collections, concurrent.futures, csv, ctypes, datetime, decimal, difflib
import email, fractions, functools, glob, gzip, hashlib, heapq, html, http.client, importlib, io, itertools
import json, locale, logging, lzma, math, mimetypes, multiprocessing, operator, os, pathlib, pickle, platform
import pprint, queue, random, re, secrets, shlex, shutil, signal, socket, sqlite3, ssl, statistics, string
import struct, subprocess, sys, tarfile, tempfile, textwrap, threading, time, timeit, traceback, unittest
import urllib.parse, urllib.request, uuid, venv, xml.etree.ElementTree, zipfile, zlib, zoneinfo
ssl.create_default_context()
print(platform.system(), uuid.uuid4().version, os.cpu_count() > 0, len(secrets.token_bytes(8)))",
        "Linux 4 True 8\n",
    );
}

#[test]
fn python_copies_packs_and_unpacks_files() {
    python(
        "import os, shutil, stat, tarfile, zipfile
shutil.copy(os.environ['WORKSPACE_DIR'] + '/data.csv', 'a.csv')
shutil.copy2('a.csv', 'b.csv')
shutil.copytree(os.environ['SKILL_DIR'], 'skill')
os.chmod('a.csv', 0o640)
os.utime('a.csv', (978307200, 978307201))
shutil.make_archive('packed', 'gztar', 'skill')
tarfile.open('packed.tar.gz').extractall('unpacked')
with zipfile.ZipFile('packed.zip', 'w') as archive:
    archive.write('a.csv')
zipfile.ZipFile('packed.zip').extractall('unzipped')
shutil.move('unzipped', 'moved')
shutil.rmtree('skill')
status = os.stat('a.csv')
print(oct(stat.S_IMODE(status.st_mode)), status.st_mtime, sorted(os.listdir('unpacked')), os.listdir('moved'))",
        "0o640 978307201.0 ['SKILL.md', 'scripts'] ['a.csv']\n",
    );
}

#[test]
fn python_keeps_a_database_and_temporary_files() {
    python(
        "import os, sqlite3, tempfile
with sqlite3.connect('work.db') as database:
    database.execute('create table t (n integer)')
    database.executemany('insert into t values (?)', [(n,) for n in range(100)])
    print(database.execute('select sum(n) from t').fetchone()[0])
with tempfile.NamedTemporaryFile('w+') as file, tempfile.TemporaryDirectory() as folder:
    file.write('x')
    print(os.path.dirname(file.name) == os.environ['TMPDIR'], os.path.isdir(folder))",
        "4950\nTrue True\n",
    );
}

#[test]
fn python_runs_threads_subprocesses_and_coroutines() {
    python(
        "import asyncio, concurrent.futures, os, subprocess, sys
with concurrent.futures.ThreadPoolExecutor(16) as pool:
    print(sum(pool.map(lambda n: n * n, range(100))))
print(subprocess.run(['sort', '-r'], input='a\\nb\\n', text=True, capture_output=True).stdout.split())
print(subprocess.check_output('echo $((6 * 7))', shell=True, text=True).strip())
print(subprocess.check_output([sys.executable, '-c', 'print(1)'], text=True).strip())
async def main():
    process = await asyncio.create_subprocess_exec('cat', stdin=-1, stdout=-1)
    output, _ = await process.communicate(b'async')
    print(output.decode(), await asyncio.to_thread(lambda: 'thread'))
asyncio.run(main())
child = os.fork()
if child == 0:
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))",
        "328350\n['b', 'a']\n42\n1\nasync thread\n7\n",
    );
}

#[test]
fn python_stops_its_own_children() {
    python(
        "import os, signal, subprocess
child = subprocess.Popen(['sleep', '600'], start_new_session=True)
child.send_signal(signal.SIGSTOP)
child.send_signal(signal.SIGCONT)
child.terminate()
print(child.wait())
group = subprocess.Popen(['sleep', '600'], start_new_session=True)
os.killpg(group.pid, signal.SIGKILL)
print(group.wait())
signal.signal(signal.SIGUSR1, lambda *_: print('signalled'))
signal.raise_signal(signal.SIGUSR1)
os.kill(os.getpid(), signal.SIGUSR1)",
        "-15\n-9\nsignalled\nsignalled\n",
    );
}

#[test]
fn python_shares_memory_between_processes_where_they_are_private() {
    if installed("python3").is_none() {
        return;
    }
    let content = "import multiprocessing
if __name__ == '__main__':
    with multiprocessing.Pool(4) as pool:
        print(pool.map(abs, range(-3, 0)))
";
    for (name, kernel) in kernels() {
        let work = Work { path: "scripts/work.py", content, ..Work::default() };
        let (ending, said, isolation) = perform(&World::new(), &kernel, &work);
        match isolation {
            Isolation::Namespaces => {
                assert_eq!((ending, said.as_str()), (Ending::Exited(0), "[3, 2, 1]\n"), "{name}")
            }
            // Semaphores would be shared with everything else the user runs.
            _ => assert!(said.contains("PermissionError"), "{name}: {said}"),
        }
    }
}

#[test]
fn python_knows_locales_and_time_zones() {
    check(
        "python3",
        &Work {
            path: "scripts/work.py",
            content: "import datetime, locale, sys, time, zoneinfo
locale.setlocale(locale.LC_ALL, '')
print(locale.getpreferredencoding(), sys.stdout.encoding, 'ä€'.encode())
print(datetime.datetime.fromtimestamp(0).hour, time.tzname[0])
print(datetime.datetime(2026, 7, 1, tzinfo=zoneinfo.ZoneInfo('Asia/Tokyo')).utcoffset())",
            time_zone: Some("Europe/Berlin"),
            ..Work::default()
        },
        "UTF-8 utf-8 b'\\xc3\\xa4\\xe2\\x82\\xac'\n1 CET\n9:00:00\n",
    );
}

#[test]
fn a_script_finds_its_neighbours() {
    let content = "import os, sys
sys.path.insert(0, os.path.dirname(__file__))
import helper
print(helper.NAME, open(os.path.join(os.path.dirname(__file__), '..', 'assets', 'text.txt')).read())";
    if installed("python3").is_none() {
        return;
    }
    for (name, kernel) in kernels() {
        let world = World::new();
        fs::create_dir_all(world.root.join("skill/scripts/deep")).unwrap();
        fs::create_dir_all(world.root.join("skill/assets")).unwrap();
        fs::write(world.root.join("skill/scripts/helper.py"), "NAME = 'helper'\n").unwrap();
        fs::write(world.root.join("skill/assets/text.txt"), "asset").unwrap();
        let work = Work { path: "scripts/work.py", content, ..Work::default() };
        let (_, said, _) = perform(&world, &kernel, &work);
        assert_eq!(said, "helper asset\n", "{name}");
        let deep = Work {
            path: "scripts/deep/work.sh",
            content: r#". "$(dirname "$0")/../../assets/text.txt" 2>/dev/null; cat "$(dirname "$0")/../helper.py" "$SKILL_DIR/assets/text.txt""#,
            ..Work::default()
        };
        let (_, said, _) = perform(&world, &kernel, &deep);
        assert_eq!(said, "NAME = 'helper'\nasset", "{name}");
    }
}

#[test]
fn node_reads_writes_computes_and_starts_processes() {
    node(
        r"import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import { once } from 'node:events';
const data = fs.readFileSync(path.join(process.env.WORKSPACE_DIR, 'data.csv'), 'utf8');
fs.writeFileSync('result.txt', data.split('\n')[1]);
fs.cpSync('result.txt', 'copy.txt');
fs.chmodSync('copy.txt', 0o600);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'x-'));
await fs.promises.writeFile(path.join(folder, 'y'), zlib.gzipSync('z'));
console.log(fs.readFileSync('copy.txt', 'utf8'), createHash('sha256').update('').digest('hex').slice(0, 8));
console.log(execFileSync('sort', ['-n'], { input: '2\n1\n' }).toString().trim().split('\n').join(' '));
const child = spawn('cat', { stdio: ['pipe', 'pipe', 'inherit'] });
child.stdin.end('through a pipe');
let answer = '';
child.stdout.on('data', piece => answer += piece);
await once(child, 'close');
console.log(answer, os.cpus().length > 0, os.totalmem() > 0);",
        "nut,3 e3b0c442\n1 2\nthrough a pipe true true\n",
    );
}

#[test]
fn node_runs_workers_and_timers() {
    node(
        r"import { Worker } from 'node:worker_threads';
import { once } from 'node:events';
const worker = new Worker('require(`node:worker_threads`).parentPort.postMessage(6 * 7)', { eval: true });
const [answer] = await once(worker, 'message');
await new Promise(resolve => setTimeout(resolve, 1));
console.log(answer, new Intl.DateTimeFormat('en', { timeZone: 'Asia/Tokyo', hour: 'numeric' }).format(0));",
        "42 9 AM\n",
    );
}

#[test]
fn the_shell_and_its_tools_work() {
    shell(
        r#"set -e
mkdir -p deep/er && cd deep/er
sort -t, -k2 -n "$WORKSPACE_DIR/data.csv" | tail -n 2 | cut -d, -f1 | tee names | tr '\n' ' '
sed -i s/nut/screw/ names && grep -c screw names
cp -p names copy && touch -d 2001-01-01T00:00:00Z copy && chmod 750 copy && stat -c '%a %Y' copy
ln -s copy link && ln copy hard && readlink link && rm link hard
tar czf ../packed.tgz . && mkdir ../out && tar xzpf ../packed.tgz -C ../out && ls ../out | tr '\n' ' '
find .. -name names | xargs cat | wc -l
mkfifo pipe && { echo piped > pipe & } && cat pipe && wait
temporary=$(mktemp) && echo kept > "$temporary" && cat "$temporary"
cat <<END
$(seq 1 5 | paste -sd+) = $(( $(seq 1 5 | paste -sd+) ))
END
printf '%s\n' b a | sort | diff - /dev/null | grep -c '<' || true
seq 20000 | sort -R | sort -n | sha256sum | cut -c1-8
truncate -s 10 sized && wc -c < sized
date -u -d @0 +%Y; test -w /dev/null; id -un > /dev/null; nproc > /dev/null"#,
        "nut bolt 1\n750 978307200\ncopy\ncopy names 4\npiped\nkept\n1+2+3+4+5 = 15\n2\nf6351f5e\n10\n1970\n",
    );
}

#[test]
fn bash_substitutes_processes() {
    let content = r#"diff <(seq 3) <(seq 2) | tail -n 1
coproc cat; echo again >&"${COPROC[1]}"; read -r line <&"${COPROC[0]}"; echo "$line $(ulimit -c)"; kill $COPROC_PID
for i in {1..30}; do sleep 0 & done; wait; (trap 'echo trapped' TERM; kill $BASHPID; :)"#;
    check(
        "bash",
        &Work { path: "scripts/work.bash", content, ..Work::default() },
        "< 3\nagain 0\ntrapped\n",
    );
}

#[test]
fn awk_perl_ruby_and_lua_work() {
    shell(
        r#"awk -F, 'NR > 1 { sum += $2; ("echo " $1) | getline name; print name } END { print sum }' "$WORKSPACE_DIR/data.csv""#,
        "nut\nbolt\n7\n",
    );
    let perl = r#"use strict; use POSIX; use File::Temp; use Time::Local;
open(my $data, '<', "$ENV{WORKSPACE_DIR}/data.csv") or die; my @lines = <$data>;
my $child = open(my $out, '-|', 'echo', 'from a child'); print <$out>; print scalar(@lines), "\n";"#;
    check(
        "perl",
        &Work { path: "scripts/work.pl", content: perl, ..Work::default() },
        "from a child\n3\n",
    );
    let ruby = r#"require 'csv'; require 'json'; require 'tempfile'
puts CSV.read(ENV['WORKSPACE_DIR'] + '/data.csv').to_json, `echo from a child`, Thread.new { 1 + 1 }.value"#;
    let expected = "[[\"name\",\"count\"],[\"nut\",\"3\"],[\"bolt\",\"4\"]]\nfrom a child\n2\n";
    check("ruby", &Work { path: "scripts/work.rb", content: ruby, ..Work::default() }, expected);
    let lua = r#"local out = io.popen('echo from a child'); io.write(out:read('a')); os.remove(os.tmpname and 'x')"#;
    check(
        "lua5.4",
        &Work { path: "scripts/work.lua", content: lua, ..Work::default() },
        "from a child\n",
    );
}

#[test]
fn java_works() {
    let content = r#"cat > Work.java <<'END'
import java.nio.file.*;
class Work {
    public static void main(String[] arguments) throws Exception {
        Path data = Path.of(System.getenv("WORKSPACE_DIR"), "data.csv");
        byte[] hash = java.security.MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(data));
        System.out.println(Files.readAllLines(data).size() + " " + hash.length);
    }
}
END
java Work.java"#;
    check("javac", &Work { content, ..Work::default() }, "3 32\n");
}

#[test]
fn a_program_can_be_compiled_and_run() {
    let content = r#"printf 'int puts(const char *); int main(void) { return puts("compiled") < 0; }' > a.c
cc -o a a.c && ./a"#;
    check("cc", &Work { content, ..Work::default() }, "compiled\n");
}

#[test]
fn arguments_and_input_arrive_as_they_are() {
    let work = Work {
        content: r#"printf '[%s]' "$@"; cat; test -t 0 || echo ' no terminal'"#,
        arguments: &["a b", "", "$(id)", "*", "ä", "--flag=1", "'\"\n"],
        stdin: "given",
        ..Work::default()
    };
    check("sh", &work, "[a b][][$(id)][*][ä][--flag=1]['\"\n]given no terminal\n");
}

#[test]
fn nothing_to_read_is_an_end_and_not_a_wait() {
    shell("wc -c; [ \"$PWD\" = \"$WORKSPACE_DIR\" ] && ls data.csv", "0\ndata.csv\n");
}

#[test]
fn a_first_line_chooses_the_interpreter() {
    let work = Work {
        path: "scripts/work",
        content: "#!/usr/bin/env -S awk -f\nBEGIN { print \"awk\" }",
        ..Work::default()
    };
    check("awk", &work, "awk\n");
}

#[test]
fn a_granted_network_can_be_used() {
    let content = "import socket
socket.create_connection(('127.0.0.1', @TCP@)).close()
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.settimeout(20)
server.sendto(b'query', ('127.0.0.1', @UDP@))
print(server.recv(100))
for family, kind in (socket.AF_UNIX, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_RAW):
    try:
        socket.socket(family, kind)
        print('too much')
    except PermissionError:
        print('refused')";
    let work =
        Work { path: "scripts/work.py", content, network: Network::Internet, ..Work::default() };
    check("python3", &work, "b'query'\nrefused\nrefused\n");
}

#[test]
fn an_ending_is_reported_as_it_was() {
    for (name, kernel) in kernels() {
        let world = World::new();
        for (content, expected) in [
            ("exit 3", Ending::Exited(3)),
            ("kill -SEGV $$", Ending::Signalled(libc::SIGSEGV)),
            ("kill -KILL $$", Ending::Signalled(libc::SIGKILL)),
            ("ulimit -t 1; while :; do :; done", Ending::Signalled(libc::SIGKILL)),
        ] {
            let (ending, _, _) = perform(&world, &kernel, &Work { content, ..Work::default() });
            assert_eq!(ending, expected, "{name}: {content}");
        }
    }
}

#[test]
fn what_one_script_leaves_the_next_one_finds() {
    for (name, kernel) in kernels() {
        let world = World::new();
        perform(
            &world,
            &kernel,
            &Work { content: "echo made > result; mktemp", ..Work::default() },
        );
        let (_, said, _) =
            perform(&world, &kernel, &Work { content: "cat result", ..Work::default() });
        assert_eq!(said, "made\n", "{name}");
        assert!(!world.root.join("workspace/result").exists(), "{name}");
    }
}
