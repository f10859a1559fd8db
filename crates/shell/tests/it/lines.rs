//! Lines with what they run, as data.

use skillful_shell::{Command, read};
