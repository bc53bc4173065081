// SPDX-License-Identifier: Apache-2.0
//! Traces: opening, definitions, rows.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::io::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::ffi;
use crate::filter::{matches, Filter};
use crate::row::{call_key, call_name, EventRow, Row, StackId, StringId};
use crate::rows::{self, RowType};
use crate::table::{AnyColumn, Blocks, Columns, Events, Item, Rows, Summary, Total};

const MAX_PARTS: usize = 65536;
/// A pipe in a trace's place must not make open() wait, and a terminal must not become ours.
const O_NONBLOCK: i32 = 0o4000;
const O_NOCTTY: i32 = 0o400;

/// State of a trace's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileState {
    /// The file has its end marker.
    Finished,
    /// A recording writes the file: [`Trace::refresh`] reads on.
    Growing,
    /// The recorder is gone, or the file's end was cut off.
    Truncated,
}

/// An open trace.
///
/// One thread at a time uses a trace: it is `Send` and not `Sync`. Threads that read one file open it once each.
///
/// ```compile_fail,E0277
/// fn share<T: Sync>() {}
/// share::<tracesmith::Trace>();
/// ```
///
/// Iterators stay in the thread of their trace:
///
/// ```compile_fail,E0277
/// fn send<T: Send>() {}
/// send::<tracesmith::Rows<'_, tracesmith::rows::Kernel>>();
/// ```
///
/// Texts and stacks live as long as the trace:
///
/// ```compile_fail,E0505
/// # fn text(trace: tracesmith::Trace) -> tracesmith::Result<()> {
/// let text = trace.string(tracesmith::StringId(1))?;
/// drop(trace);
/// println!("{text}");
/// # Ok(())
/// # }
/// ```
pub struct Trace {
    pub(crate) reader: ffi::Reader,
    path: PathBuf,
}

impl Trace {
    /// Opens a trace. If the file is the newest of a recording of several files, the earlier ones are read, too, as
    /// far as they are there.
    pub fn open(path: impl AsRef<Path>) -> Result<Trace> {
        let mut trace = Trace::open_alone(path.as_ref())?;
        trace.join()?;
        Ok(trace)
    }

    fn open_alone(path: &Path) -> Result<Trace> {
        let opened = OpenOptions::new().read(true).custom_flags(O_NONBLOCK | O_NOCTTY).open(path);
        let file = opened.map_err(|why| {
            let errno = why.raw_os_error().unwrap_or(5);
            Error::from_errno(errno, format!("{}: {}", path.display(), std::io::Error::from_raw_os_error(errno)))
        })?;
        Trace::from_file(&file, path)
    }

    fn from_file(file: &File, path: &Path) -> Result<Trace> {
        let reader = ffi::Reader::open(file.as_fd(), ffi::c_path(path)?)?;
        Ok(Trace { reader, path: path.to_path_buf() })
    }

