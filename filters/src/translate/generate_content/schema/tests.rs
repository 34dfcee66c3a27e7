use serde_json::{Value, json};

use super::{of_answer, of_arguments};
use crate::canonical::Raw;

fn raw(schema: &Value) -> Raw<'static> {
    Raw::from(schema.to_string().into_bytes())
}

/// The schema in the vendor's own dialect, as the form of an answer.
fn proto(schema: Value) -> Value {
    let schema = raw(&schema);
    let converted = of_answer(&schema, false, false);
    assert!(converted.own);
    serde_json::from_slice(&converted.json).expect("JSON")
}

/// The schema of arguments in the vendor's field for JSON Schema.
fn inlined(schema: Value) -> Value {
    let schema = raw(&schema);
    let converted = of_arguments(&schema, false, true).expect("arguments");
    assert!(!converted.own);
    serde_json::from_slice(&converted.json).expect("JSON")
}

#[test]
fn every_row_of_the_conversion_to_the_vendors_dialect() {
    let rows = [
        (json!({"type":"string"}), json!({"type":"STRING"})),
        (json!({"type":["string","null"]}), json!({"type":"STRING","nullable":true})),
        (
            json!({"type":["string","integer"],"description":"d","minLength":1,"minimum":2}),
            json!({"anyOf":[{"type":"STRING","minLength":1,"description":"d"},{"type":"INTEGER","minimum":2,"description":"d"}]}),
        ),
        (
            json!({"anyOf":[{"type":"number"},{"type":"null"}],"description":"d"}),
            json!({"type":"NUMBER","nullable":true,"description":"d"}),
        ),
        (
            json!({"oneOf":[{"type":"string"},{"type":"integer"},{"type":"null"}]}),
            json!({"anyOf":[{"type":"STRING"},{"type":"INTEGER"}],"nullable":true}),
        ),
        (
            json!({"allOf":[{"type":"object","properties":{"a":{"type":"string"}},"required":["a"]},{"properties":{"b":{"type":"integer"}},"required":["b"]}],"description":"d"}),
            json!({"type":"OBJECT","description":"d","properties":{"a":{"type":"STRING"},"b":{"type":"INTEGER"}},"required":["a","b"]}),
        ),
        (
            json!({"anyOf":[{"type":"string","description":"own"},{"type":"integer"}],"title":"t","description":"d","type":"object"}),
            json!({"anyOf":[{"type":"STRING","title":"t","description":"own"},{"type":"INTEGER","title":"t","description":"d"}]}),
        ),
        (json!({"const":5}), json!({"type":"STRING","enum":["5"]})),
        (json!({"type":"integer","enum":[1,2]}), json!({"type":"STRING","enum":["1","2"]})),
        (json!({"enum":["a","",null,"a"]}), json!({"type":"STRING","nullable":true,"enum":["a"]})),
        (json!({"type":"array"}), json!({"type":"ARRAY","items":{"type":"STRING"}})),
        (
            json!({"type":"array","items":[{"type":"string"},{"type":"integer"}]}),
            json!({"type":"ARRAY","items":{"anyOf":[{"type":"STRING"},{"type":"INTEGER"}]}}),
        ),
        (json!({"type":"array","prefixItems":[{"type":"string"}]}), json!({"type":"ARRAY","items":{"type":"STRING"}})),
        (json!({"type":"object","properties":{}}), json!({"type":"OBJECT"})),
        (json!({"type":"string","format":"date-time"}), json!({"type":"STRING","format":"date-time"})),
        (json!({"type":"string","format":"email"}), json!({"type":"STRING"})),
        (json!({"type":"integer","format":"int64"}), json!({"type":"INTEGER","format":"int64"})),
        (json!({"type":"number","format":"int32"}), json!({"type":"NUMBER"})),
        (json!({"type":"integer","exclusiveMinimum":3,"exclusiveMaximum":9}), json!({"type":"INTEGER","minimum":4,"maximum":8})),
        (json!({"type":"integer","minimum":3,"exclusiveMinimum":true}), json!({"type":"INTEGER","minimum":4})),
        (json!({"type":"number","exclusiveMinimum":0.5}), json!({"type":"NUMBER","minimum":0.5,"description":"greater than 0.5"})),
        (
            json!({"type":"object","properties":{"a":{"type":"string"}},"required":["a","a","b"]}),
            json!({"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["a"]}),
        ),
        (
            json!({"type":"object","properties":{"a":{"type":"boolean","readOnly":true}},"additionalProperties":false,"patternProperties":{},"unevaluatedProperties":false,
                "dependentRequired":{},"if":{},"then":{},"else":{},"not":{},"$schema":"s","$id":"i","$comment":"c","deprecated":true,"strict":true}),
            json!({"type":"OBJECT","properties":{"a":{"type":"BOOLEAN"}}}),
        ),
        (
            json!({"type":"array","items":{"type":"string"},"uniqueItems":true,"minItems":1,"maxItems":2,"contains":{}}),
            json!({"type":"ARRAY","items":{"type":"STRING"},"minItems":1,"maxItems":2,"description":"no item twice"}),
        ),
        (json!({"type":"integer","multipleOf":5,"description":"d"}), json!({"type":"INTEGER","description":"d (a multiple of 5)"})),
        (json!({"type":"string","default":"x","examples":["y","z"]}), json!({"type":"STRING","description":"default \"x\"","example":"y"})),
        (
            json!({"type":"string","pattern":"^a","minLength":1,"maxLength":3}),
            json!({"type":"STRING","pattern":"^a","minLength":1,"maxLength":3}),
        ),
        (json!({"$ref":"https://elsewhere/x"}), json!({"type":"OBJECT"})),
        (json!({"description":"anything"}), json!({"type":"OBJECT","description":"anything"})),
        (
            json!({"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}},"anyOf":[{"required":["a"]},{"required":["b"]}]}),
            json!({"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"STRING"}}}),
        ),
        (
            json!({"type":"object","properties":{"b":{"type":"string"},"a":{"type":"string"}},"propertyOrdering":["b","a"]}),
            json!({"type":"OBJECT","properties":{"a":{"type":"STRING"},"b":{"type":"STRING"}},"propertyOrdering":["b","a"]}),
        ),
    ];
    for (schema, expected) in rows {
        assert_eq!(proto(schema.clone()), expected, "{schema}");
    }
}

#[test]
fn local_references_are_put_in_place_and_endless_ones_are_cut() {
    let schema = json!({"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"d"}},"$defs":{"A":{"type":"string","description":"x"}}});
    assert_eq!(proto(schema), json!({"type":"OBJECT","properties":{"a":{"type":"STRING","description":"d"}}}));
    let tree = json!({"$ref":"#/$defs/node","$defs":{"node":{"type":"object","properties":{"v":{"type":"integer"},"next":{"$ref":"#/$defs/node"}}}}});
    let mut node = &proto(tree);
    let mut depth = 0;
    while let Some(next) = node.get("properties").and_then(|properties| properties.get("next")) {
        depth += 1;
        node = next;
    }
    assert_eq!((depth, node), (4, &json!({"type":"OBJECT"})));
}

#[test]
fn references_that_unfold_without_end_stay_bounded() {
    let mut defs = serde_json::Map::new();
    for level in 0..40 {
        let next = format!("#/$defs/d{}", level + 1);
        defs.insert(format!("d{level}"), json!({"type":"object","properties":{"a":{"$ref":next},"b":{"$ref":next},"c":{"$ref":next}}}));
    }
    defs.insert("d40".into(), json!({"type":"string"}));
    let schema = json!({"type":"object","properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":defs});
    assert!(proto(schema.clone()).to_string().len() < 1 << 20);
    assert!(inlined(schema).to_string().len() < 1 << 20);
}

#[test]
fn the_root_of_arguments_becomes_an_object() {
    let arguments = |schema: Value| {
        let schema = raw(&schema);
        of_arguments(&schema, false, false).map(|converted| serde_json::from_slice::<Value>(&converted.json).unwrap())
    };
    assert_eq!(arguments(json!({"type":"object","properties":{}})), None);
    assert_eq!(arguments(json!({"type":"string"})), None);
    let alternatives = json!({"anyOf":[
        {"type":"object","properties":{"a":{"type":"string"},"k":{"type":"string"}},"required":["a","k"]},
        {"type":"object","properties":{"b":{"type":"string"},"k":{"type":"string"}},"required":["b","k"]}]});
    let properties = json!({"a":{"type":"STRING"},"b":{"type":"STRING"},"k":{"type":"STRING"}});
    assert_eq!(arguments(alternatives), Some(json!({"type":"OBJECT","properties":properties,"required":["k"]})));
    assert_eq!(inlined(json!({"properties":{"a":{}}})), json!({"type":"object","properties":{"a":{}}}));
}

#[test]
fn json_schema_goes_as_it_is_but_for_its_frame_and_references() {
    let plain = json!({"type":"object","properties":{"a":{"type":"string","minLength":3,"x-new":1}},"additionalProperties":false});
    let raw_plain = raw(&plain);
    assert!(matches!(of_arguments(&raw_plain, false, true).unwrap().json, std::borrow::Cow::Borrowed(_)));
    let schema = json!({"$schema":"s","$id":"i","strict":true,"type":"object","properties":{
        "a":{"$ref":"#/definitions/A","description":"here"},"$ref":{"type":"string"},"l":{"type":"array","items":{"anyOf":[{"$ref":"#/definitions/A"},{"type":"null"}]}}},
        "definitions":{"A":{"type":"object","description":"there","properties":{"b":{"const":{"$ref":"kept"}}}}}});
    let object = |words: &str| json!({"type":"object","description":words,"properties":{"b":{"const":{"$ref":"kept"}}}});
    let expected = json!({"type":"object","properties":{"a":object("here"),"$ref":{"type":"string"},"l":{"type":"array","items":{"anyOf":[object("there"),{"type":"null"}]}}}});
    assert_eq!(inlined(schema), expected);
}

#[test]
fn what_refers_to_itself_stays_in_definitions() {
    let tree = json!({"type":"object","properties":{"root":{"$ref":"#/$defs/node"}},"$defs":{
        "node":{"type":"object","properties":{"left":{"$ref":"#/$defs/node"},"leaf":{"$ref":"#/$defs/leaf"}}},"leaf":{"type":"string"}}});
    let node = json!({"type":"object","properties":{"left":{"$ref":"#/$defs/node"},"leaf":{"type":"string"}}});
    assert_eq!(inlined(tree), json!({"type":"object","properties":{"root":node},"$defs":{"node":node}}));
    let itself = json!({"type":"object","properties":{"child":{"$ref":"#"}}});
    let root = json!({"type":"object","properties":{"child":{"$ref":"#/$defs/root"}}});
    let inlined = inlined(itself);
    assert_eq!(inlined["$defs"]["root"], root);
    assert_eq!(inlined["properties"]["child"]["properties"]["child"], json!({"$ref":"#/$defs/root"}));
}

#[test]
fn a_schema_in_the_vendors_dialect_is_not_touched() {
    let schema = Raw::from(&br#"{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true}}}"#[..]);
    for json_schema in [true, false] {
        let converted = of_arguments(&schema, true, json_schema).unwrap();
        assert!(converted.own && *converted.json == *schema.0);
    }
}

proptest::proptest! {
    #[test]
    fn any_schema_converts_to_json(
        text in r##"\{("(type|anyOf|allOf|items|properties|\$ref|enum|required)":("string"|"object"|"#"|\["a",null\]|\{"a":\{"\$ref":"#"\}\}|\[\{"type":"null"\},\{\}\]),){0,5}"x":1\}"##
    ) {
        let schema = Raw::from(text.as_bytes());
        for json_schema in [true, false] {
            let answer = of_answer(&schema, false, json_schema);
            proptest::prop_assert!(serde_json::from_slice::<Value>(&answer.json).is_ok());
            if let Some(arguments) = of_arguments(&schema, false, json_schema) {
                proptest::prop_assert!(serde_json::from_slice::<Value>(&arguments.json).is_ok());
            }
        }
    }
}
