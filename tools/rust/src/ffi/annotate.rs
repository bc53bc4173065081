// SPDX-License-Identifier: Apache-2.0
//! The functions of the recording library for annotations: struct tracesmith_functions of
//! `inject/include/tracesmith/annotate.h`.

use std::ffi::CStr;
use std::fmt;
use std::mem::size_of;
use std::os::raw::{c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

#[repr(C)]
pub struct tracesmith_functions {
    n_bytes: usize,
    domain: extern "C" fn(*const c_char) -> *mut c_void,
    mark: extern "C" fn(*mut c_void, *const c_char),
    push: extern "C" fn(*mut c_void, *const c_char),
    pop: extern "C" fn(*mut c_void),
    begin: extern "C" fn(*mut c_void, *const c_char) -> u64,
    end: extern "C" fn(u64),
    counter: extern "C" fn(*mut c_void, *const c_char, f64),
    counter_i64: extern "C" fn(*mut c_void, *const c_char, i64),
    record: extern "C" fn(c_int),
}

extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

/// Returns the layout of the struct, for the test of the interface.
#[cfg(feature = "library")]
#[allow(clippy::type_complexity)]
pub fn layout() -> (&'static str, usize, Vec<(&'static str, usize, usize)>) {
    let names = ["n_bytes", "domain", "mark", "push", "pop", "begin", "end", "counter", "counter_i64", "record"];
    let value = std::mem::MaybeUninit::<tracesmith_functions>::uninit();
    let start = value.as_ptr();
    macro_rules! places {
        ($($field:ident)*) => {
            // SAFETY: `start` points to a whole struct; no field is read.
            unsafe { [$(ptr::addr_of!((*start).$field) as usize - start as usize),*] }
        };
    }
    let places = places!(n_bytes domain mark push pop begin end counter counter_i64 record);
    let fields = names.iter().zip(places).map(|(name, place)| (*name, place, size_of::<usize>())).collect();
    ("tracesmith_functions", size_of::<tracesmith_functions>(), fields)
}

/// The functions of a process that is recorded. The header: thread-safe, and no call fails.
#[derive(Clone, Copy)]
pub struct Functions(&'static tracesmith_functions);

impl fmt::Debug for Functions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Functions")
    }
}

/// Returns the functions; None: this process is not recorded. Looks once, as the header does.
pub fn functions() -> Option<Functions> {
    // NULL: not looked up; NONE: not recorded.
    static FOUND: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
    static NONE: u8 = 0;
    let none = &NONE as *const u8 as *mut c_void;

    let mut found = FOUND.load(Ordering::Acquire);
    if found.is_null() {
        // SAFETY: NULL is RTLD_DEFAULT, which finds preloaded libraries; the name is terminated.
        let symbol = unsafe { dlsym(ptr::null_mut(), b"tracesmith_annotate_1\0".as_ptr().cast()) };
        // SAFETY: the struct begins with its size in all versions.
        let fits = !symbol.is_null() && unsafe { symbol.cast::<usize>().read() } >= size_of::<tracesmith_functions>();
        found = if fits { symbol } else { none };
        // Threads that look at the same time find the same. Release pairs with the acquire above.
        FOUND.store(found, Ordering::Release);
    }
    if found == none {
        return None;
    }
    // SAFETY: the recording library exports a constant struct of at least this size, and is never unloaded.
    Some(Functions(unsafe { &*found.cast::<tracesmith_functions>() }))
}

/// A domain of names; the library keeps it for the life of the process.
#[derive(Clone, Copy, Debug)]
pub struct Domain(*mut c_void);

// SAFETY: a domain is a number of the library's tables, which any thread may pass.
unsafe impl Send for Domain {}
// SAFETY: as above.
unsafe impl Sync for Domain {}

impl Domain {
    pub const DEFAULT: Domain = Domain(ptr::null_mut());
}

impl Functions {
    pub fn domain(self, name: &CStr) -> Domain {
        Domain((self.0.domain)(name.as_ptr()))
    }

    pub fn mark(self, domain: Domain, name: &CStr) {
        (self.0.mark)(domain.0, name.as_ptr());
    }

    pub fn push(self, domain: Domain, name: &CStr) {
        (self.0.push)(domain.0, name.as_ptr());
    }

    pub fn pop(self, domain: Domain) {
        (self.0.pop)(domain.0);
    }

    pub fn begin(self, domain: Domain, name: &CStr) -> u64 {
        (self.0.begin)(domain.0, name.as_ptr())
    }

    pub fn end(self, id: u64) {
        (self.0.end)(id);
    }

    pub fn counter(self, domain: Domain, name: &CStr, value: f64) {
        (self.0.counter)(domain.0, name.as_ptr(), value);
    }

    pub fn counter_i64(self, domain: Domain, name: &CStr, value: i64) {
        (self.0.counter_i64)(domain.0, name.as_ptr(), value);
    }

    pub fn record(self, on: bool) {
        (self.0.record)(c_int::from(on));
    }
}
