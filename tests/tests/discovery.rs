//! Model discovery: three list shapes, what a key may see, pages, single models, and the paths that need no key.

use serde_json::Value;
use svc_tests::gateway::{Gateway, KEY, Options};
use svc_tests::raw::{Connection, get};
use svc_tests::shapes::Shape;
use svc_tests::upstream::Upstream;

type Headers = Vec<(&'static str, &'static str)>;

const VERSION: (&str, &str) = ("anthropic-version", "2023-06-01");

fn start(upstream: &Upstream) -> Gateway {
    Gateway::start(Options::standard(&upstream.url()))
}

fn names(shape: Shape, list: &Value) -> Vec<String> {
    let (entries, name) = match shape {
        Shape::Generate => (&list["models"], "name"),
        _ => (&list["data"], "id"),
    };
    let text = |entry: &Value| entry[name].as_str().expect("a name").trim_start_matches("models/").to_owned();
    entries.as_array().unwrap_or_else(|| panic!("a list: {list}")).iter().map(text).collect()
}

#[test]
fn the_list_has_the_shape_its_caller_expects() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    let own = ("authorization", "Bearer test-key-0123456789");
    let everything = ["chat-model", "default", "messages-model", "claude-alias", "generate-model"];
    let rows: [(&str, Headers, Shape); 9] = [
        ("/v1/models", vec![own], Shape::Chat),
        ("/v1/models?limit=1", vec![own], Shape::Chat),
        ("/v1/models", vec![("x-api-key", KEY), VERSION], Shape::Messages),
        ("/v1/models", vec![own, VERSION, ("x-goog-api-client", "x")], Shape::Messages),
        ("/v1/models", vec![("x-goog-api-key", KEY)], Shape::Generate),
        ("/v1/models", vec![own, ("x-goog-api-client", "genai-py/1")], Shape::Generate),
        ("/v1beta/models", vec![("x-goog-api-key", KEY)], Shape::Generate),
        ("/v1alpha/models", vec![own], Shape::Generate),
        ("/v1beta/models?key=test-key-0123456789", vec![], Shape::Generate),
    ];
    for (path, headers, shape) in rows {
        let answer = get(gateway.address, path, &headers);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        let list = answer.json();
        assert_eq!(names(shape, &list), everything, "{path}: aliases stand beside the names, in order");
        assert!(answer.header("x-svc-request-id").is_some(), "{path}");
        let fields: &[&str] = match shape {
            Shape::Chat | Shape::Responses => &["id", "object", "created", "owned_by"],
            Shape::Messages => &["type", "id", "display_name", "created_at"],
            Shape::Generate => &["name", "displayName", "version", "supportedGenerationMethods"],
        };
        let entries = if shape == Shape::Generate { &list["models"] } else { &list["data"] };
        for entry in entries.as_array().expect("a list") {
            assert!(fields.iter().all(|field| !entry[*field].is_null()), "{path}: {entry} has {fields:?}");
        }
    }
    let chat = get(gateway.address, "/v1/models", &[own]).json();
    assert_eq!(chat["object"], "list");
    assert_eq!(upstream.count(), 0, "discovery asks no provider");
}

#[test]
fn a_key_sees_only_the_models_it_may_use() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for (path, version, shape) in
        [("/v1/models", None, Shape::Chat), ("/v1/models", Some(VERSION), Shape::Messages), ("/v1beta/models", None, Shape::Generate)]
    {
        let headers: Vec<(&str, &str)> = [("authorization", "Bearer test-key-limited-01")].into_iter().chain(version).collect();
        let list = get(gateway.address, path, &headers).json();
        assert_eq!(names(shape, &list), ["chat-model", "default"], "an allowed alias allows its model: {path}");
        let hidden = get(gateway.address, &format!("{path}/messages-model"), &headers);
        shape.expect_error("a model of others", &hidden, 404, "model_not_found");
    }
}

