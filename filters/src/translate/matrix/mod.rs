//! What every pair of client and provider supports, found out by translating a probe of each feature.

mod probes;

use serde::Serialize;

use self::probes::PROBES;
use super::prepare::{Picture, Policy, passes, pictures_to_fetch, prepare};
use super::{Capabilities, ProviderKind, Quirks, Target};
use crate::canonical::Weight;
use crate::shape::Shape;

/// One pair of client and provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// The client's shape.
    pub client: Shape,
    /// Kind of provider.
    pub provider: ProviderKind,
    /// The dialect spoken there.
    pub dialect: Shape,
    /// A model of the kind the cell was worked out for; others may take more or less.
    pub model: &'static str,
    /// Every feature.
    pub features: Vec<Feature>,
}

/// One feature on one pair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Feature {
    /// Such as `tools` or `image_url`.
    pub name: &'static str,
    /// How far it is supported.
    pub support: Support,
    /// Fields that are left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub omitted: Vec<String>,
    /// Why it is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How far a feature is supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// The client's own bytes reach the provider.
    Native,
    /// Translated without loss.
    Translated,
    /// Translated; the provider has no words for some of it.
    Partial,
    /// Refused, unless the policy lets losses go.
    Refused,
    /// Refused under every policy.
    Unsupported,
}

/// The providers of the matrix, each with a typical model.
const PROVIDERS: [(ProviderKind, Shape, &str); 7] = [
    (ProviderKind::Openai, Shape::ChatCompletions, "gpt-5.2"),
    (ProviderKind::AzureOpenai, Shape::ChatCompletions, "gpt-5.2"),
    (ProviderKind::Anthropic, Shape::Messages, "claude-sonnet-4-5"),
    (ProviderKind::Bedrock, Shape::Messages, "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
    (ProviderKind::Gemini, Shape::GenerateContent, "gemini-2.5-pro"),
    (ProviderKind::Vertex, Shape::GenerateContent, "gemini-2.5-pro"),
    (ProviderKind::Vertex, Shape::Messages, "claude-sonnet-4-5@20250929"),
];

const CLIENTS: [Shape; 4] = [Shape::ChatCompletions, Shape::Messages, Shape::GenerateContent, Shape::Responses];

/// The whole matrix.
#[must_use]
pub fn matrix() -> Vec<Cell> {
    let pairs = CLIENTS.into_iter().flat_map(|client| PROVIDERS.into_iter().map(move |provider| (client, provider)));
    pairs.map(|(client, (kind, dialect, model))| cell(client, kind, dialect, model)).collect()
}

fn cell(client: Shape, kind: ProviderKind, dialect: Shape, model: &'static str) -> Cell {
    let capabilities = Capabilities::of(dialect, model);
    let target = Target { shape: dialect, kind, model, origin: 0, capabilities, quirks: Quirks::VENDOR };
    let probes = PROBES.iter().filter(|probe| probe.client == client);
    Cell { client, provider: kind, dialect, model, features: probes.map(|probe| feature(client, probe, &target)).collect() }
}

fn feature(client: Shape, probe: &probes::Probe, target: &Target<'_>) -> Feature {
    let plain = |support| Feature { name: probe.feature, support, omitted: Vec::new(), reason: None };
    let body = probe.body.as_bytes();
    if passes(client, target, false, true, body) {
        return plain(Support::Native);
    }
    let pictures: Vec<Picture> = pictures_to_fetch(client, body, false, target).unwrap_or_default().into_iter().map(fetched).collect();
    match prepare(client, body, probe.stream, target, Policy::Lossy, &pictures) {
        Err(refusal) => Feature { reason: Some(refusal.to_string()), ..plain(Support::Unsupported) },
        Ok(prepared) => {
            let omitted = prepared.losses.iter().map(|loss| loss.field.to_string()).collect();
            let support = match prepared.losses.iter().map(|loss| loss.weight).max() {
                None | Some(Weight::Silent) => Support::Translated,
                Some(Weight::Minor) => Support::Partial,
                Some(Weight::Major) => Support::Refused,
            };
            let reason = prepared.losses.heaviest_from(Weight::Major).map(|loss| loss.reason.to_string());
            Feature { omitted, reason, ..plain(support) }
        }
    }
}

/// A picture as if it had been fetched.
fn fetched((url, _): (String, String)) -> Picture {
    Picture { url, media_type: "image/png".to_owned(), data: probes::PICTURE.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_the_contract_carries_every_feature_of_the_contract() {
        for cell in matrix() {
            for name in [
                "text",
                "stream",
                "system",
                "system_blocks",
                "tools",
                "parallel_tools",
                "tool_results",
                "image_base64",
                "image_url",
                "user",
                "thinking",
            ] {
                let found = cell.features.iter().find(|feature| feature.name == name);
                // Generate content has one form of instructions, and no field for the end user.
                let Some(found) = found else {
                    assert!(cell.client == Shape::GenerateContent && matches!(name, "user" | "system_blocks"), "{name} of {}", cell.client);
                    continue;
                };
                let lossy = name == "user" && cell.dialect == Shape::GenerateContent;
                let good = matches!(found.support, Support::Native | Support::Translated) || (lossy && found.support == Support::Partial);
                assert!(good, "{} > {:?}: {found:?}", cell.client, cell.provider);
            }
        }
    }

    #[test]
    fn vendor_tools_of_the_messages_shape_work_on_chat_providers() {
        let chat = |cell: &Cell| cell.client == Shape::Messages && cell.dialect == Shape::ChatCompletions;
        for cell in matrix().into_iter().filter(chat) {
            for name in ["web_search", "computer_use"] {
                let found = cell.features.iter().find(|feature| feature.name == name).expect("a probe");
                assert_eq!(found.support, Support::Translated, "{:?}: {found:?}", cell.provider);
            }
        }
    }
}
