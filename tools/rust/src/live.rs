// SPDX-License-Identifier: Apache-2.0
//! Running sessions, by the daemon's control socket.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::answers::{SessionList, Status};
use crate::ask::read_one;
use crate::error::{Error, Result};
use crate::ffi;
use crate::json::{FromValue, Value};
use crate::trace::Trace;

const FLUSH_MS: u32 = 5000;

/// A connection to a daemon. One thread at a time uses it.
pub struct Client(ffi::Client);

impl Client {
    /// Connects to the service of this node: `$TRACESMITH_CONTROL`, else `/run/tracesmith/control.sock`.
    pub fn connect() -> Result<Client> {
        ffi::Client::connect(None).map(Client)
    }

    /// Connects to the daemon of a control socket.
    pub fn connect_to(path: impl AsRef<Path>) -> Result<Client> {
        ffi::Client::connect(Some(&ffi::c_path(path.as_ref())?)).map(Client)
    }

    /// Connects to each daemon that this user may ask: the node's service, and the daemons of this user's recordings.
    pub fn connect_to_all() -> Vec<Client> {
        let service = Client::connect().ok();
        let private = private_sockets().into_iter().filter_map(|path| Client::connect_to(path).ok());
        service.into_iter().chain(private).collect()
    }

    /// Returns the daemon's state, as `tsctl status --json`.
    pub fn status(&mut self) -> Result<Status> {
        body(&self.0.status()?, "status")
    }

    /// Returns the daemon's sessions that this user may see.
    pub fn sessions(&mut self) -> Result<SessionList> {
        body(&self.0.sessions()?, "session_list")
    }

    /// Opens the trace of a process that is being recorded, with its rows so far. [`Trace::refresh`] reads what
    /// the daemon writes later.
    pub fn open(&mut self, pid: u32) -> Result<Trace> {
        let sessions = self.sessions()?.sessions;
        let session = sessions.iter().find(|session| session.pid == Some(pid));
        let session = session.and_then(|session| session.session).ok_or_else(|| not_recorded(pid))?;
        self.0.flush(session, FLUSH_MS)?;
        let (answer, fd) = self.0.open_trace(session, 0)?;
        let path = Value::parse(&answer)?["trace_opened"]["path"].as_str().map(PathBuf::from);
        Trace::from_fd_named(&fd, &path.unwrap_or_else(|| PathBuf::from(format!("the trace of process {}", pid))))
    }
}

/// Reads a member of the daemon's answer.
fn body<T: FromValue>(text: &str, key: &str) -> Result<T> {
    match Value::parse(text)?.get(key) {
        Some(value) => read_one(&value.to_string()),
        None => Err(Error::json(format!("JSON: the daemon's answer has no {key}"))),
    }
}

fn not_recorded(pid: u32) -> Error {
    Error::from_errno(3, format!("process {pid} is not being recorded; `tsctl sessions` lists those that are"))
}

/// Returns the control sockets of this user's recordings and private daemons. proto/client/places.h describes
/// their directories.
fn private_sockets() -> Vec<PathBuf> {
    let uid = fs::metadata("/proc/self").map_or(u32::MAX, |metadata| metadata.uid());
    let mut parents: Vec<PathBuf> = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).into_iter().collect();
    parents.extend([PathBuf::from(format!("/run/user/{uid}")), PathBuf::from("/tmp")]);
    parents.dedup();
    let is_own = |path: &Path| {
        let is_named = path.file_name().and_then(OsStr::to_str).map_or(false, |name| name.starts_with("tracesmith-"));
        is_named && fs::symlink_metadata(path).map_or(false, |found| found.is_dir() && found.uid() == uid)
    };
    let entries = parents.iter().filter_map(|parent| fs::read_dir(parent).ok()).flatten();
    entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| is_own(path))
        .map(|path| path.join("control.sock"))
        .collect()
}

impl Trace {
    /// Opens the trace of a process that is being recorded, with its rows so far: by the node's service, by
    /// `tsctl record`, or by the process's own daemon.
    pub fn open_live(pid: u32) -> Result<Trace> {
        for mut client in Client::connect_to_all() {
            let sessions = client.sessions().map_or_else(|_| Vec::new(), |list| list.sessions);
            if sessions.iter().any(|session| session.pid == Some(pid)) {
                return client.open(pid);
            }
        }
        Err(not_recorded(pid))
    }
}
