//! Tools whose schema only the messages vendor's models know, as functions any model can call. The client gets calls in the
//! form it expects, since both sides use the declared name and the vendor's own members.

use crate::canonical::{ComputerTool, FunctionTool, Raw, Text, Tool, VendorTool};
use crate::wire::json::Writer;

/// The function that stands for a screen, shell, editor or memory tool; `None` for every other tool.
#[must_use]
pub fn as_function<'a>(tool: &Tool<'a>) -> Option<FunctionTool<'a>> {
    match tool {
        Tool::Computer(computer) => Some(screen(computer)),
        Tool::Vendor(vendor) => of_vendor(vendor),
        Tool::Function(_) | Tool::Custom { .. } | Tool::WebSearch(_) | Tool::Unknown { .. } => None,
    }
}

fn function<'a>(name: &Text<'a>, description: String, parameters: Vec<u8>) -> FunctionTool<'a> {
    FunctionTool {
        name: name.clone(),
        description: Some(Text::from(description)),
        parameters: Some(Raw::from(parameters)),
        vendor_schema: false,
        strict: None,
    }
}

const ACTIONS: [&str; 10] = [
    "key",
    "type",
    "mouse_move",
    "left_click",
    "left_click_drag",
    "right_click",
    "middle_click",
    "double_click",
    "screenshot",
    "cursor_position",
];
/// What `computer_20250124` and later add.
const LATER_ACTIONS: [&str; 6] = ["left_mouse_down", "left_mouse_up", "triple_click", "scroll", "wait", "hold_key"];

fn screen<'a>(computer: &ComputerTool<'a>) -> FunctionTool<'a> {
    let kind = computer.kind.decode();
    let later = *kind != *"computer_20241022";
    let zoom = computer.zoom && later;
    let mut schema = Vec::new();
    let mut w = Writer::new(&mut schema);
    w.begin_object();
    w.str_field("type", "object");
    w.array("required", |w| w.str("action"));
    w.object("properties", |w| {
        w.object("action", |w| {
            w.str_field("type", "string");
            w.array("enum", |w| {
                ACTIONS.iter().for_each(|action| w.str(action));
                LATER_ACTIONS.iter().filter(|_| later).for_each(|action| w.str(action));
                if zoom {
                    w.str("zoom");
                }
            });
        });
        point(w, "coordinate", 2, "[x, y] in pixels; for mouse_move, drags, and clicks at a place");
        string(w, "text", "Text to type, or a key combination such as ctrl+s for key and hold_key");
        if later {
            point(w, "start_coordinate", 2, "[x, y] where a drag starts");
            choice(w, "scroll_direction", &["up", "down", "left", "right"]);
            integer(w, "scroll_amount", "Number of steps to scroll");
            integer(w, "duration", "Seconds to wait or to hold a key");
        }
        if zoom {
            point(w, "region", 4, "[x0, y0, x1, y1] to zoom into");
        }
    });
    w.end_object();
    function(&computer.name, screen_description(computer), schema)
}

fn screen_description(computer: &ComputerTool<'_>) -> String {
    let size = match (computer.width, computer.height) {
        (Some(width), Some(height)) => format!(" ({} x {} px)", width.0, height.0),
        _ => String::new(),
    };
    let display = computer.display.map(|number| format!(", display :{}", number.0)).unwrap_or_default();
    format!(
        "Control the user's screen{size}{display}. Coordinates are pixels from the top left corner. Take a screenshot first, and \
         after every action that changes the screen."
    )
}

fn of_vendor<'a>(vendor: &VendorTool<'a>) -> Option<FunctionTool<'a>> {
    let kind = vendor.kind.decode();
    if kind.starts_with("bash_") {
        let schema = object(&[], |w| {
            string(w, "command", "The command to run");
            boolean(w, "restart", "Restart the shell instead of running a command");
        });
        return Some(function(&vendor.name, "Run commands in a shell that keeps its state between calls.".to_owned(), schema));
    }
    if kind.starts_with("memory_") {
        return Some(memory(vendor));
    }
    let edition = kind.strip_prefix("text_editor_")?;
    let mut commands = vec!["view", "create", "str_replace", "insert"];
    if matches!(edition, "20241022" | "20250124") {
        commands.push("undo_edit");
    }
    let schema = object(&["command", "path"], |w| {
        choice(w, "command", &commands);
        string(w, "path", "Absolute path of a file or directory");
        string(w, "file_text", "Content of the file; for create");
        string(w, "old_str", "Text to replace, which must occur once; for str_replace");
        string(w, "new_str", "Text to put in its place, or to insert");
        integer(w, "insert_line", "Line after which to insert; for insert");
        point(w, "view_range", 2, "[first, last] line; for view");
    });
    Some(function(&vendor.name, "View, create and edit files.".to_owned(), schema))
}

