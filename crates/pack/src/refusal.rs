//! Why a pack is refused: one code for each thing that a pack may not do.
//!
//! Invariant: every refusal names the entry it concerns, where there is one.

use std::borrow::Cow;

use basics::failure::{Exit, Explain};
use basics::text::for_terminal;
use serde_json::{Value, json};

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
    DrivePath: Hostile, "the path contains a drive";
    UncPath: Hostile, "the path is a network share";
    ParentSegment: Hostile, "the path leads upwards";
    DotSegment: Hostile, "the path has a `.` segment";
    EmptySegment: Hostile, "the path has an empty segment";
    Backslash: Hostile, "the path has a backslash";
    NulCharacter: Hostile, "the path has a NUL character";
    ControlCharacter: Hostile, "the path has a control or invisible character";
    NotUtf8: Hostile, "the path is not UTF-8";
    DuplicateName: Hostile, "the path occurs twice";
    CaseTwin: Hostile, "another path differs only in upper and lower case";
    UnicodeTwin: Hostile, "another path differs only in Unicode normalization";
    FileAndFolder: Hostile, "the path is both a file and a folder";
    WindowsDevice: Hostile, "the name is reserved for a Windows device";
    TrailingDotOrSpace: Hostile, "a segment ends with a dot or a space";
    NameTooLong: Hostile, "the path is over 240 bytes";
    TooDeep: Hostile, "the path has over 16 levels";
    StateFolder: Hostile, "the path is in a folder that tools use for their state";
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
    WrongCrc: Damage, "the content does not match the zip file's checksum";
    LeadingData: Hostile, "there is data before the zip file's content";
    TrailingData: Hostile, "there is data after the zip file's end";
    HiddenData: Hostile, "there is data between the entries";
    SeveralEndRecords: Hostile, "there are several end records";
    OddComment: Hostile, "the comment at the end is not a pack's comment";
    SplitArchive: Hostile, "the zip file is one of several parts";
    Zip64: Hostile, "the zip file uses the format for huge files (zip64)";
    HeaderMismatch: Hostile, "the local header differs from the central directory";
    OverlappingEntries: Hostile, "entries overlap";
    Encrypted: Hostile, "the content is encrypted";
    OddMethod: Hostile, "the compression method is neither stored nor deflated";
    OddExtraField: Hostile, "an extra field changes the name or the size";
    SizeLie: Hostile, "the content does not have the size that the zip file gives";
    FolderWithContent: Hostile, "a folder has content";
    TooManyEntries: Hostile, "there are too many entries";
    TooLarge: Hostile, "the content is too large";
    RatioTooHigh: Hostile, "the content is compressed too much (it may be a zip bomb)";
    // Content.
    NoSkill: Damage, "it contains no skill";
    NoSkillFile: Damage, "the folder has no SKILL.md";
    InvalidFrontmatter: Damage, "the frontmatter is refused";
    StrayFile: Hostile, "the file belongs to no skill";
    BadSkillName: Hostile, "the skill's name cannot be a folder name";
    DuplicateSkill: Hostile, "two skills have this name";
    InvalidManifest: Hostile, "manifest.json is not valid";
    DuplicateKey: Hostile, "manifest.json has a key twice";
    ManifestSkills: Hostile, "manifest.json lists other skills than the pack contains";
    ListedButAbsent: Hostile, "the file is listed, but missing";
    PresentButUnlisted: Hostile, "the file is not listed";
    WrongHash: Hostile, "the file's hash differs from the listed one";
    WrongSize: Hostile, "the file's size differs from the listed one";
    WrongMode: Hostile, "the file's mode differs from the listed one";
    // Trust.
    InvalidSignature: Trust, "the signature cannot be read";
    SignatureWithoutManifest: Trust, "the pack has a signature, but no manifest.json";
    WrongSignature: Trust, "the signature does not match manifest.json";
    ForeignSignature: Trust, "the signature belongs to another pack";
    UnknownKey: Trust, "you do not trust the key that signed it";
    RevokedKey: Trust, "you revoked the key that signed it";
    KeyNotForName: Trust, "you do not trust the key for a skill of this name";
    SignatureRequired: Trust, "it is not signed, but `install.require_signature` asks for a signature";
    BecameUnsigned: Trust, "the installed version is signed, this one is not";
    OtherSigner: Trust, "another key signed the installed version";
    OlderVersion: Trust, "the installed version is newer";
    ChangedVersion: Trust, "the installed one has the same version number, but other content";
    NotAsLocked: Trust, "the content differs from the lockfile";
    NotAsInstalled: Trust, "the files changed since it was installed";
    Unsafe: Trust, "it needs your approval";
}

impl Flaw {
    /// What can be done about it.
    pub fn hint(self) -> &'static str {
        match self {
            Self::UnknownKey => {
                "check the key with its owner, then run `skillful trust key`; or add --allow UnknownKey"
            }
            Self::SignatureRequired => {
                "ask for a signed pack, or change `install.require_signature`"
            }
            Self::BecameUnsigned => "ask the author why; or add --allow BecameUnsigned",
            Self::OtherSigner => "ask the author why; or add --allow OtherSigner",
            Self::OlderVersion => "add --allow OlderVersion to install the older version",
            Self::ChangedVersion => {
                "ask the author for a new version number; or add --allow ChangedVersion"
            }
            Self::KeyNotForName => {
                "`skillful trust key --for NAME` sets the names that a key may sign"
            }
            Self::NotAsLocked => "install without --locked to accept the new content",
            Self::NotAsInstalled => "install it again, or keep your changes under another name",
            Self::Unsafe => "look at it first, then add --allow-unsafe",
            Self::HardLink | Self::Symlink => {
                "check where it leads (`ls -l`); a pack contains only files, so replace the link with the file"
            }
            _ => match self.kind() {
                Kind::Damage => "download it again, or ask the author",
                Kind::Hostile => "nothing changed here; do not use this pack, and tell the author",
                Kind::Trust => "nothing changed here; ask the author",
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
        self.flaw.code()
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
