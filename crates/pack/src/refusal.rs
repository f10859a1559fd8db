//! Why a pack is refused: one code for each thing that a pack may not do.
//!
//! Invariant: every refusal names the entry it concerns, where there is one.

use common::failure::{Exit, Explain};
use common::text::for_terminal;
use serde_json::{Value, json};
use std::borrow::Cow;

/// What is wrong, and with which entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}", entry.as_deref().map(|entry| format!("`{}`: ", for_terminal(entry))).unwrap_or_default(), for_terminal(message))]
pub struct Refusal {
    /// What kind of thing is wrong.
    pub flaw: Flaw,
    /// The path within the pack, or the skill's name.
    pub entry: Option<String>,
    /// One line for people.
    pub message: String,
}

impl Refusal {
    pub(crate) fn of(flaw: Flaw, entry: impl Into<String>) -> Self {
        Self { flaw, entry: Some(entry.into()), message: flaw.reason().to_owned() }
    }

    pub(crate) fn whole(flaw: Flaw) -> Self {
        Self { flaw, entry: None, message: flaw.reason().to_owned() }
    }

    /// Says more than the flaw alone does.
    pub(crate) fn because(mut self, detail: impl std::fmt::Display) -> Self {
        self.message = format!("{}: {detail}", self.message);
        self
    }

    /// The name of the reason in JSON.
    pub fn code(&self) -> &'static str {
        self.flaw.code()
    }
}

/// What a flaw says about a pack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It is broken, as a bad download is.
    Damage,
    /// It is built to do harm, or could do so.
    Hostile,
    /// It may be fine, but nobody who is trusted says so.
    Trust,
}

macro_rules! flaws {
    ($($(#[doc = $doc:literal])* $name:ident: $kind:ident, $reason:literal;)*) => {
        /// Everything that a pack is refused for.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Flaw { $(#[doc = $reason] $name,)* }

        impl Flaw {
            /// Every flaw.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// Its name in JSON.
            pub fn code(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)* }
            }

            /// What it says about the pack.
            pub fn kind(self) -> Kind {
                match self { $(Self::$name => Kind::$kind,)* }
            }

            fn reason(self) -> &'static str {
                match self { $(Self::$name => $reason,)* }
            }
        }
    };
}

flaws! {
    // Names.
    AbsolutePath: Hostile, "the path is absolute";
    DrivePath: Hostile, "the path names a drive";
    UncPath: Hostile, "the path names a share of another computer";
    ParentSegment: Hostile, "the path leads upwards";
    DotSegment: Hostile, "the path has a `.` segment";
    EmptySegment: Hostile, "the path has an empty segment";
    Backslash: Hostile, "the path has a backslash";
    NulCharacter: Hostile, "the path has a NUL character";
    ControlCharacter: Hostile, "the path has a control or invisible character";
    NotUtf8: Hostile, "the path is not UTF-8";
    DuplicateName: Hostile, "the path is there twice";
    CaseTwin: Hostile, "another path differs only in upper and lower case";
    UnicodeTwin: Hostile, "another path differs only in Unicode normalization";
    FileAndFolder: Hostile, "the path is both a file and a folder";
    WindowsDevice: Hostile, "the name is that of a Windows device";
    TrailingDotOrSpace: Hostile, "a segment ends with a dot or a space";
    NameTooLong: Hostile, "the path is over 240 bytes";
    TooDeep: Hostile, "the path has over 16 levels";
    StateFolder: Hostile, "the path names a folder where tools keep their state";
    // Types.
    Symlink: Hostile, "it is a symbolic link";
    HardLink: Hostile, "it is a hard link";
    Device: Hostile, "it is a device";
    Fifo: Hostile, "it is a named pipe";
    Socket: Hostile, "it is a socket";
    Setuid: Hostile, "it has a setuid, setgid or sticky bit";
    Submodule: Hostile, "it is a git submodule";
    OddType: Hostile, "it is neither a file nor a folder";
    // Structure.
    NotAZip: Damage, "this is not a zip file";
    Truncated: Damage, "the zip file ends too early";
    BadData: Damage, "the compressed data is damaged";
    WrongCrc: Damage, "the content does not have the checksum that the zip file names";
    LeadingData: Hostile, "there is data before the zip file's content";
    TrailingData: Hostile, "there is data behind the zip file's end";
    HiddenData: Hostile, "there is data between the entries";
    SeveralEndRecords: Hostile, "there are several end records";
    OddComment: Hostile, "the comment at the end is not one of a pack";
    SplitArchive: Hostile, "the zip file is one of several parts";
    Zip64: Hostile, "the zip file is in the format for huge files";
    HeaderMismatch: Hostile, "the local header differs from the central directory";
    OverlappingEntries: Hostile, "entries overlap";
    Encrypted: Hostile, "the content is encrypted";
    OddMethod: Hostile, "the compression method is neither stored nor deflated";
    OddExtraField: Hostile, "an extra field changes the name or the size";
    SizeLie: Hostile, "the content has another size than the zip file says";
    FolderWithContent: Hostile, "a folder has content";
    TooManyEntries: Hostile, "there are too many entries";
    TooLarge: Hostile, "the content is too large";
    RatioTooHigh: Hostile, "the content is compressed too well to be true";
    // Content.
    NoSkill: Damage, "there is no skill in it";
    NoSkillFile: Damage, "the folder has no SKILL.md";
    InvalidFrontmatter: Damage, "the frontmatter is refused";
    StrayFile: Hostile, "the file is in no skill's folder";
    BadSkillName: Hostile, "the skill's name cannot be the name of its folder";
    DuplicateSkill: Hostile, "two skills have this name";
    InvalidManifest: Hostile, "manifest.json is not valid";
    DuplicateKey: Hostile, "manifest.json has a key twice";
    ManifestSkills: Hostile, "manifest.json names other skills than there are";
    ListedButAbsent: Hostile, "the file is listed, but not there";
    PresentButUnlisted: Hostile, "the file is there, but not listed";
    WrongHash: Hostile, "the file has another hash than is listed";
    WrongSize: Hostile, "the file has another size than is listed";
    WrongMode: Hostile, "the file has another mode than is listed";
    // Trust.
    InvalidSignature: Trust, "the signature cannot be read";
    SignatureWithoutManifest: Trust, "there is a signature, but no manifest.json that it signs";
    WrongSignature: Trust, "the signature is not of this manifest.json";
    ForeignSignature: Trust, "the signature is that of another pack";
    UnknownKey: Trust, "the signature is of a key that is not trusted";
    RevokedKey: Trust, "the signature is of a key that was revoked";
    KeyNotForName: Trust, "the key may not sign a skill of this name";
    SignatureRequired: Trust, "it is not signed, and `install.require_signature` wants it to be";
    BecameUnsigned: Trust, "the installed one is signed, this one is not";
    OtherSigner: Trust, "the installed one is signed with another key";
    OlderVersion: Trust, "the installed one has a newer version";
    ChangedVersion: Trust, "the installed one has the same version and other content";
    NotAsLocked: Trust, "the content differs from the lockfile";
    NotAsInstalled: Trust, "the files differ from what was installed";
    Unsafe: Trust, "it needs your approval";
}

