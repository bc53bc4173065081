// SPDX-License-Identifier: Apache-2.0
//! All tests of the crate, in one program. Traces come from the crate's own writer and, in the source tree, from
//! `test/integration/golden`; `$TRACESMITH_TSCTL` names tsctl, with whose output the answers are compared.

mod damage;
mod golden;
mod interface;
mod own;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A path of a test, which is removed at the end.
pub struct Path(pub PathBuf);

impl Path {
    pub fn new(name: &str) -> Path {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir();
        Path(folder.join(format!("tracesmith-rust-{}-{number}-{name}", std::process::id())))
    }
}

impl Drop for Path {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The path of a golden trace; None outside of the source tree.
pub fn golden(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../test/integration/golden").join(name);
    if path.exists() {
        return Some(path);
    }
    assert!(std::env::var_os("TRACESMITH_TSCTL").is_none(), "{} is missing", path.display());
    eprintln!("skipped: no {}", path.display());
    None
}
