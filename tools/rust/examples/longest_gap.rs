// SPDX-License-Identifier: Apache-2.0
//! Prints the longest gap of a trace, its causes, and the code that launched the operation behind it.
//!
//!     cargo run --example longest_gap train.sbt

use tracesmith::{answers::Stack, Trace};

/// The innermost frame that belongs to the program, as text.
fn place(stack: &Stack) -> Option<String> {
    let hidden = |frame: u32| stack.hidden.contains(&frame);
    if let Some(symbol) = stack.symbols.iter().find(|symbol| !symbol.frame.map_or(false, hidden)) {
        let file = symbol.file.as_deref().or(symbol.module.as_deref()).unwrap_or("?");
        let function = symbol.function.as_deref().unwrap_or("?");
        return Some(match symbol.line {
            Some(line) => format!("{function} ({file}:{line})"),
            None => format!("{function} ({file})"),
        });
    }
    stack.frames.iter().zip(0..).find(|(_, frame)| !hidden(*frame)).map(|(frame, _)| frame.clone())
}

fn print(path: &str) -> tracesmith::Result<()> {
    let trace = Trace::open(path)?;
    let gaps = trace.gaps(1)?;
    let gap = match gaps.longest.first() {
        Some(gap) => gap,
        None => {
            println!("{path}: no gap");
            return Ok(());
        }
    };
    let (start_ns, end_ns) = (gap.start_ns.unwrap_or(0), gap.end_ns.unwrap_or(0));
    println!("longest gap: {} ns on stream {}", end_ns - start_ns, gap.stream.unwrap_or(0));
    println!("begins: {} ns after the trace's start", start_ns - trace.origin_ns());
    for part in &gap.parts {
        println!("cause: {} {} ns", part.cause.as_deref().unwrap_or("unknown"), part.ns.unwrap_or(0));
    }
    println!("ended by: {} {}", gap.type_.as_deref().unwrap_or("?"), gap.name.as_deref().unwrap_or("?"));
    if let Some(place) = gap.stack.as_ref().and_then(place) {
        println!("launched at: {place}");
    }
    Ok(())
}

fn main() {
    let path = std::env::args().nth(1).unwrap_or_else(|| {
        eprintln!("usage: longest_gap FILE");
        std::process::exit(2);
    });
    if let Err(error) = print(&path) {
        eprintln!("longest_gap: {error}");
        std::process::exit(2);
    }
}
