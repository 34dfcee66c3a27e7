//! `providers`.

use std::collections::{BTreeMap, BTreeSet};

use super::super::node::Path;
use super::super::{Conf, Provider, ProviderKind};
use super::text::{is_header_value, wrong_with_header, wrong_with_url};
use super::{Checker, at};

pub(super) fn check(checker: &mut Checker<'_>, conf: &Conf) {
    let mut names = BTreeMap::new();
    for (index, provider) in conf.providers.iter().enumerate() {
        let path = at(&["providers"]).index(index);
        if checker.is_declared(provider.when_set.as_ref(), &path) {
            checker.name(&mut names, &provider.name, path.key("name"));
            address(checker, provider, &path);
            credentials(checker, provider, &path);
            blocks(checker, provider, &path);
            headers(checker, provider, &path);
            bounds(checker, provider, &path);
        }
    }
}

fn address(checker: &mut Checker<'_>, provider: &Provider, path: &Path) {
    let path = path.key("base_url");
    if provider.base_url.is_empty() {
        checker.report(&path, format!("needed here: {} has no public address that follows from the other keys", provider.kind.as_str()));
    } else if let Some(wrong) = wrong_with_url(&provider.base_url, false) {
        checker.report(&path, wrong);
    }
}

fn credentials(checker: &mut Checker<'_>, provider: &Provider, path: &Path) {
    let sendable = provider.keys.iter().all(|key| is_header_value(key.reveal()));
    checker.ensure(sendable, &path.key("keys"), "a key cannot be sent in a header; it must be printable ASCII without spaces around it");
    let kind = provider.kind;
    let own_block = |wanted: ProviderKind| kind == wanted;
    checker.ensure(provider.aws.is_none() || own_block(ProviderKind::Bedrock), &path.key("aws"), "only for the kind bedrock");
    checker.ensure(provider.vertex.is_none() || own_block(ProviderKind::Vertex), &path.key("vertex"), "only for the kind vertex");
    checker.ensure(provider.entra.is_none() || own_block(ProviderKind::AzureOpenAi), &path.key("entra"), "only for the kind azure_openai");
    if kind == ProviderKind::Vertex && provider.vertex.is_none() && provider.keys.is_empty() {
        checker.report(path, "the kind vertex needs the key `vertex`, or `keys`");
    }
    if kind == ProviderKind::Bedrock && provider.aws.is_none() && provider.keys.is_empty() {
        checker.report(path, "the kind bedrock needs the key `aws`, or `keys`");
    }
}

/// What the blocks of the clouds must hold.
fn blocks(checker: &mut Checker<'_>, provider: &Provider, path: &Path) {
    if let Some(aws) = &provider.aws {
        let path = path.key("aws");
        let half = aws.access_key_id.is_empty() != aws.secret_access_key.is_empty();
        checker.ensure(!half, &path, "`access_key_id` and `secret_access_key` go together");
        checker.ensure(is_place(&aws.region), &path.key("region"), "expected the name of a region, such as us-east-1");
    }
    if let Some(vertex) = &provider.vertex {
        let path = path.key("vertex");
        checker.ensure(!vertex.project.is_empty(), &path.key("project"), "needed here");
        checker.ensure(is_place(&vertex.location), &path.key("location"), "expected the name of a location, such as us-central1 or global");
        let user_project = vertex.user_project.as_deref();
        checker.ensure(user_project.is_none_or(is_header_value), &path.key("user_project"), "not the id of a project");
    }
    if let Some(entra) = &provider.entra {
        let path = path.key("entra");
        for (value, key) in [(&*entra.tenant, "tenant"), (&*entra.client_id, "client_id"), (entra.client_secret.reveal(), "client_secret")]
        {
            checker.ensure(!value.is_empty(), &path.key(key), "needed here");
        }
        if let Some(wrong) = entra.token_url.as_deref().and_then(|url| wrong_with_url(url, true)) {
            checker.report(&path.key("token_url"), wrong);
        }
    }
}

/// Whether a text can be part of a host's name.
fn is_place(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

fn headers(checker: &mut Checker<'_>, provider: &Provider, path: &Path) {
    let mut seen = BTreeSet::new();
    for (name, value) in &provider.headers {
        let path = path.key("headers").key(name);
        if let Some(wrong) = wrong_with_header(name, value) {
            checker.report(&path, wrong);
        }
        checker.ensure(seen.insert(name.to_ascii_lowercase()), &path, "this header is given twice; case makes no difference");
    }
}

fn bounds(checker: &mut Checker<'_>, provider: &Provider, path: &Path) {
    checker.ensure(provider.max_concurrency != Some(0), &path.key("max_concurrency"), "must not be 0; leave it out for no bound");
    let own = &provider.timeouts;
    for (period, key) in [(own.connect, "connect"), (own.first_byte, "first_byte"), (own.idle, "idle"), (own.total, "total")] {
        checker.ensure(period.is_none_or(|period| !period.is_zero()), &path.key("timeouts").key(key), "must not be 0");
    }
}
