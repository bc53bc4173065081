// SPDX-License-Identifier: Apache-2.0
//! Annotates its own work. Under `tsctl record`, the trace has the ranges, marks and counters; alone, the program
//! does the same without them. With the argument `wait`, it ends when its input ends.
//!
//!     tsctl record -o own.sbt -- target/debug/examples/annotated

use std::io::{Read, Write};

use tracesmith::annotate::{self, Domain};

fn step(number: u64) -> u64 {
    let _range = annotate::range("step");
    let sum = (0..number * 1000).fold(0u64, |sum, value| sum.wrapping_mul(31).wrapping_add(value));
    annotate::counter_i64("sum", sum as i64);
    sum
}

fn main() {
    let library = Domain::new("library");
    let whole = annotate::span("whole");
    {
        let _epoch = annotate::range("epoch");
        for number in 1..=3 {
            step(number);
        }
        let _of_library = library.range("epoch");
        library.mark("checkpoint");
    }
    annotate::counter("loss", 0.25);
    annotate::mark("done\0 not this");
    println!("{}", if annotate::is_recorded() { "recorded" } else { "not recorded" });
    std::io::stdout().flush().expect("an open output");
    if std::env::args().nth(1).as_deref() == Some("wait") {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
    }
    // A span may end in another thread.
    std::thread::spawn(move || drop(whole)).join().expect("a thread that ends");
}
