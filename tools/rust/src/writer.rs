// SPDX-License-Identifier: Apache-2.0
//! Writing traces.

use std::fs::OpenOptions;
use std::os::unix::io::OwnedFd;
use std::path::Path;

use crate::error::{Error, ErrorKind, Result};
use crate::ffi;
use crate::row::{EventRow, Row, StackId, StringId};
use crate::rows::{self, RowType};
use crate::values::{session_end, session_state};

/// After so many rows, a session's writer writes them to the file.
const SEAL_ROWS: u64 = 1 << 20;

/// Writes a new trace of a program's own events. Several threads may use it at once.
///
/// ```
/// use tracesmith::{rows, Filter, Trace, Writer};
///
/// # let path = std::env::temp_dir().join(format!("own-{}.sbt", std::process::id()));
/// let writer = Writer::create(&path)?;
/// let program = writer.string("converter")?;
/// let mut session = writer.session(rows::Session { pid: 1, start_ns: 1000, program, ..Default::default() })?;
/// let name = writer.string("load")?;
/// session.add(&rows::Range { start_ns: 1000, end_ns: 2500, name, ..Default::default() })?;
/// session.end(3000)?;
/// writer.finish()?;
///
/// let trace = Trace::open(&path)?;
/// let range = trace.rows::<rows::Range>(&Filter::new())?.next().expect("a range")?;
/// assert_eq!((trace.string(range.name)?.as_ref(), range.end_ns), ("load", 2500));
/// # std::fs::remove_file(&path).unwrap();
/// # Ok::<(), tracesmith::Error>(())
/// ```
///
/// The writer outlives its sessions, and [`finish`](Writer::finish) ends the file after them:
///
/// ```compile_fail,E0505
/// # fn early(writer: tracesmith::Writer) -> tracesmith::Result<()> {
/// let mut session = writer.session(Default::default())?;
/// writer.finish()?;
/// session.seal()
/// # }
/// ```
pub struct Writer(ffi::Writer);

impl Writer {
    /// Creates a file, which must not exist.
    pub fn create(path: impl AsRef<Path>) -> Result<Writer> {
        let path = path.as_ref();
        let created = OpenOptions::new().read(true).write(true).create_new(true).open(path);
        let file = created.map_err(|why| {
            let errno = why.raw_os_error().unwrap_or(5);
            Error::from_errno(errno, format!("{}: {}", path.display(), std::io::Error::from_raw_os_error(errno)))
        })?;
        ffi::Writer::new(file.into(), ffi::c_path(path)?).map(Writer)
    }

    /// Writes to a pipe, a socket or an empty file. A program that writes to a pipe ignores SIGPIPE, as Rust's
    /// programs do.
    pub fn from_fd(fd: impl Into<OwnedFd>) -> Result<Writer> {
        ffi::Writer::new(fd.into(), ffi::c_path(Path::new("the trace"))?).map(Writer)
    }

    /// Adds or replaces a fact about the recording.
    pub fn metadata(&self, key: &str, value: &str) -> Result<()> {
        self.0.metadata(&ffi::c_text(key, "the key")?, &ffi::c_text(value, "the value")?)
    }

    /// Returns the id of a text. Equal texts have one id.
    pub fn string(&self, text: impl AsRef<[u8]>) -> Result<StringId> {
        self.0.string(text.as_ref())
    }

    /// Adds a source of symbols.
    pub fn image(&self, row: &rows::Image) -> Result<()> {
        self.0.row(RowType::Image, row)
    }

    /// Adds a symbol.
    pub fn symbol(&self, row: &rows::Symbol) -> Result<()> {
        self.0.row(RowType::Symbol, row)
    }

    /// Begins a session. The writer sets the row's number.
    pub fn session(&self, row: rows::Session) -> Result<SessionWriter<'_>> {
        Ok(SessionWriter { writer: self.0.session(&row)?, row })
    }

    /// Writes texts and facts so far. Sessions write their own rows.
    pub fn flush(&self) -> Result<()> {
        self.0.flush()
    }

    /// Writes the index and the file's end. Without it, the file can be read, but has no end.
    pub fn finish(self) -> Result<()> {
        self.0.finish()
    }
}

/// Writes a session of a trace. One thread at a time uses it; different sessions may be used at once. Rows that were
/// not sealed when it is dropped are not written.
pub struct SessionWriter<'w> {
    writer: ffi::SessionWriter<'w>,
    row: rows::Session,
}

impl SessionWriter<'_> {
    /// Returns the number of the session in the file, from 1.
    pub fn number(&self) -> u32 {
        self.writer.number()
    }

    /// Adds an event. Rows may come in any order of time. Times are nanoseconds of CLOCK_MONOTONIC.
    pub fn add<R: EventRow>(&mut self, row: &R) -> Result<()> {
        match R::TYPES {
            [row_type] => self.add_row(*row_type, row),
            _ => Err(Error::from_errno(22, "several types have this struct: use add_as()".to_string())),
        }
    }

    /// Adds an event of one of a struct's types: an allocation or a free.
    pub fn add_as<R: EventRow>(&mut self, row_type: RowType, row: &R) -> Result<()> {
        if !R::TYPES.contains(&row_type) {
            return Err(Error::from_errno(22, format!("rows of type {} have another struct", row_type.name())));
        }
        self.add_row(row_type, row)
    }

    fn add_row<R: Row>(&mut self, row_type: RowType, row: &R) -> Result<()> {
        if self.writer.pending_rows() >= SEAL_ROWS {
            self.writer.seal()?;
        }
        match self.writer.row(row_type, row) {
            Err(error) if error.kind() == ErrorKind::Full => {
                self.writer.seal()?;
                self.writer.row(row_type, row)
            }
            result => result,
        }
    }

    /// Adds a thread, and returns its id, which the rows of the session refer to.
    pub fn thread(&mut self, row: &rows::Thread) -> Result<u32> {
        self.writer.thread(row)
    }

    /// Adds a host stack: frames as `proto/abi/record.h` encodes them, innermost first.
    pub fn stack(&mut self, frames: &[u64]) -> Result<StackId> {
        self.writer.stack(frames, 0)
    }

    /// Adds a device.
    pub fn device(&mut self, row: &rows::Device) -> Result<()> {
        self.add_row(RowType::Device, row)
    }

    /// Adds a mapped file.
    pub fn module(&mut self, row: &rows::Module) -> Result<()> {
        self.add_row(RowType::Module, row)
    }

    /// Adds an application's name of an object.
    pub fn name(&mut self, row: &rows::Name) -> Result<()> {
        self.add_row(RowType::Name, row)
    }

    /// Replaces the session's row.
    pub fn update(&mut self, row: rows::Session) -> Result<()> {
        self.writer.update(&row)?;
        self.row = row;
        Ok(())
    }

    /// Writes the rows so far, so that readers see them.
    pub fn seal(&mut self) -> Result<()> {
        self.writer.seal()
    }

    /// Ends the session at this time, and writes its rows.
    pub fn end(mut self, end_ns: u64) -> Result<()> {
        let row = rows::Session { end_ns, state: session_state::ENDED, ended: session_end::BYE, ..self.row };
        self.update(row)?;
        self.seal()
    }
}
