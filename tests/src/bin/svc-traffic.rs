//! `svc-traffic PROGRAM ROUNDS`: sends a gateway traffic of every kind; see `svc_tests::traffic`.

use std::path::Path;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.as_slice() {
        [program, rounds] if rounds.parse::<usize>().is_ok_and(|rounds| rounds > 0) => {
            svc_tests::traffic::send(Path::new(program), rounds.parse().unwrap_or(1));
        }
        _ => {
            eprintln!("usage: svc-traffic PROGRAM ROUNDS");
            std::process::exit(2);
        }
    }
}
