//! The gateway program: `svc-gateway --conf FILE [--check]`.

use std::ffi::{c_int, c_long};
use std::path::PathBuf;
use std::process::ExitCode;

use svc_filters::registry::Registry;
use svc_gateway::{boot, conf, logs};

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
    use_little_memory();
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            logs::failed(&error);
            ExitCode::FAILURE
        }
    }
}

/// Milliseconds after which the allocator gives freed pages back: streams that begin together free what they began with.
const GIVE_BACK_AFTER: c_long = 100;
/// The allocator's name for that time.
const PURGE_DELAY: c_int = 15;

/// Keeps the process on small pages: with huge ones, thousands of idle streams would each hold memory they never touch.
#[expect(unsafe_code, reason = "std has no call for it")]
fn use_little_memory() {
    // SAFETY: the calls change a flag of the process and an option of the allocator and touch no other memory.
    unsafe {
        libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0);
        libmimalloc_sys::mi_option_set(PURGE_DELAY, GIVE_BACK_AFTER);
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
