//! The generate-content vendor's developer API.

use http::HeaderName;
use svc_filters::shape::Shape;
use svc_filters::verdict::Rejection;
use svc_filters::wire::json::{Member, members};

use super::edit::{Editing, Fate, whole};
use super::request::{Dispatch, asks};
use super::transport::{Draft, Prepared, Transport, encoded};

pub(super) const X_GOOG_API_KEY: HeaderName = HeaderName::from_static("x-goog-api-key");

#[derive(Debug)]
pub(super) struct Gemini;

impl Transport for Gemini {
    fn shape(&self, _: &str) -> Shape {
        Shape::GenerateContent
    }

    fn path(&self, base: &str, dispatch: &Dispatch<'_>) -> String {
        let version = if base.ends_with("/v1beta") || base.ends_with("/v1") || base.ends_with("/v1alpha") { "" } else { "/v1beta" };
        let verb = dispatch.endpoint.verb().unwrap_or_default();
        format!("{base}{version}/models/{}:{verb}{}", encoded(dispatch.model, b"/@"), sse(dispatch))
    }

    fn key_header(&self, key: &str) -> (HeaderName, String) {
        (X_GOOG_API_KEY, key.to_owned())
    }

    fn prepare(&self, draft: &Draft<'_>) -> Result<Prepared, Rejection> {
        Ok(without(draft, &CLOUD_ONLY))
    }
}

/// Fields of generate content that one of the vendor's two services has and the other refuses.
pub(super) struct Foreign {
    top: &'static [&'static str],
    config: &'static [&'static str],
    tool_config: &'static [&'static str],
}

/// Those of the cloud.
const CLOUD_ONLY: Foreign = Foreign {
    top: &["labels", "modelArmorConfig", "model_armor_config"],
    config: &["audioTimestamp", "audio_timestamp"],
    tool_config: &[],
};

/// Those of the developer API.
pub(super) const DEVELOPER_ONLY: Foreign =
    Foreign { top: &["store"], config: &[], tool_config: &["includeServerSideToolInvocations", "include_server_side_tool_invocations"] };

const CONFIG: [&str; 2] = ["generationConfig", "generation_config"];
const TOOL_CONFIG: [&str; 2] = ["toolConfig", "tool_config"];

impl Foreign {
    /// Whether a body has any of the fields, in one walk: mostly it has none.
    fn is_in(&self, body: &[u8]) -> bool {
        let named = |member: &Member<'_>, names: &[&str]| names.iter().any(|name| member.is(name));
        let inside = |member: &Member<'_>, names: &[&str]| members(member.value()).any(|inner| named(&inner, names));
        members(body).any(|member| {
            named(&member, self.top)
                || (named(&member, &CONFIG) && inside(&member, self.config))
                || (named(&member, &TOOL_CONFIG) && inside(&member, self.tool_config))
        })
    }
}

/// The body without the fields of the other service; itself where there are none.
pub(super) fn without(draft: &Draft<'_>, foreign: &Foreign) -> Prepared {
    let body = draft.body.whole();
    if !foreign.is_in(&body) {
        return Prepared::unchanged(draft);
    }
    let fate = |names: &'static [&'static str]| {
        move |member: &Member<'_>| if names.iter().any(|name| member.is(name)) { Fate::Omit } else { Fate::Keep }
    };
    let mut editing = Editing::new(&body);
    editing.sift(whole(&body), "", fate(foreign.top));
    editing.sift_inner(&CONFIG, "generationConfig.", fate(foreign.config));
    editing.sift_inner(&TOOL_CONFIG, "toolConfig.", fate(foreign.tool_config));
    let (body, omitted) = editing.finish();
    Prepared { body, omitted }
}

/// The query that asks for server-sent events, where the client asked for them.
pub(super) fn sse(dispatch: &Dispatch<'_>) -> &'static str {
    if asks(dispatch.query, "alt", "sse") { "?alt=sse" } else { "" }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use http::HeaderMap;
    use svc_filters::endpoint::Endpoint;
    use svc_filters::wire::pieces::Pieces;

    use super::*;

    fn left(body: &'static str, foreign: &Foreign) -> (String, Vec<String>) {
        let (headers, body) = (HeaderMap::new(), Pieces::from(Bytes::from_static(body.as_bytes())));
        let draft = Draft { endpoint: Endpoint::GenerateContent, model: "g", stream: false, headers: &headers, body: &body };
        let prepared = without(&draft, foreign);
        (String::from_utf8(prepared.body.whole().to_vec()).unwrap(), prepared.omitted)
    }

    #[test]
    fn each_of_the_vendors_services_is_spared_the_others_fields() {
        let body = r#"{"labels":{"a":"b"}, "contents":[],"store":true,"generation_config":{"audio_timestamp":true,"seed":1},"toolConfig":{"includeServerSideToolInvocations":true}}"#;
        let (developer, omitted) = left(body, &CLOUD_ONLY);
        assert_eq!(
            developer,
            r#"{"contents":[],"store":true,"generation_config":{"seed":1},"toolConfig":{"includeServerSideToolInvocations":true}}"#
        );
        assert_eq!(omitted, ["labels", "generationConfig.audio_timestamp"]);
        let (cloud, omitted) = left(body, &DEVELOPER_ONLY);
        assert_eq!(cloud, r#"{"labels":{"a":"b"}, "contents":[],"generation_config":{"audio_timestamp":true,"seed":1},"toolConfig":{}}"#);
        assert_eq!(omitted, ["store", "toolConfig.includeServerSideToolInvocations"]);
    }
}
