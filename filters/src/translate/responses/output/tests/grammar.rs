//! Events in any order make a stream of the right grammar.

use super::*;

fn any(state: &mut u64) -> Event<'static> {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let drawn = (*state >> 33) as u32;
    let number = (drawn >> 8) % 3;
    let url = Text::from("https://x.example");
    match drawn % 13 {
        0 | 1 => text("a\\n"),
        2 => Event::Refusal { choice: 0, text: Text::from("no") },
        3 | 4 => thought("hm"),
        5 => Event::ReasoningSigned { choice: 0, signature: minted() },
        6 => Event::Redacted { choice: 0, signature: minted() },
        7 => call(number, "call_a", (drawn >> 12).is_multiple_of(2)),
        8 | 9 => arguments(number, "1"),
        10 => ended(number),
        11 => Event::WebSearch { choice: 0, id: Text::from("ws"), query: Text::from("q"), hits: Vec::new() },
        _ => Event::Citation { choice: 0, citation: Citation { url, title: Text::from("X"), cited: Text::from(""), span: None } },
    }
}

/// Every event of an item lies between its beginning and its end, which each comes once.
fn check_items(events: &[Value]) {
    let mut open: Vec<bool> = Vec::new();
    for event in events {
        let Some(place) = event["output_index"].as_u64().map(|place| place as usize) else { continue };
        if event["type"] == "response.output_item.added" {
            assert_eq!(place, open.len());
            open.push(true);
        }
        assert!(open[place], "{event} lies outside its item");
        open[place] = event["type"] != "response.output_item.done";
    }
    assert!(open.iter().all(|open| !open), "an item stays open");
}

#[test]
fn events_in_any_order_make_items_that_begin_and_end_once() {
    for seed in 0..500_u64 {
        let mut state = seed;
        let mut given: Vec<Event<'static>> = (0..seed % 40).map(|_| any(&mut state)).collect();
        given.push(finish([FinishReason::Stop, FinishReason::Length, FinishReason::ToolCalls][(seed % 3) as usize]));
        given.push(Event::End);
        let events = told(&given);
        let (first, last) = (&events[0], &events[events.len() - 1]);
        assert_eq!(first["type"], "response.created");
        let terminal = |event: &&Value| event["type"] == "response.completed" || event["type"] == "response.incomplete";
        assert_eq!(events.iter().filter(terminal).count(), 1, "seed {seed}");
        assert!(terminal(&last));
        check_items(&events);
        assert_eq!(Value::from(accumulated(&events)), last["response"]["output"], "seed {seed}");
        let whole: Value = serde_json::from_str(&bytes(whole_encoder(view()), &given)).expect("JSON");
        assert_eq!(whole, last["response"], "seed {seed}");
    }
}
