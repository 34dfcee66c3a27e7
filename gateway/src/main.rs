//! The gateway program: `svc-gateway --conf FILE [--check]`.

use std::path::PathBuf;
use std::process::ExitCode;

use svc_filters::registry::Registry;
use svc_gateway::{boot, conf};

// Large bodies cost the system's allocator a trip to the kernel each.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const USAGE: &str = "\
Usage: svc-gateway --conf FILE [--check]
       svc-gateway --schema | --version | --help

  --conf FILE   the configuration (default conf/svc.yaml)
  --check       check the configuration and exit
  --schema      print the JSON Schema of the configuration and exit
";

fn main() -> ExitCode {
    use_small_pages();
    env_logger::Builder::from_env(
        env_logger::Env::default().default_filter_or("info,sea_orm_migration=warn,pingora_core=warn,pingora_proxy=warn,sqlx=warn"),
    )
    .init();
    // At its finest level Pingora logs whole request heads, keys included.
    log::set_max_level(log::max_level().min(log::LevelFilter::Debug));
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("svc-gateway: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Keeps the process on small pages: with huge ones, thousands of idle streams would each hold memory they never touch.
#[expect(unsafe_code, reason = "std has no call for it")]
fn use_small_pages() {
    // SAFETY: the call changes a flag of the process and touches no memory.
    unsafe {
        libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0);
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
    boot::run(&path, &registry)
}

#[expect(clippy::print_stdout, reason = "this is what was asked for")]
fn print(text: &str) -> anyhow::Result<()> {
    println!("{text}");
    Ok(())
}
