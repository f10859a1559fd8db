//! Whether a view would be an overlay in some folder, tried out.

use std::fs;
use std::path::Path;

use state::Folder;

use super::{View, ViewKind, ViewOptions, ViewPlaces};
use crate::sandbox::{Availability, Feature, Kernel};

/// Tries, in a temporary folder that it makes in `folder`, whether a workspace there can be seen under a layer and
/// have a network of its own. Takes a few milliseconds.
#[must_use]
pub fn probe(kernel: &Kernel, folder: &Path) -> [Availability; 2] {
    let line = |feature, result: Result<String, String>| {
        let available = result.is_ok();
        Availability { feature, available, detail: result.unwrap_or_else(|reason| reason) }
    };
    match try_out(kernel, folder) {
        Ok(view) => {
            let overlay = match view.kind() {
                ViewKind::Overlay => Ok("seen at the workspace's own path".to_owned()),
                ViewKind::Copy | ViewKind::ReadOnly => {
                    Err(view.reason().unwrap_or_default().to_owned())
                }
            };
            let network = match view.has_private_network() {
                true => Ok("loopback and Unix sockets".to_owned()),
                false => {
                    Err("the system's folders cannot be shown without their sockets".to_owned())
                }
            };
            [line(Feature::Overlay, overlay), line(Feature::PrivateNetwork, network)]
        }
        Err(reason) => [Feature::Overlay, Feature::PrivateNetwork]
            .map(|feature| line(feature, Err(reason.clone()))),
    }
}

fn try_out(kernel: &Kernel, folder: &Path) -> Result<View, String> {
    let made = tempfile::Builder::new().prefix(".view-").tempdir_in(folder);
    let made = made.map_err(|error| error.to_string())?;
    let root = fs::canonicalize(made.path()).map_err(|error| error.to_string())?;
    let inner = |name: &str| {
        let path = root.join(name);
        fs::create_dir(&path).map(|()| path).map_err(|error| error.to_string())
    };
    let places = ViewPlaces {
        workspace: inner("workspace")?,
        layer: inner("layer")?,
        home: inner("home")?,
        temporary: inner("temporary")?,
    };
    let view = View::open(kernel, places, ViewOptions::default());
    // The kernel leaves a folder in the layer that even its owner cannot read; the rest goes by itself.
    if let Ok(folder) = Folder::open(&root) {
        let _ = folder.remove_tree("layer");
    }
    view.map_err(|error| super::with_source(&error))
}
