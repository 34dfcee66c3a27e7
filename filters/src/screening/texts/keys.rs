//! Members whose strings are no texts, whatever they stand in.

use memchr::memmem;

const BASE64: &[u8] = b";base64,";
/// How far into a string its scheme and encoding are looked for.
const DATA_HEAD: usize = 256;

/// Whether the strings of members called `key` are something else than texts: ids and names, kinds and states, formats, addresses,
/// media, and what is signed or encrypted.
#[rustfmt::skip]
pub(super) fn is_no_text(key: &[u8]) -> bool {
    matches!(
        key,
        b"type" | b"role" | b"object" | b"status" | b"phase" | b"outcome" | b"language" | b"category" | b"error_code" | b"scheduling"
        | b"id" | b"name" | b"tool_name" | b"model" | b"call_id" | b"tool_call_id" | b"tool_use_id" | b"tool_id" | b"item_id" | b"response_id"
        | b"approval_request_id" | b"approval_id" | b"container_id" | b"file_id" | b"server_name" | b"server_label" | b"toolType" | b"tool_type"
        | b"finish_reason" | b"finishReason" | b"stop_reason" | b"stop_sequence"
        | b"format" | b"detail" | b"media_type" | b"mime_type" | b"mimeType" | b"mediaResolution" | b"media_resolution"
        | b"videoMetadata" | b"video_metadata" | b"input_schema"
        | b"url" | b"uri" | b"image_url" | b"audio_url" | b"video_url" | b"file_url" | b"fileUri" | b"file_uri" | b"googleMapsUri"
        | b"data" | b"file_data" | b"b64_json" | b"obfuscation"
        | b"signature" | b"thoughtSignature" | b"thought_signature" | b"encrypted_content" | b"encrypted_index" | b"encrypted_stdout"
        | b"cache_control" | b"prompt_cache_breakpoint" | b"usage" | b"logprobs" | b"logprobsResult" | b"safetyRatings"
        | b"content_filter_results"
    )
}

/// Whether a string, given with its quotes, is a URL that holds media as base64, and nothing else.
pub(super) fn is_data_url(string: &[u8]) -> bool {
    let head = string.get(..DATA_HEAD).unwrap_or(string);
    let Some(at) = head.starts_with(b"\"data:").then(|| memmem::find(head, BASE64)).flatten() else { return false };
    let media = string.get(at + BASE64.len()..string.len() - 1).unwrap_or_default();
    // Some escape slashes.
    media.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_' | b'=' | b'\\'))
}

/// Whether strings called `key` are texts, even those that look like media.
pub(super) fn is_text(key: &[u8]) -> bool {
    matches!(key, b"text" | b"content" | b"refusal" | b"summary" | b"title" | b"context" | b"transcript" | b"output")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_urls_that_hold_base64_are_media() {
        assert!(is_data_url(br#""data:image/png;base64,AA\/A""#));
        assert!(!is_data_url(br#""data:image/png;base64,AAAA and more""#));
        assert!(!is_data_url(br#""data: 4;base64 ""#) && !is_data_url(br#""see data:image/png;base64,AA""#));
    }
}
