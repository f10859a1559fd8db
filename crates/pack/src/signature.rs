//! Signatures in minisign's format, over the raw bytes of `manifest.json`.
//!
//! Invariant: a [`Signer`] is given only for bytes that a key signed which the user trusts for every
//! name in them.

#[cfg(test)]
mod tests;

use basics::failure::Explain;
use ct_codecs::{Base64, Decoder};
use minisign::{KeyPair, PublicKeyBox, SecretKey, SecretKeyBox, SignatureBox};
use skill::lock::Signer;
use skill::trust::{TrustStore, TrustedKey};
use std::borrow::Cow;

use crate::manifest::{Manifest, SIGNATURE};
use crate::refusal::{Flaw, Refusal};

/// 64 bytes in base64.
const GLOBAL_SIGNATURE: usize = 88;

/// A new pair of keys, as they are written to files.
#[derive(Debug)]
pub struct Keys {
    /// The id of both.
    pub id: String,
    /// What everybody may know.
    pub public: String,
    /// What nobody else may know.
    pub secret: String,
}

/// How a secret key is protected.
#[derive(Debug, Clone)]
pub enum Password {
    /// Not at all.
    None,
    /// By this word.
    Word(String),
}

/// Why something cannot be done with a key.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// It is not a key.
    #[error("this is not a minisign {kind} key")]
    Invalid {
        /// Public or secret.
        kind: &'static str,
        /// Why.
        source: minisign::PError,
    },
    /// The password is wrong, or one is needed.
    #[error("the password does not open the key")]
    Password {
        /// Why.
        source: minisign::PError,
    },
    /// It is not protected, though a password was given, or the other way round.
    #[error("the key needs a password")]
    PasswordNeeded,
    /// Something else.
    #[error("cannot use the key")]
    Failed {
        /// Why.
        source: minisign::PError,
    },
}

/// Makes a pair of keys.
pub fn generate(password: &Password) -> Result<Keys, KeyError> {
    let failed = |source| KeyError::Failed { source };
    let pair = match password {
        Password::None => KeyPair::generate_unencrypted_keypair(),
        Password::Word(word) => KeyPair::generate_encrypted_keypair(Some(word.clone())),
    };
    let pair = pair.map_err(failed)?;
    let id = key_id(pair.pk.keynum());
    let comment = format!("minisign encrypted secret key {id}");
    Ok(Keys {
        public: pair.pk.to_box().map_err(failed)?.into_string(),
        secret: pair.sk.to_box(Some(&comment)).map_err(failed)?.into_string(),
        id,
    })
}

/// Whether a secret key needs a password.
pub fn needs_password(secret: &str) -> Result<bool, KeyError> {
    Ok(plain_key(secret)?.is_encrypted())
}

/// A key as it stands in its file. The standard tool gives a key without a password no checksum, so none
/// is asked for.
fn plain_key(secret: &str) -> Result<SecretKey, KeyError> {
    let invalid = |source| KeyError::Invalid { kind: "secret", source };
    let line = secret.lines().nth(1).unwrap_or_default().trim();
    let bytes = Base64::decode_to_vec(line, None).map_err(|error| invalid(error.into()))?;
    SecretKey::from_bytes(&bytes).map_err(invalid)
}

/// Signs a manifest; the trusted comment names every skill.
pub fn sign(secret: &str, password: &Password, manifest: &[u8]) -> Result<String, SignError> {
    let labels = Manifest::parse(manifest)?.labels();
    let key = match password {
        Password::None => plain_key(secret)?,
        Password::Word(word) => {
            let opened = SecretKeyBox::from_string(secret)
                .and_then(|key| key.into_secret_key(Some(word.clone())));
            opened.map_err(|source| KeyError::Password { source })?
        }
    };
    if key.is_encrypted() && matches!(password, Password::None) {
        return Err(KeyError::PasswordNeeded.into());
    }
    let untrusted = format!("signature from minisign secret key {}", key_id(key.keynum()));
    let signed = minisign::sign(None, &key, manifest, Some(&labels), Some(&untrusted));
    Ok(signed.map_err(|source| KeyError::Failed { source })?.into_string())
}

