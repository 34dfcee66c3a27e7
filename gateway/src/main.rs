//! The gateway program: `svc-gateway --conf FILE [--check]`.

mod allocator;

use std::path::PathBuf;
use std::process::ExitCode;

use svc_filters::registry::Registry;
use svc_gateway::{boot, conf, logs};

#[global_allocator]
static ALLOCATOR: allocator::Mimalloc = allocator::Mimalloc;

const USAGE: &str = "\
Usage: svc-gateway --conf FILE [--check]
       svc-gateway --schema | --version | --help

  --conf FILE   the configuration (default conf/svc.yaml)
  --check       check the configuration and exit
  --schema      print the JSON Schema of the configuration and exit
";

fn main() -> ExitCode {
    allocator::use_little_memory();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            logs::failed(&error);
            ExitCode::FAILURE
        }
    }
}

fn run() -> anyhow::Result<()> {
    let mut path = PathBuf::from("conf/svc.yaml");
    let mut check = false;
    let mut arguments = std::env::args_os().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.to_str() {
            Some("--conf") => path = arguments.next().map(PathBuf::from).ok_or_else(|| anyhow::anyhow!("--conf needs a file"))?,
            Some("--check") => check = true,
            Some("--schema") => return print(&conf::schema::json()),
            Some("--version") => return print(concat!("svc-gateway ", env!("CARGO_PKG_VERSION"))),
            Some("--help" | "-h") => return print(USAGE.trim_end()),
            _ => anyhow::bail!("unknown argument {}\n{USAGE}", argument.display()),
        }
    }
    let registry = Registry::builtin();
    if check {
        boot::check(&conf::Conf::load(&path)?, &registry)?;
        return print(&format!("{} is sound", path.display()));
    }
    let conf = conf::Conf::load(&path)?;
    logs::start(conf.telemetry.log_format);
    boot::run(conf, &registry)
}

#[expect(clippy::print_stdout, reason = "this is what was asked for")]
fn print(text: &str) -> anyhow::Result<()> {
    println!("{text}");
    Ok(())
}
