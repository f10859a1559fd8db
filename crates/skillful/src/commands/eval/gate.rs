//! Whose word cases are, and whether they may run.
//!
//! A repository can bring any case. Invariant: a case of a project runs only where the user trusts its file with
//! everything that it brings along, and what runs is what was compared.

use std::path::{Component, Path, PathBuf};

use eval::case::Located;
use eval::folder::FolderError;
use eval::shelf::{Reach, Shelf, ShelfError, Unfit};
use serde_json::json;
use skill::index::Index;
use skill::roots::{Root, Source};
use skill::trust::EvalsTrust;

use crate::failure::{Exit, Failure};
use crate::session::Session;

/// Cases that may run.
pub(super) struct Passed {
    pub(super) cases: Vec<Located>,
    /// What they bring along stays as long as they do.
    _shelf: Shelf,
}

/// Whose word a file is.
pub(crate) enum Whose {
    Users,
    /// That of the project in this folder.
    Projects(PathBuf),
}

/// Lets cases pass that are the user's, or that the user trusts; `own` folders were written by this program.
pub(super) fn pass(
    session: &Session,
    cases: &[Located],
    own: &[PathBuf],
) -> Result<Passed, Failure> {
    let trust = session.index_options()?.trust;
    let mut shelf = Shelf::new().map_err(|error| of_shelf(&error))?;
    let (mut passed, mut untrusted, mut changed) = (Vec::new(), Vec::new(), Vec::new());
    for cases in cases.chunk_by(|a, b| a.file == b.file) {
        let Whose::Projects(project) = whose(session, &cases[0].file, own) else {
            passed.extend_from_slice(cases);
            continue;
        };
        let users = users_skills(session);
        let reach = Reach { project: &project, users: &users };
        let mut taken = None;
        let said = trust.evals(&project, &cases[0].file, || {
            let found = shelf.take(cases, reach)?;
            let sum = found.sha256.clone();
            taken = Some(found);
            Ok(sum)
        });
        match said.map_err(|error| of_shelf(&error))? {
            EvalsTrust::Unknown => untrusted.push(cases[0].file.clone()),
            EvalsTrust::Changed => changed.push(cases[0].file.clone()),
            EvalsTrust::Trusted => passed.extend(match taken {
                Some(taken) => taken.cases,
                None => shelf.take(cases, reach).map_err(|error| of_shelf(&error))?.cases,
            }),
        }
    }
    match untrusted.is_empty() && changed.is_empty() {
        true => Ok(Passed { cases: passed, _shelf: shelf }),
        false => Err(refusal(session, &untrusted, &changed)?),
    }
}

/// A file lies in a project where a repository is around it, or where the command was given in a folder around it.
/// What is in the user's own folders is the user's, whatever is around them.
pub(crate) fn whose(session: &Session, file: &Path, own: &[PathBuf]) -> Whose {
    let surroundings = &session.surroundings;
    // A link in the project does not make the user's what the project chose.
    let named = plain(file);
    let file = real(file);
    let home = surroundings.home.as_deref().map(real);
    let state = home.as_ref().map(|home| real(&home.join(".agent")));
    let mut users =
        users_skills(session).into_iter().chain(state).chain(own.iter().map(|o| real(o)));
    if users.any(|folder| file.starts_with(folder)) {
        return Whose::Users;
    }
    let repository = file.ancestors().skip(1).find(|folder| folder.join(".git").exists());
    let here = real(surroundings.project());
    let is_here = [&file, &named]
        .iter()
        .any(|path| path.starts_with(&here) || path.starts_with(surroundings.project()));
    match repository {
        Some(repository) => Whose::Projects(repository.to_owned()),
        None if is_here && home.as_ref() != Some(&here) => Whose::Projects(here),
        None => Whose::Users,
    }
}

/// Where the project's cases are looked for: its own, and those of its skills.
pub(crate) fn places(session: &Session) -> Result<Vec<PathBuf>, Failure> {
    let project = session.surroundings.project().join(".agent/evals");
    let mut roots = session.surroundings.roots();
    roots.retain(|root| root.source == Source::Project);
    let index = Index::build(&roots, &session.index_options()?);
    let skills = index.skills.iter().chain(&index.shadowed);
    let skills = skills.map(|entry| entry.path.join("evals"));
    Ok(std::iter::once(project).chain(skills).filter(|folder| folder.is_dir()).collect())
}

/// Folders of skills that the user has or names.
pub(crate) fn users_skills(session: &Session) -> Vec<PathBuf> {
    let is_users = |root: &Root| matches!(root.source, Source::User | Source::Explicit);
    let roots = session.surroundings.roots();
    roots.iter().filter(|root| is_users(root)).map(|root| real(&root.path)).collect()
}

/// A path as it is spelled, from the root on.
fn plain(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    whole.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
        plain
    })
}

/// One file, however it was spelled.
pub(crate) fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn refusal(
    session: &Session,
    untrusted: &[PathBuf],
    changed: &[PathBuf],
) -> Result<Failure, Failure> {
    let files: Vec<PathBuf> = untrusted.iter().chain(changed).map(|file| real(file)).collect();
    let first = files.first().map_or(Path::new(""), PathBuf::as_path).display();
    let more = match files.len() - 1 {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let message = match untrusted.is_empty() {
        false => format!("`{first}`{more} comes from a project that you have not trusted"),
        true => format!("`{first}`{more} has changed since you trusted it"),
    };
    let places: Vec<PathBuf> = places(session)?.iter().map(|place| real(place)).collect();
    let is_usual = |file: &PathBuf| places.iter().any(|place| file.starts_with(place));
    let hint = match (files.iter().all(is_usual), files.as_slice()) {
        (true, _) if untrusted.is_empty() => "look at it, then `skillful trust project`; if you write it yourself, `skillful trust project --author` trusts your changes, too".to_owned(),
        (true, _) => "look at it, then `skillful trust project`; `skillful trust project --dry-run` says what it brings".to_owned(),
        (false, [file]) => format!("look at it, then `skillful trust evals {}`", file.display()),
        (false, _) => "look at them, then `skillful trust evals PATH`".to_owned(),
    };
    let names = |files: &[PathBuf]| -> Vec<String> {
        files.iter().map(|file| real(file).to_string_lossy().into_owned()).collect()
    };
    let details = json!({"untrusted": names(untrusted), "changed": names(changed)});
    Ok(Failure::new(Exit::Refused, "EvalsUntrusted", message).hint(hint).details(details))
}

pub(crate) fn of_shelf(error: &ShelfError) -> Failure {
    let (exit, code, hint) = match error {
        ShelfError::NoPlace(_) => {
            (Exit::Failed, "IOError", "check that there is room for temporary files")
        }
        ShelfError::Case { source, .. } => match source {
            Unfit::File(_) => {
                (Exit::Refused, "PathTraversalBlocked", "put the file beside the case")
            }
            Unfit::Outside(_) => (
                Exit::Refused,
                "PathTraversalBlocked",
                "a case can name what is in its project, and your own folders of skills",
            ),
            Unfit::Folder(FolderError::LeadsOut { .. }) => (
                Exit::Refused,
                "PathTraversalBlocked",
                "put the file itself in the place of the link",
            ),
            Unfit::Folder(_) => {
                (Exit::Refused, "CaseUnfit", "a case can bring regular files that you may read")
            }
        },
    };
    Failure::from_error(exit, code, error).hint(hint)
}
