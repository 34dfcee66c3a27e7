//! `svc-gateway` with the example filter: `svc-gateway-with-tenant --conf FILE`.

use std::path::PathBuf;

fn main() -> anyhow::Result<()> {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("info")).init();
    let conf = match (std::env::args().nth(1).as_deref(), std::env::args_os().nth(2)) {
        (Some("--conf"), Some(path)) => PathBuf::from(path),
        _ => anyhow::bail!("usage: svc-gateway-with-tenant --conf FILE"),
    };
    svc_gateway::boot::run(&conf, &svc_plugin_example::registry())
}
