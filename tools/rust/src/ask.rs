// SPDX-License-Identifier: Apache-2.0
//! Questions about a trace, and the macros of `answers.rs` and `questions.rs`.

use std::sync::atomic::AtomicU64;

use crate::answers::*;
use crate::error::{Error, Result};
use crate::ffi;
use crate::json::{FromValue, Value};
use crate::questions::{self, Diff, Moment};
use crate::trace::Trace;

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// A question of [`questions`]. [`Trace::ask`] asks it.
pub trait Question: sealed::Sealed {
    /// The name, a member of message Query.
    const NAME: &'static str;
    /// The type of the answer.
    type Answer;

    /// Returns the options as JSON.
    #[doc(hidden)]
    fn to_json(&self) -> String;
    /// Reads the answer's text.
    #[doc(hidden)]
    fn read(text: &str) -> Result<Self::Answer>;
}

/// Reads an answer of one object.
pub(crate) fn read_one<T: FromValue>(text: &str) -> Result<T> {
    let value = Value::parse(text)?;
    T::from_value(&value).ok_or_else(|| Error::json("JSON: the answer has a value of another type".to_string()))
}

/// Reads an answer with an object on each line.
pub(crate) fn read_lines<T: FromValue>(text: &str) -> Result<Vec<T>> {
    text.lines().map(read_one).collect()
}

/// Reads the lines of a graph, whose `type` states what they are.
pub(crate) fn read_graph(text: &str) -> Result<GraphList> {
    let mut graph = GraphList::default();
    for line in text.lines() {
        match Value::parse(line)?["type"].as_str() {
            Some("node") => graph.nodes.push(read_one(line)?),
            Some("edge") => graph.edges.push(read_one(line)?),
            Some("step") => graph.steps.push(read_one(line)?),
            Some("summary") => graph.summary = Some(read_one(line)?),
            _ => {}
        }
    }
    Ok(graph)
}

/// A message of an answer: a struct that is read from an object. A key that is missing, or that this crate does not know, is no
/// error. A name that Rust reserves has a `_` behind it.
macro_rules! answer {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl crate::json::FromValue for $name {
            fn from_value(value: &crate::json::Value) -> Option<Self> {
                if !matches!(value, crate::json::Value::Object(_)) {
                    return None;
                }
                Some($name {
                    $($field: crate::json::FromValue::from_value(&value[stringify!($field).trim_end_matches('_')])?,)*
                })
            }
        }
    };
}

/// A message of a question: a struct that becomes an object.
macro_rules! part {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $type:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl crate::json::ToValue for $name {
            fn to_value(&self) -> crate::json::Value {
                let mut members = Vec::new();
                $(crate::json::PutMember::put(&self.$field, stringify!($field).trim_end_matches('_'), &mut members);)*
                crate::json::Value::Object(members)
            }
        }
    };
}

