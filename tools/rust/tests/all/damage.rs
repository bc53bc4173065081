// SPDX-License-Identifier: Apache-2.0
//! Damaged and hostile files give errors or fewer rows, and nothing worse.

use std::fs;
use std::process::Command;

use tracesmith::rows::{Kernel, Session};
use tracesmith::{ErrorKind, FileState, Filter, Trace, Value, Writer};

use crate::{golden, Path};

/// Reads all that a trace has; returns the number of events and of errors.
fn read_all(trace: &Trace) -> (usize, usize) {
    let _ =
        (trace.metadata(), trace.sessions(), trace.threads(), trace.modules(), trace.names(), trace.summary(0).is_ok());
    let mut counts = (0, 0);
    if let Ok(events) = trace.events(&[], &Filter::new()) {
        for event in events {
            match event {
                Ok(event) => {
                    let _ = event.name_id().map(|name| trace.string(name).map(drop));
                    counts.0 += 1;
                }
                Err(error) => {
                    assert!(!error.to_string().is_empty());
                    counts.1 += 1;
                }
            }
        }
    }
    let _ = trace.columns::<Kernel>(&Filter::new()).map(|columns| columns.get(Kernel::NAME).map(<[_]>::len));
    let _ = trace.totals::<Kernel>(&Filter::new()).map(|totals| totals.len());
    counts
}

#[test]
fn truncated_files_are_read_as_far_as_they_go() {
    let whole = match golden("failing.sbt") {
        Some(path) => fs::read(path).unwrap(),
        None => return,
    };
    let path = Path::new("truncated.sbt");
    let mut before = 0;
    for n in (0..whole.len()).step_by(97) {
        fs::write(&path.0, &whole[..n]).unwrap();
        match Trace::open(&path.0) {
            Ok(trace) => {
                assert_eq!(trace.state(), FileState::Truncated);
                let (events, errors) = read_all(&trace);
                assert!(events >= before && errors == 0, "{n} bytes: {events} events, {errors} errors");
                before = events;
                if n % 5 == 0 {
                    let info = trace.info().unwrap();
                    assert_eq!(info.finished, Some(false));
                }
            }
            Err(error) => assert!(n < 64 && error.kind() == ErrorKind::NotATrace, "{n} bytes: {error}"),
        }
    }
    assert!(before > 0);
}

#[test]
fn changed_bytes_are_errors() {
    let whole = match golden("failing.sbt") {
        Some(path) => fs::read(path).unwrap(),
        None => return,
    };
    let path = Path::new("changed.sbt");
    let (mut n_refused, mut n_errors) = (0, 0);
    for at in (0..whole.len()).step_by(61) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        fs::write(&path.0, bytes).unwrap();
        match Trace::open(&path.0) {
            Ok(trace) => {
                n_errors += read_all(&trace).1;
                if let Err(error) = trace.analyze() {
                    assert!(!error.to_string().is_empty() && error.code() != 0);
                }
            }
            Err(_) => n_refused += 1,
        }
    }
    assert!(n_refused > 0 && n_errors > 0, "{n_refused} refused, {n_errors} errors");
}

#[test]
fn other_files_are_refused() {
    let path = Path::new("other.sbt");
    fs::write(&path.0, "no trace\n".repeat(100)).unwrap();
    let error = Trace::open(&path.0).unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::NotATrace, 1), "{error}");
    assert!(error.to_string().contains("is no trace"), "{error}");
    let missing = Trace::open("/nonexistent/trace.sbt").unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::System(std::io::ErrorKind::NotFound));
    assert_eq!(missing.to_string(), "/nonexistent/trace.sbt: No such file or directory (os error 2)");
    let folder = Trace::open(std::env::temp_dir()).unwrap_err();
    assert_eq!(folder.code(), -21, "{folder}");
    assert!(Trace::open("a\0b").is_err());
    // A pipe does not make open() wait.
    let pipe = Path::new("pipe");
    assert!(Command::new("mkfifo").arg(&pipe.0).status().unwrap().success());
    assert_eq!(Trace::open(&pipe.0).unwrap_err().code(), -29);
    assert!(Trace::open_live(u32::MAX).unwrap_err().to_string().contains("is not being recorded"));
}

#[test]
fn an_empty_trace_has_nothing() {
    let path = Path::new("empty.sbt");
    let writer = Writer::create(&path.0).unwrap();
    writer.session(Session { pid: 1, start_ns: 5, ..Default::default() }).unwrap().end(6).unwrap();
    writer.finish().unwrap();
    let trace = Trace::open(&path.0).unwrap();
    assert_eq!(read_all(&trace), (0, 0));
    assert_eq!(trace.columns::<Kernel>(&Filter::new()).unwrap().get(Kernel::OP_ID).unwrap(), []);
    assert!(trace.gaps(3).unwrap().longest.is_empty());
}

#[test]
fn hostile_json_is_refused() {
    for text in [
        "",
        "{",
        "[1, 2",
        "{\"a\" 1}",
        "{\"a\": }",
        "\"\\x\"",
        "\"\\u12\"",
        "tru",
        "-",
        "1e999",
        "[1] 2",
        "{a: 1}",
        "\"a\nb\"",
        "[,]",
    ] {
        assert_eq!(Value::parse(text).unwrap_err().kind(), ErrorKind::Json, "{text}");
    }
    assert!(Value::parse(&"[".repeat(100_000)).is_err());
    let value =
        Value::parse("{\"text\": \"a\\u00e9\\ud83d\\ude00\\ud800\\n\", \"list\": [-1, 1.5, true, null]}").unwrap();
    assert_eq!(value["text"].as_str(), Some("a\u{e9}\u{1f600}\u{fffd}\n"));
    assert_eq!(Value::parse(&value.to_string()).unwrap(), value);
    let list = value["list"].items();
    assert_eq!(
        (list[0].as_i64(), list[0].as_u64(), list[1].as_f64(), list[2].as_bool()),
        (Some(-1), None, Some(1.5), Some(true))
    );
}
