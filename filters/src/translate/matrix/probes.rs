//! One small request for each feature in each client shape.

use crate::shape::Shape;

/// A request that uses one feature.
pub(super) struct Probe {
    pub(super) client: Shape,
    pub(super) feature: &'static str,
    pub(super) stream: bool,
    pub(super) body: &'static str,
}

/// A picture of one pixel.
pub(super) const PICTURE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const fn probe(client: Shape, feature: &'static str, body: &'static str) -> Probe {
    Probe { client, feature, stream: false, body }
}

const C: Shape = Shape::ChatCompletions;
const M: Shape = Shape::Messages;
const G: Shape = Shape::GenerateContent;
const R: Shape = Shape::Responses;

pub(super) const PROBES: &[Probe] = &[
    probe(C, "text", r#"{"model":"m","messages":[{"role":"user","content":"hi"}]}"#),
    probe(C, "stream", r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}"#),
    probe(C, "system", r#"{"model":"m","messages":[{"role":"system","content":"be brief"},{"role":"user","content":"hi"}]}"#),
    probe(
        C,
        "system_blocks",
        r#"{"model":"m","messages":[{"role":"developer","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]},{"role":"user","content":"hi"}]}"#,
    ),
    probe(
        C,
        "tools",
        r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","description":"d","parameters":{"type":"object","properties":{"a":{"type":"string"}}}}}],"tool_choice":"auto"}"#,
    ),
    probe(
        C,
        "forced_tool",
        r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}],"tool_choice":{"type":"function","function":{"name":"f"}}}"#,
    ),
    probe(
        C,
        "parallel_tools",
        r#"{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c1","content":"1"},{"role":"tool","tool_call_id":"c2","content":"2"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}]}"#,
    ),
    probe(
        C,
        "tool_results",
        r#"{"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"wait","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"1"},{"role":"user","content":"go on"}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}]}"#,
    ),
    probe(
        C,
        "custom_tools",
        r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"tools":[{"type":"custom","custom":{"name":"sql"}}]}"#,
    ),
    probe(
        C,
        "structured_output",
        r#"{"model":"m","messages":[{"role":"user","content":"hi"}],"response_format":{"type":"json_schema","json_schema":{"name":"r","schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}}}}"#,
    ),
    probe(
        C,
        "json_object",
        r#"{"model":"m","messages":[{"role":"user","content":"JSON please"}],"response_format":{"type":"json_object"}}"#,
    ),
    probe(
        C,
        "image_base64",
        r#"{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"what"},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}}]}]}"#,
    ),
    probe(
        C,
        "image_url",
        r#"{"model":"m","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}]}"#,
    ),
    probe(
        C,
        "document",
        r#"{"model":"m","messages":[{"role":"user","content":[{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0xLjQK"}}]}]}"#,
    ),
    probe(
        C,
        "audio",
        r#"{"model":"m","messages":[{"role":"user","content":[{"type":"input_audio","input_audio":{"format":"wav","data":"UklGRg=="}}]}]}"#,
    ),
    probe(
        C,
        "limits",
        r#"{"model":"m","max_completion_tokens":50,"stop":["x"],"temperature":0.5,"messages":[{"role":"user","content":"hi"}]}"#,
    ),
    probe(
        C,
        "seed_and_penalties",
        r#"{"model":"m","seed":1,"presence_penalty":0.5,"frequency_penalty":0.5,"messages":[{"role":"user","content":"hi"}]}"#,
    ),
    probe(C, "several_answers", r#"{"model":"m","n":2,"messages":[{"role":"user","content":"hi"}]}"#),
    probe(C, "logprobs", r#"{"model":"m","logprobs":true,"top_logprobs":2,"messages":[{"role":"user","content":"hi"}]}"#),
    probe(C, "user", r#"{"model":"m","user":"u-1","messages":[{"role":"user","content":"hi"}]}"#),
    probe(
        C,
        "thinking",
        r#"{"model":"m","reasoning_effort":"high","max_completion_tokens":40000,"messages":[{"role":"user","content":"hi"}]}"#,
    ),
    probe(C, "web_search", r#"{"model":"m","web_search_options":{},"messages":[{"role":"user","content":"hi"}]}"#),
    probe(M, "text", r#"{"model":"m","max_tokens":50,"messages":[{"role":"user","content":"hi"}]}"#),
    probe(M, "stream", r#"{"model":"m","max_tokens":50,"stream":true,"messages":[{"role":"user","content":"hi"}]}"#),
    probe(M, "system", r#"{"model":"m","max_tokens":50,"system":"be brief","messages":[{"role":"user","content":"hi"}]}"#),
    probe(
        M,
        "system_blocks",
        r#"{"model":"m","max_tokens":50,"system":[{"type":"text","text":"a","cache_control":{"type":"ephemeral"}},{"type":"text","text":"b"}],"messages":[{"role":"user","content":"hi"}]}"#,
    ),
    probe(
        M,
        "tools",
        r#"{"model":"m","max_tokens":50,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"f","description":"d","input_schema":{"type":"object","properties":{"a":{"type":"string"}}}}]}"#,
    ),
    probe(
        M,
        "forced_tool",
        r#"{"model":"m","max_tokens":50,"messages":[{"role":"user","content":"hi"}],"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}],"tool_choice":{"type":"tool","name":"f"}}"#,
    ),
    probe(
        M,
        "parallel_tools",
        r#"{"model":"m","max_tokens":50,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}},{"type":"tool_use","id":"c2","name":"f","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"1"},{"type":"tool_result","tool_use_id":"c2","content":"2"}]}],"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}]}"#,
    ),
    probe(
        M,
        "tool_results",
        r#"{"model":"m","max_tokens":50,"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"text","text":"wait"},{"type":"tool_use","id":"c1","name":"f","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"1"}]},{"type":"text","text":"go on"}]}],"tools":[{"name":"f","input_schema":{"type":"object","properties":{}}}]}"#,
    ),
    probe(
        M,
        "structured_output",
        r#"{"model":"m","max_tokens":50,"messages":[{"role":"user","content":"hi"}],"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}}}}"#,
    ),
    probe(
        M,
        "image_base64",
        r#"{"model":"m","max_tokens":50,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}}]}]}"#,
    ),
    probe(
        M,
        "image_url",
        r#"{"model":"m","max_tokens":50,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"url","url":"https://example.com/a.png"}}]}]}"#,
    ),
    probe(
        M,
        "document",
        r#"{"model":"m","max_tokens":50,"messages":[{"role":"user","content":[{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0xLjQK"}}]}]}"#,
    ),
    probe(
        M,
        "limits",
        r#"{"model":"m","max_tokens":50,"stop_sequences":["x"],"temperature":0.5,"messages":[{"role":"user","content":"hi"}]}"#,
    ),
    probe(M, "top_k", r#"{"model":"m","max_tokens":50,"top_k":5,"messages":[{"role":"user","content":"hi"}]}"#),
    probe(
        M,
        "cache_marks",
        r#"{"model":"m","max_tokens":50,"messages":[{"role":"user","content":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]}]}"#,
    ),
    probe(M, "user", r#"{"model":"m","max_tokens":50,"metadata":{"user_id":"u-1"},"messages":[{"role":"user","content":"hi"}]}"#),
    probe(
        M,
        "thinking",
        r#"{"model":"m","max_tokens":4000,"thinking":{"type":"enabled","budget_tokens":2000},"messages":[{"role":"user","content":"hi"}]}"#,
    ),
    probe(
        M,
        "web_search",
        r#"{"model":"m","max_tokens":50,"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":3}]}"#,
    ),
    probe(
        M,
        "computer_use",
        r#"{"model":"m","max_tokens":50,"messages":[{"role":"user","content":"hi"}],"tools":[{"type":"computer_20241022","name":"computer","display_width_px":1280,"display_height_px":800,"display_number":1}]}"#,
    ),
    probe(G, "text", r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#),
    Probe { client: G, feature: "stream", stream: true, body: r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"# },
    probe(G, "system", r#"{"systemInstruction":{"parts":[{"text":"be brief"}]},"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#),
    probe(
        G,
        "tools",
        r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"tools":[{"functionDeclarations":[{"name":"f","description":"d","parameters":{"type":"OBJECT","properties":{"a":{"type":"STRING","nullable":true}}}}]}]}"#,
    ),
    probe(
        G,
        "forced_tool",
        r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"tools":[{"functionDeclarations":[{"name":"f"}]}],"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["f"]}}}"#,
    ),
    probe(
        G,
        "parallel_tools",
        r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}},{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"1"}}},{"functionResponse":{"name":"f","response":{"output":"2"}}}]}],"tools":[{"functionDeclarations":[{"name":"f"}]}]}"#,
    ),
    probe(
        G,
        "tool_results",
        r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"text":"wait"},{"functionCall":{"name":"f","args":{"a":1}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"1"}}}]}],"tools":[{"functionDeclarations":[{"name":"f"}]}]}"#,
    ),
    probe(
        G,
        "structured_output",
        r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"responseMimeType":"application/json","responseSchema":{"type":"OBJECT","properties":{"a":{"type":"STRING"}},"required":["a"]}}}"#,
    ),
    probe(
        G,
        "image_base64",
        r#"{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}}]}]}"#,
    ),
    probe(
        G,
        "image_url",
        r#"{"contents":[{"role":"user","parts":[{"fileData":{"mimeType":"image/png","fileUri":"https://example.com/a.png"}}]}]}"#,
    ),
    probe(G, "document", r#"{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"application/pdf","data":"JVBERi0xLjQK"}}]}]}"#),
    probe(G, "audio", r#"{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"audio/wav","data":"UklGRg=="}}]}]}"#),
    probe(
        G,
        "limits",
        r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":50,"stopSequences":["x"],"temperature":0.5}}"#,
    ),
    probe(G, "several_answers", r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"candidateCount":2}}"#),
    probe(
        G,
        "thinking",
        r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"generationConfig":{"maxOutputTokens":40000,"thinkingConfig":{"thinkingBudget":8192,"includeThoughts":true}}}"#,
    ),
    probe(G, "web_search", r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}],"tools":[{"googleSearch":{}}]}"#),
    probe(G, "cached_content", r#"{"cachedContent":"cachedContents/1","contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#),
    probe(R, "text", r#"{"model":"m","input":"hi"}"#),
    probe(R, "stream", r#"{"model":"m","stream":true,"input":"hi"}"#),
    probe(R, "system", r#"{"model":"m","instructions":"be brief","input":"hi"}"#),
    probe(
        R,
        "system_blocks",
        r#"{"model":"m","input":[{"role":"developer","content":[{"type":"input_text","text":"a"},{"type":"input_text","text":"b"}]},{"role":"user","content":"hi"}]}"#,
    ),
    probe(
        R,
        "tools",
        r#"{"model":"m","input":"hi","tools":[{"type":"function","name":"f","description":"d","parameters":{"type":"object","properties":{"a":{"type":"string"}}},"strict":false}]}"#,
    ),
    probe(
        R,
        "forced_tool",
        r#"{"model":"m","input":"hi","tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{}},"strict":false}],"tool_choice":{"type":"function","name":"f"}}"#,
    ),
    probe(
        R,
        "parallel_tools",
        r#"{"model":"m","input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call","call_id":"c2","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"1"},{"type":"function_call_output","call_id":"c2","output":"2"}],"tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{}},"strict":false}]}"#,
    ),
    probe(
        R,
        "tool_results",
        r#"{"model":"m","input":[{"role":"user","content":"hi"},{"type":"function_call","call_id":"c1","name":"f","arguments":"{\"a\":1}"},{"type":"function_call_output","call_id":"c1","output":"1"},{"role":"user","content":"go on"}],"tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{}},"strict":false}]}"#,
    ),
    probe(R, "custom_tools", r#"{"model":"m","input":"hi","tools":[{"type":"custom","name":"sql"}]}"#),
    probe(
        R,
        "structured_output",
        r#"{"model":"m","input":"hi","text":{"format":{"type":"json_schema","name":"r","schema":{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}}}}"#,
    ),
    probe(
        R,
        "image_base64",
        r#"{"model":"m","input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="}]}]}"#,
    ),
    probe(
        R,
        "image_url",
        r#"{"model":"m","input":[{"role":"user","content":[{"type":"input_image","image_url":"https://example.com/a.png"}]}]}"#,
    ),
    probe(
        R,
        "document",
        r#"{"model":"m","input":[{"role":"user","content":[{"type":"input_file","filename":"a.pdf","file_data":"data:application/pdf;base64,JVBERi0xLjQK"}]}]}"#,
    ),
    probe(R, "limits", r#"{"model":"m","max_output_tokens":50,"temperature":0.5,"input":"hi"}"#),
    probe(R, "user", r#"{"model":"m","safety_identifier":"u-1","input":"hi"}"#),
    probe(R, "thinking", r#"{"model":"m","reasoning":{"effort":"high"},"max_output_tokens":40000,"input":"hi"}"#),
    probe(R, "web_search", r#"{"model":"m","input":"hi","tools":[{"type":"web_search"}]}"#),
    probe(R, "stored_state", r#"{"model":"m","input":"hi","previous_response_id":"resp_1"}"#),
];
