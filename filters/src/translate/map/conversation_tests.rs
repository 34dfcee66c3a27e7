use super::*;
use crate::canonical::{Arguments, Raw};

fn text(text: &'static str) -> Block<'static> {
    Block::Text(Text::from(text))
}

fn call(id: &'static str, name: &'static str) -> Block<'static> {
    let arguments = Arguments::Json(Raw::from(&b"{}"[..]));
    Block::ToolCall(ToolCall { id: Text::from(id), name: Text::from(name), arguments, signature: None, custom: false })
}

fn result(id: &'static str, name: Option<&'static str>) -> Block<'static> {
    Block::ToolResult(ToolResult { id: Text::from(id), name: name.map(Text::from), failed: false, content: Vec::new(), object: None })
}

fn user(blocks: Vec<Block<'static>>) -> Turn<'static> {
    Turn { role: Role::User, blocks }
}

fn model(blocks: Vec<Block<'static>>) -> Turn<'static> {
    Turn { role: Role::Assistant, blocks }
}

/// Ids of calls as `name=id` and of results as `name<id`, with `!` where it failed.
fn ids(turns: &[Turn<'_>]) -> Vec<String> {
    let blocks = turns.iter().flat_map(|turn| &turn.blocks);
    blocks
        .filter_map(|block| match block {
            Block::ToolCall(call) => Some(format!("{}={}", call.name.decode(), call.id.decode())),
            Block::ToolResult(result) => {
                let mark = if result.failed { "!" } else { "" };
                Some(format!("{}<{}{mark}", result.name.as_ref().map(Text::decode).unwrap_or_default(), result.id.decode()))
            }
            _ => None,
        })
        .collect()
}

#[test]
fn results_take_the_names_of_their_calls_in_any_order() {
    let mut turns = vec![model(vec![call("1", "f"), call("2", "g")]), user(vec![result("2", None), result("1", None)])];
    pair(&mut turns, &mut Losses::default()).expect("pairs");
    assert_eq!(ids(&turns), ["f=1", "g=2", "g<2", "f<1"]);
}

#[test]
fn a_history_without_ids_is_paired_by_name_and_place_the_same_way_every_time() {
    let history = || {
        vec![
            model(vec![call("", "f"), call("", "g"), call("", "f")]),
            user(vec![result("", Some("g")), result("", Some("f")), result("", Some("f"))]),
        ]
    };
    let (mut one, mut other) = (history(), history());
    pair(&mut one, &mut Losses::default()).expect("pairs");
    other.push(user(vec![text("more")]));
    pair(&mut other, &mut Losses::default()).expect("pairs");
    let found = ids(&one);
    assert_eq!(found, ids(&other));
    let id = |place: usize| found[place].split(['=', '<']).nth(1).map(str::to_owned);
    assert_eq!((id(3), id(4), id(5)), (id(1), id(0), id(2)));
    assert_ne!(id(0), id(2));
}

#[test]
fn an_open_call_is_answered_before_anything_else_and_that_is_noted() {
    let mut losses = Losses::default();
    let mut turns =
        vec![model(vec![call("1", "f"), call("2", "g")]), user(vec![result("2", None), text("go on")]), model(vec![call("3", "h")])];
    pair(&mut turns, &mut losses).expect("pairs");
    assert_eq!(ids(&turns), ["f=1", "g=2", "f<1!", "g<2", "h=3", "h<3!"]);
    assert_eq!(losses.iter().count(), 1);
}

#[test]
fn results_split_over_two_user_turns_belong_together() {
    let mut turns = vec![model(vec![call("1", "f"), call("2", "g")]), user(vec![result("1", None)]), user(vec![result("2", None)])];
    let mut losses = Losses::default();
    pair(&mut turns, &mut losses).expect("pairs");
    assert!(losses.is_empty());
    let conversation = alternate(turns, &mut losses).expect("alternates");
    assert_eq!(conversation.turns.iter().map(|turn| turn.blocks.len()).collect::<Vec<_>>(), [1, 2, 2]);
}

#[test]
fn ids_used_twice_are_told_apart_for_calls_and_results() {
    let mut turns = vec![model(vec![call("1", "f"), call("1", "g")]), user(vec![result("1", None), result("1", None)])];
    pair(&mut turns, &mut Losses::default()).expect("pairs");
    assert_eq!(ids(&turns), ["f=1", "g=1_2", "f<1", "g<1_2"]);
}

#[test]
fn a_result_without_a_call_is_refused_with_its_place() {
    let mut turns = vec![user(vec![text("hi")]), user(vec![result("9", None)])];
    let refusal = pair(&mut turns, &mut Losses::default()).expect_err("an orphan");
    assert_eq!(refusal.to_string(), "read `messages[1].content[0]`: the tool result `9` answers no open tool call of the turn before it");
}

#[test]
fn turns_alternate_with_the_user_first_and_results_before_text() {
    let turns = vec![
        Turn { role: Role::System, blocks: vec![text("be brief"), text(" ")] },
        model(vec![text("hello")]),
        user(vec![text(" ")]),
        user(vec![text("look"), result("1", None)]),
        Turn { role: Role::System, blocks: vec![text("later")] },
        model(vec![text("")]),
        user(vec![text("again")]),
    ];
    let mut losses = Losses::default();
    let conversation = alternate(turns, &mut losses).expect("alternates");
    assert_eq!(conversation.system, [Text::from("be brief"), Text::from("later")]);
    assert_eq!(conversation.turns.len(), 3);
    assert_eq!(conversation.turns[0], user(vec![text("Please continue.")]));
    assert_eq!(conversation.turns[2].blocks, [result("1", None), text("(empty)"), text("look"), text("again")]);
}

#[test]
fn instructions_alone_still_make_a_turn_and_nothing_at_all_is_refused() {
    let alone = alternate(vec![Turn { role: Role::System, blocks: vec![text("x")] }], &mut Losses::default()).expect("a turn");
    assert_eq!(alone.turns, [user(vec![text("(empty)")])]);
    assert!(alternate(Vec::new(), &mut Losses::default()).is_err());
}
