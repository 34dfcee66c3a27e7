//! `bench-load`: sends one request over and over, checks every answer, and prints one JSON object.

use anyhow::Result;
use svc_bench::load;
use svc_bench::load::plan::{OPTIONS, Plan};
use svc_bench::options::Options;

fn main() -> Result<()> {
    let options = Options::parse(std::env::args().skip(1), OPTIONS)?;
    let report = load::run(Plan::from_options(&options)?)?;
    println!("{}", serde_json::to_string(&report)?);
    Ok(())
}