    /// Opens the trace of a descriptor, which must be seekable and stays the caller's. Neither its position nor
    /// earlier files of the recording are used.
    pub fn from_fd(fd: impl AsFd) -> Result<Trace> {
        let path = PathBuf::from(format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd()));
        Trace::from_fd_named(fd, &path)
    }

    pub(crate) fn from_fd_named(fd: impl AsFd, path: &Path) -> Result<Trace> {
        let reader = ffi::Reader::open(fd.as_fd(), ffi::c_path(path)?)?;
        Ok(Trace { reader, path: path.to_path_buf() })
    }

    /// Joins the earlier files of a recording. A file that is missing or of another recording ends the search.
    fn join(&mut self) -> Result<()> {
        let newest = ffi::c_path(&self.path)?;
        let mut before: Vec<ffi::Reader> = Vec::new();
        while before.len() < MAX_PARTS {
            let last = before.last().unwrap_or(&self.reader);
            let path = match last.part_before(&newest) {
                Some(bytes) => PathBuf::from(OsString::from_vec(bytes)),
                None => break,
            };
            match Trace::open_alone(&path) {
                Ok(trace) if trace.reader.is_before(last) => before.push(trace.reader),
                _ => break,
            }
        }
        if before.is_empty() {
            return Ok(());
        }
        self.reader.join(before)
    }

    /// Returns the file's path; of a descriptor, its name in /proc.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sets the flag by which another thread ends a call of this trace; None: no flag.
    pub fn set_cancel(&mut self, cancel: Option<&Cancel>) {
        self.reader.set_cancel(cancel.cloned());
    }

    /// Reads the blocks that were written since the trace was opened or refreshed. Does nothing for a finished file,
    /// and for a recording of several files.
    pub fn refresh(&mut self) -> Result<()> {
        self.reader.refresh()
    }

    /// Returns the state of the file when it was opened or refreshed.
    pub fn state(&self) -> FileState {
        match self.reader.state() {
            1 => FileState::Finished,
            2 => FileState::Growing,
            _ => FileState::Truncated,
        }
    }

    /// Returns the size of the file in bytes when it was opened or refreshed.
    pub fn file_bytes(&self) -> u64 {
        self.reader.file_bytes()
    }

    /// Returns the number of bytes at the file's end that belong to no whole block.
    pub fn tail_bytes(&self) -> u64 {
        self.reader.tail_bytes()
    }

    /// Returns the version of the file's format, such as "SBT 1.0".
    pub fn format(&self) -> String {
        self.reader.format()
    }

    /// Returns the start of the trace's time, in nanoseconds of CLOCK_MONOTONIC. Times that a person enters or reads
    /// count from it.
    pub fn origin_ns(&self) -> u64 {
        self.reader.origin_ns()
    }

    /// Returns an instant as nanoseconds of CLOCK_MONOTONIC: so many seconds after the trace's start.
    pub fn instant_ns(&self, seconds: f64) -> u64 {
        self.origin_ns().saturating_add((seconds.max(0.0) * 1e9).round() as u64)
    }

    /// Returns the error of the first definition that could not be read. Such definitions look as if they did not
    /// exist.
    pub fn lost_definitions(&self) -> Option<Error> {
        self.reader.lost_definitions()
    }

    // ---- definitions ----

    /// Returns a text; the text of id 0 is empty. Bytes that are no UTF-8 become U+FFFD.
    pub fn string(&self, id: StringId) -> Result<Cow<'_, str>> {
        self.bytes(id).map(String::from_utf8_lossy)
    }

    /// Returns a text as the program gave it.
    pub fn bytes(&self, id: StringId) -> Result<&[u8]> {
        if id.0 == 0 {
            return Ok(&[]);
        }
        self.reader.string(id).ok_or_else(|| {
            let line = format!("{}: string {} cannot be read: the trace is damaged", self.path.display(), id.0);
            Error::new(crate::error::NOT_FOUND, line, None)
        })
    }

    /// Returns the frames of a host stack, innermost first, as `proto/abi/record.h` encodes them. Questions with
    /// `stacks` give the names.
    pub fn stack(&self, session: u32, id: StackId) -> Result<&[u64]> {
        if id.0 == 0 {
            return Ok(&[]);
        }
        self.reader.stack(session, id).map(|(frames, _)| frames)
    }

    /// Returns the bytes of a blob of a session. Blobs are numbered from 1 to [`n_blobs`](Trace::n_blobs).
    pub fn blob(&self, session: u32, number: u32) -> Result<Vec<u8>> {
        self.reader.blob(session, number).map(|(bytes, _)| bytes)
    }

    /// Returns the number of blobs of a session.
    pub fn n_blobs(&self, session: u32) -> u32 {
        self.reader.n_blobs(session)
    }

    /// Returns the sessions, by number. A session is a recorded process.
    pub fn sessions(&self) -> Vec<rows::Session> {
        self.reader.sessions()
    }

    /// Returns the threads of all sessions, by session and id.
    pub fn threads(&self) -> Vec<Item<rows::Thread>> {
        items(RowType::Thread, self.reader.threads())
    }

    /// Returns the devices of all sessions, by session and id.
    pub fn devices(&self) -> Vec<Item<rows::Device>> {
        items(RowType::Device, self.reader.devices())
    }

    /// Returns the mapped files of all sessions, in file order.
    pub fn modules(&self) -> Vec<Item<rows::Module>> {
        items(RowType::Module, self.reader.modules())
    }

    /// Returns the names that applications gave to objects, in file order.
    pub fn names(&self) -> Vec<Item<rows::Name>> {
        items(RowType::Name, self.reader.names())
    }

    /// Returns facts about the recording: hostname, kernel, command, ...
    pub fn metadata(&self) -> Vec<(String, String)> {
        self.reader.metadata()
    }

    // ---- rows ----

    /// Returns the totals of a session; 0: of all sessions. The library reads them from the file's index.
    pub fn summary(&self, session: u32) -> Result<Summary> {
        self.reader.summary(session).map(Summary)
    }

    /// Returns the rows of a struct's types, in order of start.
    ///
    /// ```no_run
    /// use tracesmith::{rows::Kernel, Filter, Trace};
    ///
    /// let trace = Trace::open("train.sbt")?;
    /// for kernel in trace.rows::<Kernel>(&Filter::new().stream(7))? {
    ///     let kernel = kernel?;
    ///     println!("{} {}", trace.string(kernel.name)?, kernel.end_ns - kernel.start_ns);
    /// }
    /// # Ok::<(), tracesmith::Error>(())
    /// ```
    pub fn rows<R: EventRow>(&self, filter: &Filter) -> Result<Rows<'_, R>> {
        let names = self.wanted_names(R::TYPES, filter)?;
        let cursor = self.reader.cursor(bits(R::TYPES), &filter.selection)?;
        Ok(Rows::new(cursor, names))
    }

    /// Returns the events of these types, in order of start; no types: of all types. Types that are newer than
    /// this crate are left out.
    pub fn events(&self, types: &[RowType], filter: &Filter) -> Result<Events<'_>> {
        let types = if types.is_empty() { RowType::EVENTS } else { types };
        if let Some(wrong) = types.iter().find(|row_type| !row_type.is_event()) {
            return Err(Error::from_errno(22, format!("rows of type {} are no events", wrong.name())));
        }
        let names = self.wanted_names(types, filter)?;
        let cursor = self.reader.cursor(bits(types), &filter.selection)?;
        Ok(Events::new(cursor, names))
    }

    /// Returns all columns of a struct's rows. Only rows of events can be filtered.
    pub fn columns<R: Row>(&self, filter: &Filter) -> Result<Columns<R>> {
        self.select(filter, &[])
    }

    /// Returns these columns of a struct's rows, which are read faster than all.
    ///
    /// ```no_run
    /// use tracesmith::{rows::Kernel, Filter, Trace};
    ///
    /// let trace = Trace::open("train.sbt")?;
    /// let kernels = trace.select::<Kernel>(&Filter::new(), &[&Kernel::START_NS, &Kernel::END_NS])?;
    /// let (starts, ends) = (kernels.get(Kernel::START_NS)?, kernels.get(Kernel::END_NS)?);
    /// let busy: u64 = starts.iter().zip(ends).map(|(start, end)| end - start).sum();
    /// # Ok::<(), tracesmith::Error>(())
    /// ```
    pub fn select<R: Row>(&self, filter: &Filter, columns: &[&dyn AnyColumn<R>]) -> Result<Columns<R>> {
        match R::TYPES {
            [row_type] => self.select_of(*row_type, filter, columns),
            _ => {
                let names: Vec<_> = R::TYPES.iter().map(|row_type| row_type.name()).collect();
                let line = format!("several types have this struct: use select_of() with one of {}", names.join(", "));
                Err(Error::from_errno(22, line))
            }
        }
    }

    /// Returns columns of one of a struct's types: of [`Memory`](rows::Memory), which allocations and frees have. No
    /// columns: all.
    pub fn select_of<R: Row>(
        &self,
        row_type: RowType,
        filter: &Filter,
        columns: &[&dyn AnyColumn<R>],
    ) -> Result<Columns<R>> {
        if !R::TYPES.contains(&row_type) {
            return Err(Error::from_errno(22, format!("rows of type {} have another struct", row_type.name())));
        }
        let names = self.wanted_names(&[row_type], filter)?;
        let names = names.map(|keys| keys.iter().map(|key| *key as u32).collect::<Vec<_>>());
        let c_names: Vec<_> = columns.iter().map(|column| column.c_name()).collect();
        ffi::Columns::new(&self.reader, row_type, &filter.selection, &c_names, names.as_deref()).map(Columns::new)
    }

    /// Returns columns one block at a time, in less memory than [`select`](Trace::select): of all blocks of a struct's
    /// types that the filter's window touches. No columns: all. Only the session and the window of the filter are used,
    /// and a block may have rows outside of the window.
    ///
    /// ```no_run
    /// use tracesmith::{rows::Kernel, Filter, Trace};
    ///
    /// let trace = Trace::open("train.sbt")?;
    /// let mut threads = 0;
    /// for block in trace.blocks::<Kernel>(&Filter::new(), &[&Kernel::BLOCK_X])? {
    ///     threads += block?.get(Kernel::BLOCK_X)?.iter().map(|x| u64::from(*x)).sum::<u64>();
    /// }
    /// # Ok::<(), tracesmith::Error>(())
    /// ```
    pub fn blocks<R: Row>(&self, filter: &Filter, columns: &[&dyn AnyColumn<R>]) -> Result<Blocks<'_, R>> {
        if filter.selection.filter != 0 || filter.name.is_some() {
            return Err(Error::from_errno(22, "blocks are selected by session and time alone".to_string()));
        }
        Ok(Blocks::new(&self.reader, filter.selection, columns))
    }

    /// Returns sums of the rows of each name, by type and name: of kernels, calls, copies, sets, waits and ranges. The
    /// library takes them from the file's summaries, as far as the filter permits. A filter's name is not used.
    pub fn totals<R: EventRow>(&self, filter: &Filter) -> Result<Vec<Total<R>>> {
        let totals = self.reader.totals(bits(R::TYPES), &filter.selection)?;
        let read = totals.read::<R>().into_iter();
        Ok(read
            .map(|(row_type, row, [count, duration_ns, min_ns, max_ns, bytes])| Total {
                row_type,
                row,
                count,
                duration_ns,
                min_ns,
                max_ns,
                bytes,
            })
            .collect())
    }

    /// Returns the numbers of the filter's names in rows of these types, ascending; None: any name.
    fn wanted_names(&self, types: &[RowType], filter: &Filter) -> Result<Option<Vec<u64>>> {
        let pattern = match &filter.name {
            Some(pattern) => pattern,
            None => return Ok(None),
        };
        let mut keys = Vec::new();
        for row_type in types {
            let selection = ffi::Selection { session: filter.selection.session, ..Default::default() };
            if *row_type == RowType::Api {
                let names = ["domain\0", "cbid\0"];
                let columns =
                    Columns::<rows::Api>::new(ffi::Columns::new(&self.reader, *row_type, &selection, &names, None)?);
                let calls = columns.get(rows::Api::DOMAIN)?.iter().zip(columns.get(rows::Api::CBID)?);
                keys.extend(calls.map(|(domain, cbid)| call_key(*domain, *cbid)));
            } else if row_type.columns().iter().any(|column| column.name() == "name") {
                let columns = ffi::Columns::new(&self.reader, *row_type, &selection, &["name\0"], None)?;
                keys.extend(columns.name_ids().iter().map(|id| u64::from(id.0)));
            }
            // Most rows repeat a name.
            keys.sort_unstable();
            keys.dedup();
        }
        let mut wanted = Vec::new();
        for key in keys {
            let name = match key >> 32 {
                0 => self.string(StringId(key as u32))?,
                _ => call_name((key >> 16) as u16, key as u16).into(),
            };
            if matches(pattern, &name) {
                wanted.push(key);
            }
        }
        Ok(Some(wanted))
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace").field("path", &self.path).field("state", &self.state()).finish()
    }
}

fn bits(types: &[RowType]) -> u64 {
    types.iter().fold(0, |bits, row_type| bits | row_type.bit())
}

fn items<R>(row_type: RowType, rows: Vec<(u32, R)>) -> Vec<Item<R>> {
    rows.into_iter().map(|(session, row)| Item { session, row_type, row }).collect()
}
