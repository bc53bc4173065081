// SPDX-License-Identifier: Apache-2.0
//! Answers about the golden traces are tsctl's.

use std::path::Path;
use std::process::Command;

use tracesmith::questions::{self, Moment};
use tracesmith::rows::{Api, Kernel, Memcpy, RowType};
use tracesmith::{ErrorKind, Export, Filter, Format, Limits, Trace, Value, Weight};

use crate::golden;

/// What tsctl prints; None without tsctl.
fn tsctl(arguments: &[&str], path: &Path) -> Option<String> {
    let tsctl = match std::env::var_os("TRACESMITH_TSCTL") {
        Some(tsctl) => tsctl,
        None => {
            eprintln!("skipped: TRACESMITH_TSCTL is not set");
            return None;
        }
    };
    let output = Command::new(tsctl).args(arguments).arg(path).output().expect("tsctl");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

/// The texts are tsctl's, byte for byte, and the typed answers have what is in them.
#[test]
fn answers_are_those_of_tsctl() {
    let path = match golden("pipeline.sbt") {
        Some(path) => path,
        None => return,
    };
    let trace = Trace::open(&path).unwrap();
    let origin = trace.origin_ns();
    let at = format!("{{\"at\": {{\"ns\": {}}}}}", origin + 3_227_000);
    for (question, options, arguments) in [
        ("info", "{}", &["info", "--json"][..]),
        ("analyze", "", &["analyze", "--json"]),
        ("gaps", "{\"limit\": 3}", &["gaps", "--json", "--limit", "3"]),
        ("state", &at, &["state", "--json", "--at", "3.227ms"]),
        ("memory", "", &["memory", "--json"]),
        ("stats", "", &["view", "--stats", "--json"]),
        ("graph", "{\"path\": true}", &["graph", "--critical-path", "--json"]),
    ] {
        let text = trace.ask_json(question, options).unwrap();
        if let Some(wanted) = tsctl(arguments, &path) {
            assert_eq!(text, wanted, "{arguments:?}");
        }
    }

    let info = trace.info().unwrap();
    assert_eq!(info.format.as_deref(), Some("SBT 1.0"));
    assert_eq!((info.start_ns, info.bytes, info.finished), (Some(origin), Some(trace.file_bytes()), Some(true)));
    assert_eq!(info.sessions.len(), trace.sessions().len());
    let summary = trace.summary(0).unwrap();
    for row_type in RowType::EVENTS {
        assert_eq!(
            info.counts.get(row_type.name()).copied().unwrap_or(0),
            summary.count(*row_type),
            "{}",
            row_type.name()
        );
    }
    assert_eq!(
        info.lost.into_iter().collect::<Vec<_>>(),
        summary.lost().into_iter().map(|(name, n)| (name.to_string(), n)).collect::<Vec<_>>()
    );

    let gaps = trace.gaps(3).unwrap();
    let value = Value::parse(&trace.ask_json("gaps", "{\"limit\": 3}").unwrap()).unwrap();
    assert_eq!((gaps.longest.len(), gaps.gaps), (3, value["gaps"].as_u64()));
    for (gap, own) in gaps.longest.iter().zip(value["longest"].items()) {
        assert_eq!((gap.start_ns, gap.end_ns), (own["start_ns"].as_u64(), own["end_ns"].as_u64()));
        assert_eq!(gap.type_.as_deref(), own["type"].as_str());
        assert_eq!(gap.stack.as_ref().unwrap().frames.len(), own["stack"]["frames"].items().len());
        assert_eq!(
            gap.parts.iter().map(|part| part.ns.unwrap()).sum::<u64>(),
            gap.end_ns.unwrap() - gap.start_ns.unwrap()
        );
    }

    let state = trace.state_at(Moment::after_start(3_227_000)).unwrap();
    assert_eq!(state, trace.state_at(Moment::monotonic(origin + 3_227_000)).unwrap());
    assert!(!state.streams.is_empty());
    let path = trace.critical_path().unwrap();
    assert!(path.nodes.is_empty() && path.steps.windows(2).all(|pair| pair[0].end_ns == pair[1].start_ns));
    let graph = trace.graph().unwrap();
    let sum = graph.summary.unwrap();
    assert_eq!((sum.nodes, sum.edges), (Some(graph.nodes.len() as u64), Some(graph.edges.len() as u64)));
    assert!(!trace.analyze().unwrap().kernels.is_empty() && !trace.timeline().unwrap().devices.is_empty());
    assert!(trace.memory().unwrap().peak_bytes.unwrap() > 0);
    let kernels = trace.stats().unwrap().kernels;
    assert_eq!(kernels.iter().map(|kernel| kernel.count.unwrap()).sum::<u64>(), summary.count(RowType::Kernel));
}

/// The rows are those that `tsctl view` prints.
#[test]
fn rows_are_those_of_tsctl() {
    let path = match golden("train.sbt") {
        Some(path) => path,
        None => return,
    };
    let trace = Trace::open(&path).unwrap();
    let shown =
        trace.ask(&questions::Rows { types: vec!["kernel".into(), "memcpy".into()], ..Default::default() }).unwrap();
    if let Some(text) = tsctl(&["view", "--json", "--type", "kernel,memcpy"], &path) {
        assert_eq!(shown, Value::parse_lines(&text).unwrap());
    }
    let of_type =
        |name: &str| shown.iter().filter(|row| row["type"].as_str() == Some(name)).cloned().collect::<Vec<_>>();
    let kernels: Vec<_> = trace.rows::<Kernel>(&Filter::new()).unwrap().map(Result::unwrap).collect();
    assert!(!kernels.is_empty());
    assert_eq!(kernels.len(), of_type("kernel").len());
    for (row, shown) in kernels.iter().zip(of_type("kernel")) {
        let own = [
            row.start_ns,
            row.end_ns,
            row.op_id,
            row.session.into(),
            row.stream.into(),
            row.grid_x.into(),
            row.registers_per_thread.into(),
        ];
        let keys = ["start_ns", "end_ns", "op_id", "session", "stream", "grid_x", "registers_per_thread"];
        assert_eq!(own.map(Some), keys.map(|key| shown[key].as_u64()));
    }
    let copies = trace.columns::<Memcpy>(&Filter::new()).unwrap();
    let bytes: Vec<_> = of_type("memcpy").iter().map(|row| row["bytes"].as_u64().unwrap()).collect();
    assert_eq!(copies.get(Memcpy::BYTES).unwrap(), bytes);
}

#[test]
fn comparisons_and_replays() {
    let (before, after) = match (golden("pipeline.sbt"), golden("pipeline-longer.sbt")) {
        (Some(before), Some(after)) => (before, after),
        _ => return,
    };
    let (first, second) = (Trace::open(&before).unwrap(), Trace::open(&after).unwrap());
    let report = first.diff(&second).unwrap();
    if let Some(text) = tsctl(&["diff", "--json", before.to_str().unwrap()], &after) {
        let value = Value::parse(&text).unwrap();
        assert_eq!(report.names.len(), value["names"].items().len());
        assert_eq!(report.aligned, value["aligned"].as_u64());
    }
    assert!(first.diff(&first).unwrap_err().to_string().contains("open it twice"));
    let replayed = first.ask(&questions::Replay { executor: Some("emulate".into()), ..Default::default() }).unwrap();
    assert!(replayed.iter().any(|answer| answer.emulated.is_some()), "{replayed:?}");
}

#[test]
fn errors_have_the_librarys_line() {
    let path = match golden("pipeline.sbt") {
        Some(path) => path,
        None => return,
    };
    let trace = Trace::open(&path).unwrap();
    for (result, kind, line) in [
        (trace.ask_json("kernals", ""), ErrorKind::Question, "there is no question of this name"),
        (trace.ask_json("gaps", "{\"limit\": -1}"), ErrorKind::Question, "limit: the number is out of range"),
        (trace.ask_json("gaps", "{"), ErrorKind::Question, "bad options"),
        (trace.ask_json("ga\0ps", ""), ErrorKind::System(std::io::ErrorKind::InvalidInput), "zero byte"),
        (trace.ask_json("rows", "{\"types\": [\"kernals\"]}"), ErrorKind::Question, "no type of row has this name"),
    ] {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.to_string().contains(line), "{error}");
    }
    let outside = trace.state_at(Moment::after_start(1 << 60)).unwrap_err();
    assert_eq!((outside.kind(), outside.code()), (ErrorKind::Question, 104), "{outside}");
    let long =
        trace.ask_within(&questions::Info::default(), Limits { max_bytes: 100, ..Default::default() }).unwrap_err();
    assert_eq!(long.kind(), ErrorKind::TooLong, "{long}");
    let nowhere = trace.ask_within(&questions::Info::default(), Limits { session: 9, ..Default::default() });
    assert!(nowhere.map_or(true, |info| info.sessions.is_empty()));
    let as_io: std::io::Error = outside.into();
    assert_eq!(as_io.kind(), std::io::ErrorKind::InvalidInput);
}

