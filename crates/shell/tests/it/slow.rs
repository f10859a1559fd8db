//! What takes long.

mod oracle;
