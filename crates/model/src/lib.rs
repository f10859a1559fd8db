//! Models: what they are sent, what they reply, and two that need no network.
//!
//! [`openai`] and [`anthropic`] turn a conversation into a request and an answer into a decision; [`send`] is all that
//! opens connections, and [`remote`] is the model that they make. A model's text arrives in pieces ([`sse`] takes a provider's stream apart). [`early`] shows what can be shown of it
//! meanwhile, with the push parser of [`json`] on the one object that [`reply`] finds. The whole text is read by
//! [`decision`], and only that counts. [`schema`] tells a provider what a decision looks like. [`scripted`] and
//! [`offline`] are models themselves.
//!
//! ```
//! use agent::context::Context;
//! use agent::model::{Cancel, Model};
//! use agent::reply::Reply;
//! use skillful_model::early::{Early, Shown};
//! use skillful_model::scripted::{Script, Scripted};
//!
//! let script = r#"{
//!     "turns": [{"action": {"type": "final_answer", "payload": {"content": "It is 4."}}}],
//!     "streaming": {"enabled": true, "chunk_bytes": 5}
//! }"#;
//! let mut model = Scripted::new(&Script::parse(script)?)?;
//! let context = Context::new("20261115_083000_k3f9", "Rules.".to_owned(), "What is 2 + 2?");
//!
//! let (mut early, mut shown) = (Early::new(), String::new());
//! let reply = model.decide(&context.prompt(String::new(), 1), &Cancel::default(), &mut |text| {
//!     early.push(text.as_bytes(), &mut |piece| match piece {
//!         Shown::Action(kind) => shown.push_str(&format!("[{kind}] ")),
//!         Shown::Answer(text) => shown.push_str(text),
//!         _ => {}
//!     });
//! });
//! assert!(matches!(reply, Reply::Decided { .. }));
//! assert_eq!(shown, "[final_answer] It is 4.");
//! # Ok::<(), skillful_model::scripted::ScriptError>(())
//! ```

pub mod answer;
pub mod anthropic;
mod conversation;
pub mod decision;
pub mod decoder;
pub mod dialect;
pub mod early;
mod excerpt;
pub mod failure;
pub mod json;
pub mod offline;
pub mod openai;
#[cfg(test)]
mod rehearsal;
pub mod remote;
pub mod reply;
pub mod request;
mod retry;
pub mod schema;
pub mod scripted;
pub mod secret;
pub mod send;
pub mod sse;
pub mod status;
