//! Betas of the messages vendor: which ones the clouds that host its models take. One unknown name fails a request there.

use http::HeaderMap;

use super::anthropic::BETA;

/// Betas that both clouds take, without their dates: the vendor's newer dates follow the older ones.
const BOTH: [&str; 9] = [
    "compact",
    "computer-use",
    "context-1m",
    "context-management",
    "effort",
    "interleaved-thinking",
    "output-128k",
    "token-efficient-tools",
    "tool-search-tool",
];
/// Betas that only Google Cloud takes.
const VERTEX: [&str; 3] = ["claude-code", "fine-grained-tool-streaming", "web-search"];

/// Where betas go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cloud {
    Bedrock,
    Vertex,
}

/// Betas of a request, each once.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Betas {
    /// Those that may go.
    pub(super) taken: Vec<String>,
    /// Those that may not.
    pub(super) refused: Vec<String>,
}

impl Betas {
    /// The betas of the client's header.
    pub(super) fn of(headers: &HeaderMap, cloud: Cloud) -> Self {
        let mut betas = Self::default();
        let values = headers.get_all(&BETA).iter().filter_map(|value| value.to_str().ok());
        for name in values.flat_map(|value| value.split(',')).map(str::trim).filter(|name| !name.is_empty()) {
            betas.add(name, cloud);
        }
        betas
    }

    /// Adds one.
    pub(super) fn add(&mut self, name: &str, cloud: Cloud) {
        let list = if is_taken(name, cloud) { &mut self.taken } else { &mut self.refused };
        if !list.iter().any(|known| known == name) {
            list.push(name.to_owned());
        }
    }

    /// Whether a beta is taken, whatever its date.
    pub(super) fn has(&self, family: &str) -> bool {
        self.taken.iter().any(|name| self::family(name) == family)
    }
}

fn is_taken(name: &str, cloud: Cloud) -> bool {
    let family = family(name);
    BOTH.contains(&family) || (cloud == Cloud::Vertex && VERTEX.contains(&family))
}

/// The name without its date, which is written `-2025-01-24` or `-20250124`.
fn family(name: &str) -> &str {
    let is_date =
        |text: &str| text.bytes().filter(u8::is_ascii_digit).count() == 8 && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    let dated = [11, 9].into_iter().filter_map(|length| name.len().checked_sub(length)).find_map(|at| {
        let (family, date) = name.split_at_checked(at)?;
        (date.starts_with('-') && is_date(date)).then_some(family)
    });
    dated.unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn only_betas_the_cloud_takes_go_there_and_each_once() {
        let mut headers = HeaderMap::new();
        headers.append(BETA, HeaderValue::from_static("claude-code-20250219, interleaved-thinking-2025-05-14"));
        headers.append(BETA, HeaderValue::from_static("interleaved-thinking-2025-05-14,oauth-2025-04-20,,context-1m-2025-08-07"));
        let bedrock = Betas::of(&headers, Cloud::Bedrock);
        assert_eq!(bedrock.taken, ["interleaved-thinking-2025-05-14", "context-1m-2025-08-07"]);
        assert_eq!(bedrock.refused, ["claude-code-20250219", "oauth-2025-04-20"]);
        assert!(bedrock.has("context-1m") && !bedrock.has("context"));
        assert_eq!(Betas::of(&headers, Cloud::Vertex).refused, ["oauth-2025-04-20"]);
    }
}
