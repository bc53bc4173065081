// SPDX-License-Identifier: Apache-2.0
//! Lists the processes that are being recorded; with a PID, prints the ranges that this process has ended so far.
//!
//!     cargo run --example live [PID]

use tracesmith::{rows::Range, Client, Filter, Trace};

fn list() -> tracesmith::Result<()> {
    for mut client in Client::connect_to_all() {
        let mode = client.status()?.mode.unwrap_or_default();
        for session in client.sessions()?.sessions {
            let (pid, program) = (session.pid.unwrap_or(0), session.program.unwrap_or_default());
            println!("{mode}\t{pid}\t{program}\t{}", session.state.unwrap_or_default());
        }
    }
    Ok(())
}

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
    let result = match std::env::args().nth(1).map(|text| text.parse()) {
        None => list(),
        Some(Ok(pid)) => print(pid),
        Some(Err(_)) => {
            eprintln!("usage: live [PID]");
            std::process::exit(2);
        }
    };
    if let Err(error) = result {
        eprintln!("live: {error}");
        std::process::exit(2);
    }
}