/// Files the client keeps from one conversation to the next. The vendor's models are told to look there first.
fn memory<'a>(vendor: &VendorTool<'a>) -> FunctionTool<'a> {
    let schema = object(&["command"], |w| {
        choice(w, "command", &["view", "create", "str_replace", "insert", "delete", "rename"]);
        string(w, "path", "Path below /memories; for all but rename");
        string(w, "file_text", "Content of the file; for create");
        string(w, "old_str", "Text to replace, which must occur once; for str_replace");
        string(w, "new_str", "Text to put in its place; for str_replace");
        integer(w, "insert_line", "Line after which to insert; for insert");
        string(w, "insert_text", "Text to insert; for insert");
        point(w, "view_range", 2, "[first, last] line; for view");
        string(w, "old_path", "Path below /memories; for rename");
        string(w, "new_path", "New path below /memories; for rename");
    });
    let words = "Keep files below /memories that outlast this conversation. View the directory /memories before anything else: it may \
                 hold earlier progress. Write down what must not be lost.";
    function(&vendor.name, words.to_owned(), schema)
}

fn object(required: &[&str], properties: impl FnOnce(&mut Writer<'_>)) -> Vec<u8> {
    let mut schema = Vec::new();
    let mut w = Writer::new(&mut schema);
    w.begin_object();
    w.str_field("type", "object");
    w.array("required", |w| required.iter().for_each(|name| w.str(name)));
    w.object("properties", properties);
    w.end_object();
    schema
}

fn typed(w: &mut Writer<'_>, name: &str, kind: &str, description: &str) {
    w.object(name, |w| {
        w.str_field("type", kind);
        w.str_field("description", description);
    });
}

fn string(w: &mut Writer<'_>, name: &str, description: &str) {
    typed(w, name, "string", description);
}

fn integer(w: &mut Writer<'_>, name: &str, description: &str) {
    typed(w, name, "integer", description);
}

fn boolean(w: &mut Writer<'_>, name: &str, description: &str) {
    typed(w, name, "boolean", description);
}

fn choice(w: &mut Writer<'_>, name: &str, words: &[&str]) {
    w.object(name, |w| {
        w.str_field("type", "string");
        w.array("enum", |w| words.iter().for_each(|word| w.str(word)));
    });
}

fn point(w: &mut Writer<'_>, name: &str, numbers: u64, description: &str) {
    w.object(name, |w| {
        w.str_field("type", "array");
        w.object("items", |w| w.str_field("type", "integer"));
        w.whole_field("minItems", numbers);
        w.whole_field("maxItems", numbers);
        w.str_field("description", description);
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical::Number;

    fn schema(tool: &Tool<'_>) -> serde_json::Value {
        let function = as_function(tool).expect("a function");
        serde_json::from_slice(&function.parameters.expect("a schema").0).expect("valid JSON")
    }

    fn computer(kind: &'static str) -> Tool<'static> {
        Tool::Computer(ComputerTool {
            kind: Text::from(kind),
            name: Text::from("computer"),
            width: Some(Number("1280")),
            height: Some(Number("800")),
            display: Some(Number("1")),
            zoom: kind == "computer_20251124",
        })
    }

    #[test]
    fn a_screen_has_the_actions_of_its_edition() {
        let actions = |kind| schema(&computer(kind))["properties"]["action"]["enum"].as_array().map(Vec::len);
        assert_eq!(
            (actions("computer_20241022"), actions("computer_20250124"), actions("computer_20251124")),
            (Some(10), Some(16), Some(17))
        );
        let description = as_function(&computer("computer_20241022")).and_then(|function| function.description).expect("text");
        assert!(description.decode().contains("(1280 x 800 px), display :1"));
    }

    #[test]
    fn a_memory_has_every_command_and_none_that_all_need_a_path() {
        let memory = Tool::Vendor(VendorTool { kind: Text::from("memory_20250818"), name: Text::from("memory") });
        let schema = schema(&memory);
        assert_eq!(schema["properties"]["command"]["enum"].as_array().map(Vec::len), Some(6));
        assert_eq!(schema["required"], serde_json::json!(["command"]), "a file is renamed by two other paths");
    }

    #[test]
    fn only_early_editors_can_undo() {
        let editor = |kind: &'static str| Tool::Vendor(VendorTool { kind: Text::from(kind), name: Text::from("edit") });
        let commands = |kind| schema(&editor(kind))["properties"]["command"]["enum"].as_array().map(Vec::len);
        assert_eq!((commands("text_editor_20250124"), commands("text_editor_20250728")), (Some(5), Some(4)));
        assert!(schema(&editor("bash_20250124"))["properties"]["restart"].is_object());
        assert!(as_function(&editor("other_20250818")).is_none());
    }
}