#[test]
fn pages_reach_every_model_once() {
    let upstream = Upstream::start();
    let models: String = (0..45).map(|at| format!("  - {{name: m{at:02}, targets: [{{provider: chat, model: demo-1}}]}}\n")).collect();
    let gateway = Gateway::start(Options::standard(&upstream.url()).with_models(&models));
    let all = names(Shape::Chat, &get(gateway.address, "/v1/models", &[("x-api-key", KEY)]).json());
    assert_eq!(all.len(), 50, "the chat shape has no pages");

    for limit in [7, 20, 50] {
        let (mut seen, mut query) = (Vec::new(), format!("limit={limit}"));
        loop {
            let page = get(gateway.address, &format!("/v1/models?{query}"), &[("x-api-key", KEY), VERSION]).json();
            let names = names(Shape::Messages, &page);
            assert!(names.len() <= limit, "no page is longer than asked");
            assert_eq!(page["first_id"].as_str(), names.first().map(String::as_str));
            assert_eq!(page["last_id"].as_str(), names.last().map(String::as_str));
            seen.extend(names);
            if page["has_more"] == false {
                break;
            }
            query = format!("limit={limit}&after_id={}", page["last_id"].as_str().expect("an id"));
        }
        assert_eq!(seen, all, "pages of {limit} in the messages shape");

        let (mut seen, mut token) = (Vec::new(), String::new());
        loop {
            let page =
                get(gateway.address, &format!("/v1beta/models?pageSize={limit}&pageToken={token}"), &[("x-goog-api-key", KEY)]).json();
            seen.extend(names_of(&page));
            match page["nextPageToken"].as_str() {
                Some(next) => next.clone_into(&mut token),
                None => break,
            }
        }
        assert_eq!(seen, all, "pages of {limit} in the generate-content shape");
    }
    let wrong = get(gateway.address, "/v1/models?after_id=nobody", &[("x-api-key", KEY), VERSION]);
    Shape::Messages.expect_error("an unknown place", &wrong, 400, "invalid_request");
    let wrong = get(gateway.address, "/v1beta/models?pageToken=nonsense", &[("x-api-key", KEY)]);
    Shape::Generate.expect_error("an unknown place", &wrong, 400, "invalid_request");
}

fn names_of(page: &Value) -> Vec<String> {
    names(Shape::Generate, page)
}

#[test]
fn one_model_is_shown_by_any_of_its_names() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for (path, version, shape, field, shown) in [
        ("/v1/models/", None, Shape::Chat, "id", ""),
        ("/v1/models/", Some(VERSION), Shape::Messages, "id", ""),
        ("/v1beta/models/", None, Shape::Generate, "name", "models/"),
    ] {
        let headers: Vec<(&str, &str)> = [("x-api-key", KEY)].into_iter().chain(version).collect();
        for name in ["chat-model", "default", "generate-model"] {
            let answer = get(gateway.address, &format!("{path}{name}"), &headers);
            assert_eq!(answer.status, 200, "{path}{name}: {}", answer.text());
            assert_eq!(answer.json()[field], format!("{shown}{name}"));
        }
        let unknown = get(gateway.address, &format!("{path}nobody"), &headers);
        shape.expect_error("an unknown model", &unknown, 404, "model_not_found");
        let mut anonymous: Vec<(&str, &str)> = headers.clone();
        anonymous.remove(0);
        shape.expect_error("no key", &get(gateway.address, path.trim_end_matches('/'), &anonymous), 401, "key_not_found");
    }
}

#[test]
fn landing_paths_answer_without_a_key() {
    let upstream = Upstream::start();
    let gateway = start(&upstream);
    for path in ["/", "/api/hello", "/?x=1"] {
        let answer = get(gateway.address, path, &[]);
        assert_eq!(answer.status, 200, "GET {path}");
        let mut connection = Connection::open(gateway.address);
        connection.send(format!("HEAD {path} HTTP/1.1\r\nhost: test\r\n\r\n"));
        let head = connection.read_head().expect("an answer");
        assert!(head.starts_with("HTTP/1.1 200"), "HEAD {path}: {head}");
        connection.send(format!("GET {path} HTTP/1.1\r\nhost: test\r\n\r\n"));
        let next = connection.answer().unwrap_or_else(|| panic!("HEAD {path} leaves the connection usable"));
        assert_eq!(next.status, 200, "an answer to HEAD has no body that could be taken for the next answer");
    }
}
