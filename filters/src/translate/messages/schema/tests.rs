use serde_json::{Value as Json, json};

use super::*;

fn bind(schema: &str) -> (Json, bool) {
    let raw = Raw::from(schema.as_bytes());
    let (object, wrapped) = answer(&raw, false);
    (serde_json::from_slice(&bound(&object).expect("can be bound")).expect("valid JSON"), wrapped)
}

fn upright(schema: &str) -> Json {
    serde_json::from_slice(&plain(&Raw::from(schema.as_bytes()), true)).expect("valid JSON")
}

#[test]
fn bound_schemas_close_every_object_and_say_what_they_cannot_bind() {
    let (schema, wrapped) = bind(
        r#"{"$schema":"x","type":"object","properties":{"a":{"type":"string","minLength":3,"pattern":"^a","description":"An a."},
           "b":{"oneOf":[{"type":"object","properties":{}},{"type":"null"}]},"c":{"type":"string","format":"date"},
           "d":{"type":"string","format":"color"},"e":{"type":"array","items":{"type":"integer","maximum":9},"minItems":1,"maxItems":4}},
           "$defs":{"x":{"type":"object","additionalProperties":false}},"required":["a"]}"#,
    );
    let expected = json!({"type": "object", "properties": {
        "a": {"type": "string", "description": "An a. (min length 3, pattern ^a)"},
        "b": {"anyOf": [{"type": "object", "properties": {}, "additionalProperties": false}, {"type": "null"}]},
        "c": {"type": "string", "format": "date"},
        "d": {"type": "string", "description": "format color"},
        "e": {"type": "array", "items": {"type": "integer", "description": "max 9"}, "minItems": 1, "description": "max items 4"}},
        "$defs": {"x": {"type": "object", "additionalProperties": false}}, "required": ["a"], "additionalProperties": false});
    assert_eq!((schema, wrapped), (expected, false));
}

#[test]
fn a_property_may_be_called_like_a_keyword() {
    let (schema, _) = bind(r#"{"type":"object","properties":{"pattern":{"type":"string"},"format":{"type":"string"}}}"#);
    assert_eq!(schema["properties"], json!({"pattern": {"type": "string"}, "format": {"type": "string"}}));
}

#[test]
fn roots_that_are_no_plain_objects_are_wrapped() {
    for root in
        [r#"{"enum":["a","b"]}"#, r#"{"anyOf":[{"type":"object","properties":{}}]}"#, r#"{"type":"array","items":{"type":"string"}}"#]
    {
        let (schema, wrapped) = bind(root);
        assert!(wrapped && schema["required"] == json!(["value"]), "{root}");
    }
    let (schema, _) = bind(r##"{"$ref":"#/$defs/a","$defs":{"a":{"type":"string"}}}"##);
    assert_eq!((&schema["properties"]["value"], &schema["$defs"]), (&json!({"$ref": "#/$defs/a"}), &json!({"a": {"type": "string"}})));
}

#[test]
fn the_other_vendors_dialect_becomes_json_schema() {
    let table = [
        (r#"{"type":"STRING","nullable":true,"enum":["a"]}"#, json!({"type": ["string", "null"], "enum": ["a", null]})),
        (
            r#"{"type":"ARRAY","minItems":"1","items":{"type":"INTEGER","format":"int64"}}"#,
            json!({"type": "array", "minItems": 1, "items": {"type": "integer", "format": "int64"}}),
        ),
        (r#"{"any_of":[{"type":"NUMBER"}],"nullable":true}"#, json!({"anyOf": [{"type": "number"}, {"type": "null"}]})),
        (r#"{"type":"TYPE_UNSPECIFIED","example":{"a":1}}"#, json!({"examples": [{"a": 1}]})),
        (r#"{"type":"STRING","title":"1","default":"2"}"#, json!({"type": "string", "title": "1", "default": "2"})),
    ];
    for (schema, expected) in table {
        assert_eq!(upright(schema), expected, "{schema}");
    }
    let ordered = upright(r#"{"type":"OBJECT","properties":{"a":{},"b":{},"c":{}},"propertyOrdering":["c","a"]}"#);
    assert_eq!(ordered["properties"].to_string(), r#"{"c":{},"a":{},"b":{}}"#);
}

#[test]
fn roots_of_several_parts_are_merged() {
    let schema = Raw::from(&br#"{"type":"object","properties":{"x":{}},"required":["x"],"allOf":[{"properties":{"a":{}},"required":["a"]},{"required":["b"]}]}"#[..]);
    let (merged, changed) = arguments(Some(&schema), false);
    let merged: Json = serde_json::from_slice(&merged).expect("valid JSON");
    assert_eq!(merged, json!({"type": "object", "properties": {"x": {}, "a": {}}, "required": ["x", "a", "b"]}));
    assert!(!changed);
}

#[test]
fn schemas_of_open_objects_cannot_be_bound() {
    let open = [
        r#"{"type":"object"}"#,
        r#"{"type":"object","properties":{"a":{"type":"object","additionalProperties":{"type":"string"}}}}"#,
        r#"{"type":"object","properties":{"a":{"type":"array","items":{}}}}"#,
        r##"{"type":"object","properties":{"a":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}}"##,
        r#"{"type":"object","properties":{},"$defs":{"x":{"type":"object","patternProperties":{"a":{}}}}}"#,
    ];
    for schema in open {
        assert_eq!(bound(schema.as_bytes()), None, "{schema}");
    }
    assert!(bound(br#"{"type":"object","properties":{"a":{"enum":["x"]},"b":{"type":"array"}}}"#).is_some());
}