/// A question: a part with a name and an answer.
macro_rules! question {
    ($(#[$doc:meta])* $name:ident $question:literal $kind:ident $answer:ty { $($fields:tt)* }) => {
        part! { $(#[$doc])* $name { $($fields)* } }

        impl crate::ask::sealed::Sealed for $name {}

        impl crate::ask::Question for $name {
            const NAME: &'static str = $question;
            type Answer = $answer;

            fn to_json(&self) -> String {
                crate::json::ToValue::to_value(self).to_string()
            }

            fn read(text: &str) -> crate::error::Result<$answer> {
                question!(@$kind text)
            }
        }
    };
    (@one $text:ident) => { crate::ask::read_one($text) };
    (@lines $text:ident) => { crate::ask::read_lines($text) };
    (@graph $text:ident) => { crate::ask::read_graph($text) };
}

/// The options of a comparison, which is about several traces.
macro_rules! diff_question {
    ($($tokens:tt)*) => {
        part! { $($tokens)* }
    };
}

pub(crate) use {answer, diff_question, part, question};

impl Moment {
    /// The instant of so many nanoseconds after the trace's start.
    pub fn after_start(ns: u64) -> Moment {
        Moment { ns: Some(ns), from_start: Some(true) }
    }

    /// A time of CLOCK_MONOTONIC, as in the rows and the answers.
    pub fn monotonic(ns: u64) -> Moment {
        Moment { ns: Some(ns), from_start: None }
    }
}

/// Limits of a question beside its own options, and its progress. 0 is the default of each limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limits<'a> {
    /// Sessions: the number of one, or 0 for all of the file.
    pub session: u32,
    /// Length of the answer's text in bytes; 0: 1 GiB.
    pub max_bytes: usize,
    /// Replays: threads for the kernels of a virtual GPU.
    pub n_threads: u32,
    /// Replays: memory of a virtual GPU in bytes; 0: that of its model.
    pub device_bytes: u64,
    /// Counts the rows that were read so far, for a progress line of another thread. None: not counted.
    pub progress: Option<&'a AtomicU64>,
}

impl Trace {
    /// Asks a question of [`questions`].
    ///
    /// ```no_run
    /// use tracesmith::{questions::Gaps, Trace};
    ///
    /// let trace = Trace::open("train.sbt")?;
    /// let gaps = trace.ask(&Gaps { limit: Some(3), ..Default::default() })?;
    /// for gap in &gaps.longest {
    ///     println!("{:?} {:?}", gap.stream, gap.parts.first().and_then(|part| part.cause.as_deref()));
    /// }
    /// # Ok::<(), tracesmith::Error>(())
    /// ```
    ///
    /// If the answer lacks rows that could not be read, the result is an error of kind
    /// [`Corrupt`](crate::ErrorKind::Corrupt).
    pub fn ask<Q: Question>(&self, question: &Q) -> Result<Q::Answer> {
        self.ask_within(question, Limits::default())
    }

    /// Asks a question of [`questions`] with limits.
    pub fn ask_within<Q: Question>(&self, question: &Q, limits: Limits<'_>) -> Result<Q::Answer> {
        Q::read(&self.ask_text(Q::NAME, &question.to_json(), limits)?)
    }

    /// Asks a question by its name with options in JSON. The answer is the output of `tsctl COMMAND --json`:
    /// one object and a newline, or an object per line. [`Value::parse`] reads an object.
    pub fn ask_json(&self, question: &str, options: &str) -> Result<String> {
        self.ask_text(question, options, Limits::default())
    }

    fn ask_text(&self, question: &str, options: &str, limits: Limits<'_>) -> Result<String> {
        let question = ffi::c_text(question, "the question's name")?;
        let options = ffi::c_text(options, "an option of the question")?;
        let given = ffi::Limits {
            max_bytes: limits.max_bytes,
            n_threads: limits.n_threads,
            device_bytes: limits.device_bytes,
            n_rows: limits.progress,
        };
        ffi::ask(&self.reader, limits.session, &question, &options, given)
    }

    /// Returns the trace's contents: sessions, devices, counts, losses, as `tsctl info --json`.
    pub fn info(&self) -> Result<TraceInfo> {
        self.ask(&questions::Info::default())
    }

    /// Returns where the time went, and what to change, as `tsctl analyze --json`.
    pub fn analyze(&self) -> Result<AnalysisReport> {
        self.ask(&questions::Analyze::default())
    }

    /// Returns the gaps between operations of a stream, and their causes: the longest `limit` ones with all details.
    pub fn gaps(&self, limit: u32) -> Result<GapsReport> {
        self.ask(&questions::Gaps { limit: Some(limit), ..Default::default() })
    }

    /// Returns what ran, waited and was allocated at an instant, as `tsctl state --json`.
    pub fn state_at(&self, at: Moment) -> Result<StateReport> {
        self.ask(&questions::State { at: Some(at), ..Default::default() })
    }

    /// Returns how busy devices and streams were, over time, as `tsctl timeline --json`.
    pub fn timeline(&self) -> Result<TimelineReport> {
        self.ask(&questions::Timeline::default())
    }

    /// Draws the timeline as SVG, as `tsctl timeline --format svg`, `width` pixels wide; 0: the default width.
    pub fn draw_timeline(&self, width: u32) -> Result<String> {
        self.draw(questions::Timeline::NAME, width)
    }

    /// Draws the memory over time as SVG, as `tsctl memory --format svg`.
    pub fn draw_memory(&self, width: u32) -> Result<String> {
        self.draw(questions::Memory::NAME, width)
    }

    fn draw(&self, question: &str, width: u32) -> Result<String> {
        ffi::picture(&self.reader, &ffi::c_text(question, "the question")?, &ffi::c_text("", "the options")?, width)
    }

    /// Returns sums by name with percentiles, as `tsctl view --stats --json`.
    pub fn stats(&self) -> Result<TraceStats> {
        self.ask(&questions::Stats::default())
    }

    /// Returns the peak of live memory, what was allocated then, and what was never freed, as `tsctl memory --json`.
    pub fn memory(&self) -> Result<MemoryReport> {
        self.ask(&questions::Memory::default())
    }

    /// Returns the steps that the program's duration consists of, as `tsctl graph --critical-path --json`.
    pub fn critical_path(&self) -> Result<GraphList> {
        self.ask(&questions::Graph { path: Some(true), ..Default::default() })
    }

    /// Returns the dependencies of operations and calls, as `tsctl graph --format json`.
    pub fn graph(&self) -> Result<GraphList> {
        self.ask(&questions::Graph::default())
    }

    /// Returns the changes from this trace to another of the same program, as `tsctl diff --json`.
    pub fn diff(&self, after: &Trace) -> Result<DiffReport> {
        diff(&[self], &[after], &Diff::default())
    }
}

/// Compares traces of two builds of one program, with one or more traces of each. A trace may occur once.
pub fn diff(before: &[&Trace], after: &[&Trace], options: &Diff) -> Result<DiffReport> {
    let options = ffi::c_text(&crate::json::ToValue::to_value(options).to_string(), "an option of the question")?;
    let before: Vec<_> = before.iter().map(|trace| &trace.reader).collect();
    let after: Vec<_> = after.iter().map(|trace| &trace.reader).collect();
    read_one(&ffi::diff(&before, &after, &options)?)
}
