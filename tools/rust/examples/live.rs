// SPDX-License-Identifier: Apache-2.0
//! Prints the ranges that a process has ended so far, while it is being recorded.
//!
//!     cargo run --example live PID

use tracesmith::{rows::Range, Filter, Trace};

fn print(pid: u32) -> tracesmith::Result<()> {
    let trace = Trace::open_live(pid)?;
    for range in trace.rows::<Range>(&Filter::new())? {
        let range = range?;
        println!("{}\t{}", trace.string(range.domain)?, trace.string(range.name)?);
    }
    println!("{:?}", trace.state());
    Ok(())
}

fn main() {
    let pid = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or_else(|| {
        eprintln!("usage: live PID");
        std::process::exit(2);
    });
    if let Err(error) = print(pid) {
        eprintln!("live: {error}");
        std::process::exit(2);
    }
}
