//! `svc-licence issue`.

use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};
use svc_gateway::licence::keys::SigningKey;
use svc_gateway::licence::token::{Claims, sign};
use svc_gateway::licence::{DAY, Edition};
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, OffsetDateTime, Time};

use crate::arguments::Arguments;
use crate::files;

/// Days of the longest licence: a hundred years.
const LONGEST: i64 = 36_500;

/// Signs a licence; returns it, or where it was written.
pub(crate) fn run(arguments: &Arguments, now: i64) -> Result<String> {
    let file = arguments.require("--key")?;
    let key = SigningKey::from_pem(&files::read(file)?).with_context(|| format!("failed to use {file}"))?;
    let edition = arguments.require("--edition")?;
    let claims = Claims {
        customer: arguments.require("--customer")?.trim().to_owned(),
        edition: Edition::called(edition).ok_or_else(|| anyhow!("--edition must be community or enterprise, not {edition}"))?,
        issued_at: now,
        expires_at: expiry(arguments, now)?,
    };
    let token = sign(&claims, &key, now).context("failed to sign such a licence")?;
    match arguments.get("--out") {
        None => Ok(format!("{token}\n")),
        Some(out) => {
            files::create(Path::new(out), &format!("{token}\n"), files::PRIVATE)?;
            Ok(format!("{out} holds a licence; gateways read it from SVC_LICENSE_KEY\n"))
        }
    }
}

fn expiry(arguments: &Arguments, now: i64) -> Result<i64> {
    let expiry = match (arguments.get("--days"), arguments.get("--expires-at")) {
        (Some(days), None) => {
            let days = days.parse().ok().filter(|days| (1..=LONGEST).contains(days));
            let days: i64 = days.with_context(|| format!("--days must be a number from 1 to {LONGEST}"))?;
            now + days * DAY
        }
        (None, Some(date)) => {
            moment(date).with_context(|| format!("--expires-at must be like 2027-12-31 or 2027-12-31T12:00:00Z, not {date}"))?
        }
        _ => bail!("give either --days or --expires-at"),
    };
    if expiry <= now {
        bail!("the licence would have expired already");
    }
    Ok(expiry)
}

/// The end of a day, in UTC, or the moment that was written out.
fn moment(text: &str) -> Option<i64> {
    if let Ok(moment) = OffsetDateTime::parse(text, &Rfc3339) {
        return Some(moment.unix_timestamp());
    }
    let date = Date::parse(text, format_description!("[year]-[month]-[day]")).ok()?;
    Some(date.with_time(Time::MIDNIGHT).assume_utc().unix_timestamp() + DAY - 1)
}
