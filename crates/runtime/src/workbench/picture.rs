//! Pictures for models that can see: handed over with the result, and recorded by their hash.

use agent::observation::{Image, Observation, Picture};
use agent::request::Refusal;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use basics::sha256::Sha256;
use permission::params::ReadFile;
use serde_json::json;
use tools::error::ToolError;
use tools::perform::read_bytes;

use super::{Workbench, io_error};
use crate::journal::Journal;

/// Bytes of the largest picture that providers take.
const LARGEST: u64 = 4 << 20;

impl Workbench<'_> {
    /// A picture in the workspace; nothing where the file is none.
    pub(super) fn picture(
        &self,
        call: &ReadFile,
        failure: &ToolError,
        sees: bool,
        journal: &mut Journal,
    ) -> Result<Option<Observation>, Refusal> {
        if !matches!(failure, ToolError::NotText { .. } | ToolError::TooLarge { .. }) {
            return Ok(None);
        }
        let bytes = match read_bytes(call, &self.workspace, LARGEST) {
            Ok(bytes) => bytes,
            Err(ToolError::TooLarge { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let Some(media_type) = media_type(&bytes) else { return Ok(None) };
        if !sees {
            return Err(Refusal::new(
                "NotText",
                format!("`{}` is a picture, and this model cannot be shown one", call.path),
                "use a program that describes it, or leave it to the user",
            ));
        }
        let name = journal.keep(&bytes).map_err(|error| io_error(&error))?;
        let sha256 = Sha256::of(&bytes);
        let size = bytes.len() as u64;
        let result = json!({
            "ok": true, "path": call.path, "media_type": media_type, "size": size,
            "sha256": sha256, "content": "the picture comes with this result",
        });
        let media_type = media_type.to_owned();
        let base64 = STANDARD.encode(&bytes).into();
        Ok(Some(Observation {
            image: Some(Box::new(Image {
                media_type: media_type.clone(),
                name,
                sha256,
                bytes: size,
            })),
            picture: Some(Picture { media_type, base64 }),
            ..Observation::of(result.to_string())
        }))
    }
}

/// What kind of picture it is, by its first bytes.
fn media_type(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}
