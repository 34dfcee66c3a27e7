use super::*;

#[test]
fn every_path_of_the_specification_finds_its_endpoint() {
    for (path, endpoint, shape) in [
        ("/v1/chat/completions", Endpoint::ChatCompletions, Shape::ChatCompletions),
        ("/v1/responses", Endpoint::Responses, Shape::Responses),
        ("/v1/audio/transcriptions", Endpoint::AudioTranscriptions, Shape::ChatCompletions),
        ("/v1/messages", Endpoint::Messages, Shape::Messages),
        ("/v1/messages/count_tokens", Endpoint::MessagesCountTokens, Shape::Messages),
    ] {
        assert_eq!(route("POST", path), Ok(Route { endpoint, shape, path_model: None }), "{path}");
    }
    for version in GENERATE_VERSIONS {
        for (verb, endpoint) in VERBS {
            let path = format!("{version}/models/gemini-pro:{verb}");
            let expected = Route { endpoint, shape: Shape::GenerateContent, path_model: Some("gemini-pro".into()) };
            assert_eq!(route("POST", &path), Ok(expected), "{path}");
        }
    }
}

#[test]
fn paths_of_the_vendors_cloud_name_the_same_models_whatever_the_project() {
    let found = |endpoint| Ok(Route { endpoint, shape: Shape::GenerateContent, path_model: Some("gemini-pro".into()) });
    for (path, endpoint) in [
        ("/v1/projects/p/locations/us-central1/publishers/google/models/gemini-pro:generateContent", Endpoint::GenerateContent),
        ("/v1beta1/projects/p/locations/global/publishers/google/models/gemini-pro:countTokens", Endpoint::GenerateCountTokens),
        ("/v1beta/publishers/google/models/gemini-pro:streamGenerateContent", Endpoint::StreamGenerateContent),
        ("/v1/projects/p/locations/l/endpoints/gemini-pro:generateContent", Endpoint::GenerateContent),
    ] {
        assert_eq!(route("POST", path), found(endpoint), "{path}");
        assert_eq!(route("GET", path), Err(RouteError::WrongMethod(Shape::GenerateContent, "POST")), "{path}");
    }
    for path in [
        "/v1/projects/p/publishers/google/models/x:generateContent",
        "/v1/projects/p/locations/l/publishers/google/models/x:predict",
        "/v1/projects/p/locations/l/publishers/google/models/x",
        "/v1/projects/p/locations/l/publishers/meta/models/x:generateContent",
        "/v1beta1/publishers/google/models",
        "/v1/projects/",
    ] {
        assert_eq!(route("POST", path), Err(RouteError::UnknownPath(Shape::GenerateContent)), "{path}");
    }
    let stray = "/v1/projects/p/locations/l/publishers/google/models/..%2fx:generateContent";
    assert_eq!(route("POST", stray), Err(RouteError::InvalidModel(Shape::GenerateContent)));
}

#[test]
fn the_clouds_form_of_messages_is_refused_with_directions() {
    for verb in ["rawPredict", "streamRawPredict"] {
        let path = format!("/v1/projects/p/locations/l/publishers/anthropic/models/claude-opus-4-1@20250805:{verb}");
        assert!(matches!(route("POST", &path), Err(RouteError::NotServed(Shape::Messages, _))));
    }
}

#[test]
fn a_wrong_method_names_the_right_one_in_the_callers_shape() {
    assert_eq!(route("GET", "/v1/messages"), Err(RouteError::WrongMethod(Shape::Messages, "POST")));
    assert_eq!(route("DELETE", "/v1beta/models"), Err(RouteError::WrongMethod(Shape::GenerateContent, "GET")));
}

#[test]
fn unknown_paths_and_verbs_are_not_found() {
    assert_eq!(route("POST", "/v1/chat/completions/"), Err(RouteError::UnknownPath(Shape::ChatCompletions)));
    assert_eq!(route("POST", "/v1/messagesx"), Err(RouteError::UnknownPath(Shape::Messages)));
    assert_eq!(route("POST", "/v1beta/models/x:predict"), Err(RouteError::UnknownPath(Shape::GenerateContent)));
}

#[test]
fn a_model_segment_cannot_leave_its_place() {
    for segment in ["..%2fadmin", "a/../b", "a%3Fb", "%00", "a%2", "", "a//b"] {
        let path = format!("/v1beta/models/{segment}:generateContent");
        assert_eq!(route("POST", &path), Err(RouteError::InvalidModel(Shape::GenerateContent)), "{segment}");
    }
    let tuned = route("POST", "/v1/models/tuned%2Fmine:generateContent").expect("a slash is part of tuned names");
    assert_eq!(tuned.path_model.as_deref(), Some("tuned/mine"));
}

#[test]
fn endpoints_that_ask_a_model_are_found_by_their_names() {
    for endpoint in Endpoint::ROUTED {
        assert_eq!(Endpoint::named(endpoint.as_str()), Some(endpoint));
    }
    assert!(["list_models", "get_model", "translation_matrix", "chat"].iter().all(|name| Endpoint::named(name).is_none()));
}
