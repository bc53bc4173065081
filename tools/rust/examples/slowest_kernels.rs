// SPDX-License-Identifier: Apache-2.0
//! Prints the kernels that took the most time: total, count and name. The totals come from the file's summaries;
//! the longest launch of each kernel comes from columns.
//!
//!     cargo run --example slowest_kernels train.sbt [LIMIT]

use std::collections::HashMap;

use tracesmith::{rows::Kernel, Filter, StringId, Trace};

/// The longest launch of each name: its duration and its operation.
fn longest(trace: &Trace) -> tracesmith::Result<HashMap<StringId, (u64, u64)>> {
    let columns = [&Kernel::START_NS as _, &Kernel::END_NS as _, &Kernel::OP_ID as _, &Kernel::NAME as _];
    let kernels = trace.select::<Kernel>(&Filter::new(), &columns)?;
    let (starts, ends) = (kernels.get(Kernel::START_NS)?, kernels.get(Kernel::END_NS)?);
    let (op_ids, names) = (kernels.get(Kernel::OP_ID)?, kernels.get(Kernel::NAME)?);
    let mut longest = HashMap::new();

    for i in 0..kernels.len() {
        let launch = (ends[i].saturating_sub(starts[i]), op_ids[i]);
        let known = longest.entry(names[i]).or_insert(launch);
        *known = launch.max(*known);
    }
    Ok(longest)
}

fn print(path: &str, limit: usize) -> tracesmith::Result<()> {
    let trace = Trace::open(path)?;
    let mut totals = trace.totals::<Kernel>(&Filter::new())?;
    let longest = longest(&trace)?;

    totals.sort_by_key(|total| std::cmp::Reverse(total.duration_ns));
    println!("total_ns\tcount\tlongest_ns\top_id\tkernel");
    for total in totals.iter().take(limit) {
        let name = total.row.name;
        let (longest_ns, op_id) = longest.get(&name).copied().unwrap_or_default();
        println!("{}\t{}\t{longest_ns}\t{op_id}\t{}", total.duration_ns, total.count, trace.string(name)?);
    }
    Ok(())
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let limit = arguments.get(1).map_or(Some(10), |text| text.parse().ok());
    match (arguments.first(), limit) {
        (Some(path), Some(limit)) => {
            if let Err(error) = print(path, limit) {
                eprintln!("slowest_kernels: {error}");
                std::process::exit(2);
            }
        }
        _ => {
            eprintln!("usage: slowest_kernels FILE [LIMIT]");
            std::process::exit(2);
        }
    }
}
