//! `svc-traffic PROGRAM ROUNDS`: sends a gateway traffic of every kind; see `svc_tests::traffic`.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [program, rounds] = arguments.as_slice()
        && let Ok(rounds @ 1..) = rounds.parse()
    {
        svc_tests::traffic::send(Path::new(program), rounds);
        return ExitCode::SUCCESS;
    }
    eprintln!("usage: svc-traffic PROGRAM ROUNDS");
    ExitCode::from(2)
}
