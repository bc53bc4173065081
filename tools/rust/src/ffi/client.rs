// SPDX-License-Identifier: Apache-2.0
//! The client of a daemon: `proto/client/client.h`.

use std::ffi::CStr;
use std::os::raw::c_int;
use std::os::unix::io::{FromRawFd, OwnedFd};
use std::ptr::{self, NonNull};

use super::ask::Json;
use super::declare::*;
use super::texts;
use crate::error::Error;

/// Owns a connection. client.h: "Not thread-safe": one thread at a time, so Send and not Sync.
pub struct Client {
    pointer: NonNull<ts_client>,
}

// SAFETY: a connection belongs to no thread.
unsafe impl Send for Client {}

/// Owns an answer of the daemon.
struct Answer(NonNull<ProtobufCMessage>);

impl Answer {
    fn json(&self) -> Result<String, Error> {
        let mut json = Json::new();
        // SAFETY: the answer lives, and begins with a ProtobufCMessage as each generated message does.
        match unsafe { ts_json_message(json.as_mut_ptr(), self.0.as_ptr()) } {
            0 => Ok(json.copy()),
            result => Err(Error::from_errno(-result, "the daemon's answer cannot be read".to_string())),
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        // SAFETY: client.h: the caller frees the answer by this function.
        unsafe { ts__rpc__answer__free_unpacked(self.0.as_ptr(), ptr::null_mut()) }
    }
}

impl Client {
    /// Connects to a daemon's control socket; None: the default path.
    pub fn connect(path: Option<&CStr>) -> Result<Client, Error> {
        let mut pointer = ptr::null_mut();
        // SAFETY: the path is NULL or terminated.
        let result = unsafe { ts_client_connect(path.map_or(ptr::null(), CStr::as_ptr), &mut pointer) };
        match NonNull::new(pointer) {
            Some(pointer) if result == 0 => Ok(Client { pointer }),
            _ => {
                let shown = path.map_or("the daemon's socket".into(), |path| path.to_string_lossy());
                Err(Error::from_errno(-result, format!("{shown}: {}", std::io::Error::from_raw_os_error(-result))))
            }
        }
    }

    fn finish(&mut self, result: c_int, answer: *mut ProtobufCMessage) -> Result<Answer, Error> {
        match NonNull::new(answer) {
            Some(answer) if result == 0 => Ok(Answer(answer)),
            _ => {
                // SAFETY: never NULL, and valid until the next call.
                let line = unsafe { texts::copy_text(ts_client_error(self.pointer.as_ptr())) };
                Err(Error::new(result, line, None))
            }
        }
    }

    pub fn status(&mut self) -> Result<String, Error> {
        let mut answer = ptr::null_mut();
        // SAFETY: the connection lives.
        let result = unsafe { ts_client_status(self.pointer.as_ptr(), &mut answer) };
        self.finish(result, answer)?.json()
    }

    pub fn sessions(&mut self) -> Result<String, Error> {
        let mut answer = ptr::null_mut();
        // SAFETY: the connection lives.
        let result = unsafe { ts_client_list_sessions(self.pointer.as_ptr(), &mut answer) };
        self.finish(result, answer)?.json()
    }

    /// Has the daemon write the rows so far; session 0: of all sessions.
    pub fn flush(&mut self, session: u32, timeout_ms: u32) -> Result<String, Error> {
        let mut answer = ptr::null_mut();
        // SAFETY: the connection lives.
        let result = unsafe { ts_client_flush(self.pointer.as_ptr(), session, timeout_ms, &mut answer) };
        self.finish(result, answer)?.json()
    }

    /// Opens the trace of a session: by number, or by pid if the number is 0.
    pub fn open_trace(&mut self, session: u32, pid: u32) -> Result<(String, OwnedFd), Error> {
        let mut answer = ptr::null_mut();
        let mut fd = -1;
        // SAFETY: the connection lives.
        let result = unsafe { ts_client_open_trace(self.pointer.as_ptr(), session, pid, &mut answer, &mut fd) };
        // SAFETY: client.h: the caller owns the descriptor; -1: none came.
        let owned = (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) });
        let json = self.finish(result, answer)?.json()?;
        let owned = owned.ok_or_else(|| Error::from_errno(71, "the daemon sent no descriptor".to_string()))?;
        Ok((json, owned))
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // SAFETY: the connection is freed once.
        unsafe { ts_client_free(self.pointer.as_ptr()) }
    }
}
