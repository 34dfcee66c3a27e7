//! `svc-demo`: serves until it is told to stop.

use std::process::ExitCode;

use svc_demo::{Command, Demo, HELP};

#[tokio::main]
async fn main() -> ExitCode {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("info")).init();
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log::error!("failed to run: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> anyhow::Result<()> {
    let options = match Command::parse(std::env::args().skip(1))? {
        Command::Help => {
            print!("{HELP}");
            return Ok(());
        }
        Command::Serve(options) => *options,
    };
    let demo = Demo::start(options).await?;
    log::info!("svc-demo listens on {}", demo.base_url());
    tokio::signal::ctrl_c().await?;
    Ok(())
}
