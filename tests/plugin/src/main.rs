//! `svc-gateway` with the example filter: `svc-gateway-with-tenant --conf FILE`.

use std::path::PathBuf;

use svc_gateway::conf::Conf;
use svc_gateway::{boot, logs};

fn main() -> anyhow::Result<()> {
    let conf = match (std::env::args().nth(1).as_deref(), std::env::args_os().nth(2)) {
        (Some("--conf"), Some(path)) => PathBuf::from(path),
        _ => anyhow::bail!("usage: svc-gateway-with-tenant --conf FILE"),
    };
    let conf = Conf::load(&conf)?;
    logs::start(conf.telemetry.log_format);
    boot::run(conf, &svc_plugin_example::registry())
}
