//! `skillful runs take`

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use runtime::changes::KeptRun;
use schemars::JsonSchema;
use serde::Serialize;
use tools::changes::LayerPath;

use crate::failure::{Exit, Failure};
use crate::output::Output;
use crate::session::Session;

/// Copy one file that a run made, without applying anything
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  skillful runs take last report.pdf\n  skillful runs take last out/report.pdf -o /tmp/report.pdf"
)]
pub(super) struct Take {
    /// The run, or `last`
    run: String,
    /// The file, as `skillful runs files` shows it
    path: String,
    /// Where to put it; `-` for standard output (default: its name, here)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A file that was taken.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Taken {
    path: String,
    file: String,
    bytes: u64,
}

impl Take {
    pub(super) fn run(&self, session: &Session, output: &Output) -> Result<ExitCode, Failure> {
        let index = session.index()?;
        let mut kept = KeptRun::open(session, &index, &self.run, "runs take")?;
        let path =
            LayerPath::new(self.path.trim_start_matches("./").as_bytes()).map_err(|error| {
                Failure::from_error(Exit::Usage, "Usage", &error)
                    .hint("name a file as `skillful runs files` shows it")
            })?;
        let mut file = kept.open_file(&path)?;
        if self.output.as_deref() == Some(Path::new("-")) {
            let mut out = std::io::stdout().lock();
            std::io::copy(&mut file, &mut out).map_err(|error| io(&error))?;
            let _ = out.flush();
            return Ok(ExitCode::SUCCESS);
        }
        let name = Path::new(&self.path).file_name().unwrap_or_default();
        let to = self.output.clone().unwrap_or_else(|| PathBuf::from(name));
        let to = session.surroundings.working_directory.join(to);
        // Nothing that is there is replaced without a word.
        let mut made =
            OpenOptions::new().write(true).create_new(true).open(&to).map_err(|error| {
                Failure::from_error(Exit::Failed, "IOError", &error).hint(format!(
                    "`{}` may be there already; choose another name with -o",
                    to.display()
                ))
            })?;
        let bytes = std::io::copy(&mut file, &mut made).map_err(|error| io(&error))?;
        let taken = Taken { path: self.path.clone(), file: to.display().to_string(), bytes };
        output.result(&taken, |out, _| writeln!(out, "{}", taken.file))?;
        Ok(ExitCode::SUCCESS)
    }
}

fn io(error: &std::io::Error) -> Failure {
    Failure::from_error(Exit::Failed, "IOError", error).hint("check that the disk has room")
}