/// Frames have the names that `tsctl view --stacks` prints.
#[test]
fn stacks_have_their_names() {
    for name in ["train.sbt", "pipeline.sbt"] {
        let path = match golden(name) {
            Some(path) => path,
            None => return,
        };
        let trace = Trace::open(&path).unwrap();
        let symbols = trace.symbols().unwrap();
        let question = questions::Rows { types: vec!["api".into()], stacks: Some(true), ..Default::default() };
        let shown = trace.ask(&question).unwrap();
        let mut n_frames = 0;
        assert!(symbols.any());
        for (row, shown) in trace.rows::<Api>(&Filter::new()).unwrap().zip(shown) {
            let row = row.unwrap();
            let mut wanted = Vec::new();
            for (i, frame) in shown["stack"]["frames"].items().iter().enumerate() {
                let of_frame: Vec<_> = shown["stack"]["symbols"]
                    .items()
                    .iter()
                    .filter(|own| own["frame"].as_u64() == Some(i as u64))
                    .collect();
                for own in &of_frame {
                    let text = |key: &str| own[key].as_str().unwrap_or("-").to_string();
                    wanted.push(format!("{} {} {}", text("function"), text("file"), own["line"].as_u64().unwrap_or(0)));
                }
                if of_frame.is_empty() {
                    wanted.push(frame.as_str().unwrap().to_string());
                }
            }
            let frames = symbols.frames(row.session, row.stack, row.start_ns).unwrap();
            let own: Vec<_> = frames
                .iter()
                .map(|frame| match (&frame.function, &frame.file) {
                    (Some(function), Some(file)) if frame.address == 0 => {
                        format!("{function} ({file}:{})", frame.line.unwrap())
                    }
                    (None, None) => format!("{:#x}", frame.address),
                    (function, file) => {
                        let text = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_string());
                        format!("{} {} {}", text(function), text(file), frame.line.unwrap_or(0))
                    }
                })
                .collect();
            assert_eq!(own, wanted);
            n_frames += own.len();
        }
        assert!(n_frames > 100, "{name}: {n_frames}");
    }
}