impl Flaw {
    /// What can be done about it.
    pub fn hint(self) -> &'static str {
        match self {
            Self::UnknownKey => {
                "compare the key with its owner, then `skillful trust key`; or --allow UnknownKey"
            }
            Self::SignatureRequired => {
                "ask for a signed pack, or change `install.require_signature`"
            }
            Self::BecameUnsigned => "ask its author; or --allow BecameUnsigned",
            Self::OtherSigner => "ask its author; or --allow OtherSigner",
            Self::OlderVersion => "use --allow OlderVersion to go back to it",
            Self::ChangedVersion => "ask its author for a new version; or --allow ChangedVersion",
            Self::KeyNotForName => "`skillful trust key` says which names a key may sign",
            Self::NotAsLocked => "install without --locked to accept the new content",
            Self::NotAsInstalled => "install it again, or keep your changes under another name",
            Self::Unsafe => "look at it first; --allow-unsafe installs it",
            Self::HardLink | Self::Symlink => {
                "see where it leads (`ls -l`); a pack holds files, so put one in its place if it belongs there"
            }
            _ => match self.kind() {
                Kind::Damage => "fetch it again, or ask its author",
                Kind::Hostile => "nothing was changed; do not use this pack, and tell its author",
                Kind::Trust => "nothing was changed; ask its author",
            },
        }
    }
}

impl Kind {
    /// How a command ends because of it.
    pub fn exit(self) -> Exit {
        match self {
            Self::Damage => Exit::Failed,
            Self::Hostile | Self::Trust => Exit::Refused,
        }
    }
}

impl Explain for Refusal {
    fn exit(&self) -> Exit {
        self.flaw.kind().exit()
    }

    fn code(&self) -> &'static str {
        self.code()
    }

    fn hint(&self) -> Cow<'static, str> {
        self.flaw.hint().into()
    }

    fn details(&self) -> Option<Value> {
        Some(details(std::slice::from_ref(self)))
    }
}

/// Where the first of them is, and all of them.
pub(crate) fn details(refusals: &[Refusal]) -> Value {
    let all: Vec<Value> = refusals
        .iter()
        .map(|refusal| {
            json!({"code": refusal.code(), "entry": refusal.entry, "message": refusal.message})
        })
        .collect();
    json!({"entry": refusals.first().and_then(|first| first.entry.as_deref()), "problems": all})
}
