//! The rules of A.2.2 that the vendor enforces, held against conversations of every kind.

use proptest::prelude::*;

use super::*;

/// Checks a body as strictly as the vendor does.
fn check(body: &Value) {
    let messages = body["messages"].as_array().expect("messages");
    let declared: Vec<&Value> = body["tools"].as_array().into_iter().flatten().map(|tool| &tool["name"]).collect();
    let mut owed: Vec<Value> = Vec::new();
    for (place, message) in messages.iter().enumerate() {
        assert_eq!(message["role"], if place % 2 == 0 { "user" } else { "assistant" }, "turns alternate, the user first");
        let content = message["content"].as_array().expect("blocks");
        assert!(!content.is_empty(), "no empty message");
        let results = content.iter().take_while(|block| block["type"] == "tool_result");
        let answered: Vec<Value> = results.map(|block| block["tool_use_id"].clone()).collect();
        assert_eq!(answered, owed, "every call is answered at once, in order, before anything else");
        assert!(content.iter().skip(answered.len()).all(|block| block["type"] != "tool_result"));
        for block in content.iter().filter(|block| block["type"] == "text") {
            assert!(!block["text"].as_str().expect("text").trim().is_empty(), "no blank text");
        }
        let calls: Vec<&Value> = content.iter().filter(|block| block["type"] == "tool_use").collect();
        for call in &calls {
            assert!(call["input"].is_object() && declared.contains(&&call["name"]));
        }
        owed = calls.iter().map(|call| call["id"].clone()).collect();
        assert!(owed.iter().enumerate().all(|(at, id)| !owed[..at].contains(id)), "ids are unique");
    }
    assert!(owed.is_empty(), "no call is left open");
    if let Some(last) = messages.last().filter(|last| last["role"] == "assistant") {
        let last = last["content"].as_array().expect("blocks").last().expect("a block");
        assert_eq!(last["text"].as_str().map(str::trim_end), last["text"].as_str());
    }
}

fn block(role: Role) -> BoxedStrategy<Block<'static>> {
    let words = prop_oneof![Just(""), Just(" \n"), Just("a"), Just("b ")].prop_map(text);
    match role {
        Role::System => words.boxed(),
        Role::User => {
            let id = prop_oneof![Just(""), Just("c1"), Just("c2")];
            let results = (id, words.clone()).prop_map(|(id, words)| result(id, vec![words]));
            prop_oneof![2 => words, 1 => results].boxed()
        }
        Role::Assistant => {
            let id = prop_oneof![Just(""), Just("c1"), Just("c2"), Just("c/3")];
            let calls = (id, prop_oneof![Just(""), Just("{\"a\":1}")]).prop_map(|(id, arguments)| call(id, "f", arguments));
            let thought = Just(Block::Reasoning { text: Text::from("hm"), signature: None });
            prop_oneof![2 => words, 2 => calls, 1 => thought].boxed()
        }
    }
}

fn turn() -> impl Strategy<Value = Turn<'static>> {
    let role = prop_oneof![1 => Just(Role::System), 4 => Just(Role::User), 4 => Just(Role::Assistant)];
    role.prop_flat_map(|role| (Just(role), prop::collection::vec(block(role), 0..4))).prop_map(|(role, blocks)| Turn { role, blocks })
}

proptest! {
    #[test]
    fn every_conversation_that_is_sent_keeps_the_vendors_rules(turns in prop::collection::vec(turn(), 0..8)) {
        if let Ok((body, _)) = encoded(chat(turns), &target(SONNET)) {
            check(&body);
        }
    }
}