/// Why a manifest cannot be signed.
#[derive(Debug, thiserror::Error)]
pub enum SignError {
    /// It is not a manifest.
    #[error(transparent)]
    Manifest(#[from] Refusal),
    /// The key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
}

/// The id of a public key, and its one line.
pub fn public_key(text: &str) -> Result<(String, String), KeyError> {
    let key = read_public(text)?;
    Ok((key_id(key.keynum()), key.to_base64()))
}

fn read_public(text: &str) -> Result<minisign::PublicKey, KeyError> {
    let invalid = |source| KeyError::Invalid { kind: "public", source };
    match text.trim().lines().count() {
        0 | 1 => minisign::PublicKey::from_base64(text.trim()).map_err(invalid),
        _ => {
            PublicKeyBox::from_string(text).and_then(PublicKeyBox::into_public_key).map_err(invalid)
        }
    }
}

/// As minisign shows it.
fn key_id(number: &[u8]) -> String {
    number.iter().rev().map(|byte| format!("{byte:02X}")).collect()
}

/// Who signed the manifest, if it is somebody the user trusts for these skills.
pub(crate) fn check(
    signature: &str,
    manifest: &[u8],
    parsed: &Manifest,
    trust: &TrustStore,
) -> Result<Signer, Refusal> {
    let refuse = |flaw| Refusal::of(flaw, SIGNATURE);
    let unreadable = |error: minisign::PError| refuse(Flaw::InvalidSignature).because(error);
    // The library takes the length of the last line for granted.
    if signature.lines().nth(3).map(|line| line.trim().len()) != Some(GLOBAL_SIGNATURE) {
        return Err(refuse(Flaw::InvalidSignature));
    }
    let signature = SignatureBox::from_string(signature).map_err(unreadable)?;
    let id = key_id(signature.keynum());
    let Some(trusted) = trust.keys.get(&id) else {
        return Err(refuse(Flaw::UnknownKey).because(id));
    };
    let key = read_public(&trusted.public_key)
        .map_err(|error| refuse(Flaw::UnknownKey).because(error))?;
    if key_id(key.keynum()) != id {
        return Err(
            refuse(Flaw::UnknownKey).because("the trust store has another key under this id")
        );
    }
    let comment = signature.trusted_comment().map_err(unreadable)?;
    minisign::verify(&key, &signature, std::io::Cursor::new(manifest), true, false, true).map_err(
        |_| {
            // A signature that was really made by this key, but for other skills.
            let of_another = comment != parsed.labels() && !comment.is_empty();
            refuse(if of_another { Flaw::ForeignSignature } else { Flaw::WrongSignature })
        },
    )?;
    // The tool's own comment is a time and a file name, which promises nothing.
    if comment.contains('@') && comment != parsed.labels() {
        return Err(refuse(Flaw::ForeignSignature).because(format!("it is of {comment}")));
    }
    if let Some(when) = &trusted.revoked_at {
        return Err(refuse(Flaw::RevokedKey).because(format!("{id}, on {when}")));
    }
    match parsed.skills.iter().find(|skill| !may_sign(trusted, &skill.name)) {
        Some(skill) => Err(Refusal::of(Flaw::KeyNotForName, &skill.name)
            .because(format!("{id} ({})", trusted.name))),
        None => Ok(Signer { key: id, name: trusted.name.clone() }),
    }
}

fn may_sign(key: &TrustedKey, name: &str) -> bool {
    key.names.iter().any(|pattern| matches(pattern, name))
}

/// Whether `name` is as `pattern` says, where `*` stands for any characters.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

impl Explain for KeyError {
    fn code(&self) -> &'static str {
        match self {
            Self::Password { .. } | Self::PasswordNeeded => "WrongPassword",
            Self::Invalid { .. } | Self::Failed { .. } => "InvalidKey",
        }
    }

    fn hint(&self) -> Cow<'static, str> {
        match self {
            Self::Invalid { .. } => "create keys with `skillful keygen` or minisign".into(),
            Self::Password { .. } | Self::PasswordNeeded => {
                "try again, or set SKILLFUL_KEY_PASSWORD".into()
            }
            Self::Failed { .. } => "check the key".into(),
        }
    }
}
