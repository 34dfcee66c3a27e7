//! `svc-licence inspect`.

use std::io::{self, Read};

use anyhow::{Context, Result};
use svc_gateway::licence::keys::{VerifyingKey, trusted};
use svc_gateway::licence::state::{Environment, resolve};
use svc_gateway::licence::token::verify;
use svc_gateway::licence::{DAY, Edition, Licence};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::arguments::Arguments;
use crate::files;

/// More than any licence has.
const LONGEST: u64 = 64 * 1024;

/// Says what a licence holds.
pub(crate) fn run(arguments: &Arguments, now: i64) -> Result<String> {
    let token = match arguments.plain() {
        None | Some("-") => standard_input()?,
        Some(file) => files::read(file)?,
    };
    let mut keys = trusted();
    let built_in = keys.len();
    if let Some(file) = arguments.get("--key") {
        keys.push(VerifyingKey::from_pem(file, &files::read(file)?).with_context(|| format!("failed to use {file}"))?);
    }
    let verified = verify(token.trim(), &keys, now).context("this is no licence a gateway would take")?;
    let is_built_in = keys.iter().take(built_in).any(|key| key.name == verified.key);
    let licence = Licence::new(resolve(Environment::Valid(verified.claims.clone()), || None, now), Edition::Enterprise);
    let resolved = licence.resolved();
    let banner = licence.banner(now).map_or_else(|| "none".to_owned(), |banner| format!("{}: {}", banner.code, banner.text));
    let trust = if is_built_in { "built in here" } else { "not built in here: a gateway of this build would refuse the licence" };
    let claims = &verified.claims;
    Ok(format!(
        "customer    {}\nedition     {}\nissued at   {}\nexpires at  {} ({} days left)\nkey         {} ({trust})\ntier now    {} ({})\nbanner      {banner}\n",
        claims.customer,
        claims.edition.as_str(),
        shown(claims.issued_at),
        shown(claims.expires_at),
        claims.expires_at.saturating_sub(now).max(0) / DAY,
        verified.key,
        resolved.tier.as_str(),
        resolved.standing.as_str(),
    ))
}

fn standard_input() -> Result<String> {
    let mut text = String::new();
    io::stdin().take(LONGEST).read_to_string(&mut text).context("failed to read standard input")?;
    Ok(text)
}

fn shown(moment: i64) -> String {
    OffsetDateTime::from_unix_timestamp(moment).ok().and_then(|moment| moment.format(&Rfc3339).ok()).unwrap_or_default()
}
