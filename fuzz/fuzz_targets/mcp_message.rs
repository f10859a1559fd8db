//! Lines of an MCP client: no panic; an error has a code of JSON-RPC, and a message survives being written.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use serve::{Incoming, read_message};

fuzz_target!(|line: &[u8]| match read_message(line) {
    Incoming::Message(message) => {
        let written = serde_json::to_vec(&message).expect("a message can be written");
        assert!(matches!(read_message(&written), Incoming::Message(_)));
    }
    Incoming::Wrong(error) => {
        let error = serde_json::to_value(&error).expect("an error can be written");
        let code = error["error"]["code"].as_i64();
        assert!(matches!(code, Some(-32700 | -32600)), "{error}");
        if code == Some(-32700) {
            assert!(serde_json::from_slice::<Value>(line).is_err());
        }
    }
    Incoming::Nothing => {}
});
