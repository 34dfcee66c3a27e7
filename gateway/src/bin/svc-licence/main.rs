//! Licences for whoever builds svc: makes key pairs, signs licences, and says what is in one.

mod arguments;
mod files;
mod inspect;
mod issue;

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use arguments::Arguments;
use svc_gateway::clock::Clock;
use svc_gateway::licence::keys::SigningKey;

const USAGE: &str = "\
Usage: svc-licence keys --out DIR
       svc-licence issue --key FILE --customer NAME --edition community|enterprise (--days N | --expires-at DATE) [--out FILE]
       svc-licence inspect [FILE | -] [--key PUBLIC]

  keys      makes a pair: DIR/private.pem signs licences, DIR/public.pem verifies them once it is in conf/licence-keys and built in
  issue     signs a licence, for so many days or until the end of a day (2027-12-31, or 2027-12-31T12:00:00Z), and prints it or
            writes it to --out
  inspect   says what a licence holds, which key verifies it and what a gateway would make of it now; reads standard input where no
            file is named. --key is tried beside the keys of this build
";

fn main() -> ExitCode {
    match run() {
        Ok(text) => print(&text),
        Err(error) => {
            eprintln!("svc-licence: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<String> {
    let mut given = std::env::args().skip(1);
    let command = given.next();
    let now = Clock::default().unix_ms() / 1000;
    match command.as_deref() {
        Some("keys") => keys(&Arguments::read(given, &["--out"], 0)?),
        Some("issue") => {
            issue::run(&Arguments::read(given, &["--key", "--customer", "--edition", "--days", "--expires-at", "--out"], 0)?, now)
        }
        Some("inspect") => inspect::run(&Arguments::read(given, &["--key"], 1)?, now),
        Some("--version") => Ok(concat!("svc-licence ", env!("CARGO_PKG_VERSION"), "\n").to_owned()),
        Some("--help" | "-h") => Ok(USAGE.to_owned()),
        Some(other) => bail!("unknown command {other}\n{USAGE}"),
        None => bail!("a command is missing\n{USAGE}"),
    }
}

fn keys(arguments: &Arguments) -> Result<String> {
    let folder = Path::new(arguments.require("--out")?);
    let (private, public) = (folder.join("private.pem"), folder.join("public.pem"));
    for path in [&private, &public] {
        if path.exists() {
            bail!("{} exists; keys are never overwritten", path.display());
        }
    }
    std::fs::create_dir_all(folder).with_context(|| format!("failed to create {}", folder.display()))?;
    let key = SigningKey::generate().context("failed to make a key pair")?;
    files::create(&private, &key.to_pem(), files::PRIVATE)?;
    files::create(&public, &key.public().to_pem(), files::PUBLIC)?;
    Ok(format!("{} signs licences: keep it safe\n{} verifies them\n", private.display(), public.display()))
}

#[expect(clippy::print_stdout, reason = "this is what was asked for")]
fn print(text: &str) -> ExitCode {
    print!("{text}");
    ExitCode::SUCCESS
}
