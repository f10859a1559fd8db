//! The decoder of Anthropic's Messages: no panic, and the same answer however the bytes are split.
#![no_main]

use libfuzzer_sys::fuzz_target;
use model::remote::Wire;

fuzz_target!(|data: &[u8]| fuzz::answer(Wire::Anthropic, data));
