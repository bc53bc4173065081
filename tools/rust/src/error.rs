// SPDX-License-Identifier: Apache-2.0
//! Errors.

use std::fmt;
use std::io;

/// TS_SBT_E_END: no more rows. Iterators end.
pub(crate) const END: i32 = 6;
/// TS_SBT_E_NOT_FOUND.
pub(crate) const NOT_FOUND: i32 = 5;
/// TS_SBT_E_FULL.
pub(crate) const FULL: i32 = 7;

/// Kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The system's error, such as a missing file.
    System(io::ErrorKind),
    /// The file is no trace.
    NotATrace,
    /// The trace has a version or a feature that the library does not know.
    Version,
    /// A checksum or a structure of the file is wrong.
    Corrupt,
    /// The file, or a part of it, is larger than the library accepts.
    Limit,
    /// There is no such id, type, session or block; or rows of the type lack a column of the filter.
    NotFound,
    /// The session has too many unwritten rows.
    Full,
    /// The question is wrong: its name, an option, a window, a type of row, or an instant outside of the trace.
    Question,
    /// The answer is longer than the limit.
    TooLong,
    /// A [`Cancel`](crate::Cancel) ended the call.
    Cancelled,
    /// The answer's text is no JSON, or has a value of another type.
    Json,
    /// Another result of the library; [`Error::code`] has it.
    Other,
}

/// An error with the library's line for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    code: i32,
    kind: ErrorKind,
    line: String,
    offset: Option<u64>,
}

/// The result of a call.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Makes the error of a result of the library.
    pub(crate) fn new(code: i32, line: String, offset: Option<u64>) -> Error {
        let kind = match code {
            -125 => ErrorKind::Cancelled, // ECANCELED
            code if code < 0 => ErrorKind::System(io::Error::from_raw_os_error(-code).kind()),
            1 => ErrorKind::NotATrace,
            2 => ErrorKind::Version,
            3 | 111 => ErrorKind::Corrupt,
            4 | 200..=299 => ErrorKind::Limit,
            5 => ErrorKind::NotFound,
            7 => ErrorKind::Full,
            100..=104 | 110 => ErrorKind::Question,
            112 => ErrorKind::TooLong,
            _ => ErrorKind::Other,
        };
        let line = if line.is_empty() { format!("libtracesmith returned {code}") } else { line };
        Error { code, kind, line, offset }
    }

    pub(crate) fn from_errno(errno: i32, line: String) -> Error {
        Error::new(-errno, line, None)
    }

    pub(crate) fn json(line: String) -> Error {
        Error { code: 0, kind: ErrorKind::Json, line, offset: None }
    }

    /// Returns the kind.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the library's result: a negative errno, or TS_SBT_E_*, TS_QUERY_E_* and the like of the headers.
    /// 0: the error is of this crate.
    pub fn code(&self) -> i32 {
        self.code
    }

    /// Returns the place in the file, in bytes, if the error has one.
    pub fn offset(&self) -> Option<u64> {
        self.offset
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

impl std::error::Error for Error {}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        let kind = match error.kind {
            ErrorKind::System(kind) => kind,
            ErrorKind::NotATrace | ErrorKind::Corrupt | ErrorKind::Json => io::ErrorKind::InvalidData,
            ErrorKind::Version => io::ErrorKind::Unsupported,
            ErrorKind::NotFound => io::ErrorKind::NotFound,
            ErrorKind::Question => io::ErrorKind::InvalidInput,
            _ => io::ErrorKind::Other,
        };
        io::Error::new(kind, error)
    }
}