#[test]
fn exports_are_those_of_tsctl() {
    let path = match golden("pipeline.sbt") {
        Some(path) => path,
        None => return,
    };
    let trace = Trace::open(&path).unwrap();
    let folded = crate::Path::new("folded");
    let export = Export::new(Format::Folded);
    let report = trace.export(&export, std::fs::File::create(&folded.0).unwrap()).unwrap();
    let text = std::fs::read_to_string(&folded.0).unwrap();
    let sum: u64 = text.lines().map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!((sum, report.without_call), (report.total(Weight::GpuTime), 0));
    assert_eq!(report.total(Weight::Launches), trace.summary(0).unwrap().count(RowType::Kernel));
    if let Some(wanted) = tsctl(&["export", "--format", "folded"], &path) {
        assert_eq!(text, wanted);
    }
    for (own, command) in [(trace.draw_timeline(0), "timeline"), (trace.draw_memory(0), "memory")] {
        if let Some(wanted) = tsctl(&[command, "--format", "svg"], &path) {
            assert_eq!(own.unwrap(), wanted);
        }
    }
    let page = crate::Path::new("page");
    trace.export(&Export::new(Format::Html), std::fs::File::create(&page.0).unwrap()).unwrap();
    let text = std::fs::read_to_string(&page.0).unwrap();
    assert!(text.starts_with("<!DOCTYPE html>") && text.ends_with("</html>\n"));
    let full = trace.export(&export, std::fs::File::create("/dev/full").unwrap()).unwrap_err();
    assert_eq!(full.code(), -28, "{full}");

    let progress = std::sync::atomic::AtomicU64::new(0);
    let limits = Limits { progress: Some(&progress), ..Default::default() };
    trace.ask_within(&questions::Analyze::default(), limits).unwrap();
    assert!(progress.into_inner() > 0);
}
