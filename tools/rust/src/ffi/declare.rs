// SPDX-License-Identifier: Apache-2.0
//! The C interface of libtracesmith, as far as the crate uses it. The names are C's. `tests/all/interface.rs`
//! compares the structs with the headers.

#![allow(non_camel_case_types)]

use std::os::raw::{c_char, c_int, c_uint, c_void};

/// Declares an opaque struct, of which there are only pointers.
macro_rules! opaque {
    ($($name:ident)*) => {
        $(#[repr(C)]
        pub struct $name {
            opaque: [u8; 0],
            // Neither Send nor Sync by itself: the owners declare what the headers permit.
            marker: std::marker::PhantomData<(*mut u8, std::marker::PhantomPinned)>,
        })*
    };
}

opaque! {
    ts_sbt_reader ts_sbt_cursor ts_sbt_arrays ts_sbt_columns ts_sbt_totals ts_symbols ts_modules ts_sbt_writer ts_sbt_session_writer ts_client
    ProtobufCMessage
}

/// Declares structs, and returns their layouts for the test of the interface.
macro_rules! structs {
    ($($name:ident { $($field:ident: $type:ty,)* })*) => {
        $(#[repr(C)]
        #[derive(Clone, Copy)]
        pub struct $name {
            $(pub $field: $type,)*
        })*

        /// Returns each struct: its name, its size, and name, offset and width of its fields.
        #[allow(clippy::type_complexity)]
        pub fn layouts() -> Vec<(&'static str, usize, Vec<(&'static str, usize, usize)>)> {
            vec![$({
                let value = std::mem::MaybeUninit::<$name>::zeroed();
                let start = value.as_ptr();
                (stringify!($name), std::mem::size_of::<$name>(), vec![$({
                    // SAFETY: `start` points to a whole struct; no field is read.
                    let field = unsafe { std::ptr::addr_of!((*start).$field) };
                    (stringify!($field), field as usize - start as usize, std::mem::size_of::<$type>())
                },)*])
            },)*]
        }
    };
}

/// A struct with zeroes behind it. A newer library may have appended members: it reads zeroes, which are each member's default,
/// and writes to memory that is there.
#[repr(C)]
pub struct Padded<T> {
    value: T,
    zeroes: [u64; 32],
}

impl<T> Padded<T> {
    /// Makes a struct of zeroes.
    ///
    /// # Safety
    /// Zeroes are a valid T.
    pub unsafe fn zeroed() -> Padded<T> {
        // SAFETY: as above.
        unsafe { std::mem::MaybeUninit::zeroed().assume_init() }
    }
}

impl<T> std::ops::Deref for Padded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Padded<T> {
    pub fn as_ptr(&self) -> *const T {
        (self as *const Padded<T>).cast()
    }

    pub fn as_mut_ptr(&mut self) -> *mut T {
        (self as *mut Padded<T>).cast()
    }
}

impl<T> std::ops::DerefMut for Padded<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

pub const CALL_NAME_BYTES: usize = 32; // TS_CALL_NAME_BYTES
pub const TYPES: usize = 64; // TS_ROW_COUNT
pub const LOSSES: usize = 32; // TS_LOSS_COUNT
pub const WEIGHTS: usize = 6; // TS_EXPORT_N_WEIGHTS
pub const ERROR_TEXT: usize = 200;
pub const WHY_BYTES: usize = 400; // TS_QUERY_WHY_BYTES
pub const MAX_ROW_BYTES: usize = 192; // TS_ROW_MAX_BYTES

structs! {
    ts_sbt_error {
        code: c_int,
        off: u64,
        text: [c_char; ERROR_TEXT],
    }
    ts_column {
        name: *const c_char,
        id: u16,
        width: u16,
        offset: u16,
        role: u8,
        is_signed: u8,
    }
    ts_row_schema {
        name: *const c_char,
        type_: u16,
        n_columns: u16,
        row_bytes: u32,
        columns: *const ts_column,
        is_event: bool,
        has_end: bool,
        bytes_column: i16,
    }
    ts_sbt_block {
        off: u64,
        bytes: u64,
        raw_bytes: u64,
        earliest_ns: u64,
        latest_ns: u64,
        duration_ns: u64,
        amount_bytes: u64,
        n_rows: u32,
        session: u32,
        first_id: u32,
        type_: u16,
        flags: u16,
    }
    ts_sbt_stack {
        frames: *const u64,
        n_frames: u32,
        flags: u32,
    }
    ts_sbt_blob {
        bytes: *const u8,
        n_bytes: u32,
        flags: u32,
        hash: [u64; 2],
    }
    ts_sbt_summary {
        counts: [u64; TYPES],
        durations_ns: [u64; TYPES],
        bytes: [u64; TYPES],
        stored_bytes: [u64; TYPES],
        lost: [u64; LOSSES],
        earliest_ns: u64,
        latest_ns: u64,
    }
    ts_sbt_cursor_options {
        types: u64,
        session: u32,
        filter: u32,
        from_ns: u64,
        to_ns: u64,
        device: u32,
        context: u32,
        stream: u32,
        thread: u32,
        resume: *const c_void,
    }
    ts_sbt_row {
        type_: u32,
        session: u32,
        schema: *const ts_row_schema,
        any: *const c_void,
    }
    ts_sbt_total {
        type_: u32,
        reserved: u32,
        key: u64,
        count: u64,
        duration_ns: u64,
        min_ns: u64,
        max_ns: u64,
        bytes: u64,
    }
    ts_sbt_columns_options {
        type_: u32,
        session: u32,
        columns: u64,
        from_ns: u64,
        to_ns: u64,
        filter: u32,
        device: u32,
        context: u32,
        stream: u32,
        thread: u32,
        n_names: u32,
        names: *const u32,
    }
    ts_json {
        data: *mut c_char,
        n_bytes: usize,
        n_allocated: usize,
        error: c_int,
    }
    ts_ask_options {
        no_memory: Option<extern "C" fn()>,
        cancel: *const c_int,
        n_rows: *mut u64,
        max_bytes: usize,
        n_threads: u32,
        device_bytes: u64,
        progress: *mut c_void,
    }
    ts_export_options {
        session: u32,
        types: u64,
        from_ns: u64,
        to_ns: u64,
        weight: c_uint,
        mangled: bool,
        no_leaf: bool,
        processes: bool,
        threads: bool,
        lines: bool,
        names: *const c_void,
        step: Option<extern "C" fn(*mut c_void, u64)>,
        user: *mut c_void,
        generator: *const c_char,
        width: u32,
        title: *const c_char,
        cancel: *const c_int,
        no_memory: Option<extern "C" fn()>,
    }
    ts_export_report {
        n_rows: u64,
        n_without_call: u64,
        n_without_stack: u64,
        n_samples: u64,
        totals: [u64; WEIGHTS],
        n_left_out: u64,
        has_names: bool,
        damaged: bool,
        damage: ts_sbt_error,
    }
    ts_query_side {
        readers: *const *mut ts_sbt_reader,
        n: usize,
        path: *const c_char,
    }
}

extern "C" {
    pub fn ts_row_schema(type_: c_uint) -> *const ts_row_schema;
    pub fn ts_row_column(schema: *const ts_row_schema, name: *const c_char) -> c_int;
    pub fn ts_loss_reason_name(reason: c_uint) -> *const c_char;
    pub fn ts_name_call(domain: u32, cbid: u32, buffer: *mut c_char) -> *const c_char;

    pub fn ts_sbt_reader_open(fd: c_int, ret_reader: *mut *mut ts_sbt_reader, ret_error: *mut ts_sbt_error) -> c_int;
    pub fn ts_sbt_reader_free(reader: *mut ts_sbt_reader);
    pub fn ts_sbt_reader_refresh(reader: *mut ts_sbt_reader) -> c_int;
    pub fn ts_sbt_reader_part(reader: *const ts_sbt_reader, ret_part: *mut c_void) -> c_int;
    pub fn ts_sbt_reader_is_before(before: *const ts_sbt_reader, after: *const ts_sbt_reader) -> bool;
    pub fn ts_sbt_reader_join(reader: *mut ts_sbt_reader, before: *mut *mut ts_sbt_reader, n_before: usize) -> c_int;
    pub fn ts_sbt_part_path(path: *const c_char, number: u32) -> *mut c_char;
    pub fn ts_sbt_reader_error(reader: *const ts_sbt_reader) -> *const ts_sbt_error;
    pub fn ts_sbt_reader_lost_definitions(reader: *const ts_sbt_reader) -> *const ts_sbt_error;
    pub fn ts_sbt_reader_state(reader: *const ts_sbt_reader) -> c_int;
    pub fn ts_sbt_reader_file_bytes(reader: *const ts_sbt_reader) -> u64;
    pub fn ts_sbt_reader_tail_bytes(reader: *const ts_sbt_reader) -> u64;
    pub fn ts_sbt_reader_format(reader: *const ts_sbt_reader) -> *const c_char;
    pub fn ts_sbt_reader_cancel(reader: *mut ts_sbt_reader, flag: *const c_int) -> *const c_int;
    pub fn ts_sbt_reader_string(reader: *mut ts_sbt_reader, id: u32, ret_n_bytes: *mut usize) -> *const c_char;
    pub fn ts_sbt_reader_stack(
        reader: *mut ts_sbt_reader,
        session: u32,
        id: u32,
        ret_stack: *mut ts_sbt_stack,
    ) -> c_int;
    pub fn ts_sbt_reader_blob(reader: *mut ts_sbt_reader, session: u32, blob: u32, ret_blob: *mut ts_sbt_blob)
        -> c_int;
    pub fn ts_sbt_reader_n_blobs(reader: *const ts_sbt_reader, session: u32) -> u32;
    pub fn ts_sbt_reader_n_sessions(reader: *const ts_sbt_reader) -> usize;
    pub fn ts_sbt_reader_session_at(reader: *const ts_sbt_reader, i: usize) -> *const c_void;
    pub fn ts_sbt_reader_n_threads(reader: *const ts_sbt_reader) -> usize;
    pub fn ts_sbt_reader_thread_at(reader: *const ts_sbt_reader, i: usize) -> *const c_void;
    pub fn ts_sbt_reader_n_devices(reader: *const ts_sbt_reader) -> usize;
    pub fn ts_sbt_reader_device_at(reader: *const ts_sbt_reader, i: usize) -> *const c_void;
    pub fn ts_sbt_reader_n_modules(reader: *const ts_sbt_reader) -> usize;
    pub fn ts_sbt_reader_module_at(reader: *const ts_sbt_reader, i: usize) -> *const c_void;
    pub fn ts_sbt_reader_n_names(reader: *const ts_sbt_reader) -> usize;
    pub fn ts_sbt_reader_name_at(reader: *const ts_sbt_reader, i: usize) -> *const c_void;
    pub fn ts_sbt_reader_n_metadata(reader: *const ts_sbt_reader) -> usize;
    pub fn ts_sbt_reader_metadata_at(
        reader: *mut ts_sbt_reader,
        i: usize,
        ret_key: *mut *const c_char,
        ret_value: *mut *const c_char,
    );
    pub fn ts_sbt_reader_origin_ns(reader: *const ts_sbt_reader) -> u64;
    pub fn ts_sbt_reader_summary(reader: *mut ts_sbt_reader, session: u32, ret_summary: *mut ts_sbt_summary) -> c_int;

    pub fn ts_sbt_reader_n_blocks(reader: *const ts_sbt_reader) -> usize;
    pub fn ts_sbt_reader_block(reader: *const ts_sbt_reader, i: usize) -> *const ts_sbt_block;
    pub fn ts_sbt_arrays_new(
        reader: *mut ts_sbt_reader,
        i: usize,
        columns: u64,
        ret_arrays: *mut *mut ts_sbt_arrays,
    ) -> c_int;
    pub fn ts_sbt_arrays_free(arrays: *mut ts_sbt_arrays);
    pub fn ts_sbt_arrays_rows(arrays: *const ts_sbt_arrays) -> u32;
    pub fn ts_sbt_arrays_column(arrays: *const ts_sbt_arrays, column: c_int) -> *const c_void;

    pub fn ts_symbols_new(reader: *mut ts_sbt_reader, ret_symbols: *mut *mut ts_symbols) -> c_int;
    pub fn ts_symbols_free(symbols: *mut ts_symbols);
    pub fn ts_symbols_any(symbols: *const ts_symbols) -> bool;
    pub fn ts_symbols_find(
        symbols: *const ts_symbols,
        session: u32,
        module: *const c_void,
        address: u64,
        ret_n: *mut usize,
        ret_image: *mut *const c_void,
    ) -> *const c_void;
    pub fn ts_modules_new(reader: *const ts_sbt_reader, ret_modules: *mut *mut ts_modules) -> c_int;
    pub fn ts_modules_free(modules: *mut ts_modules);
    pub fn ts_modules_find(modules: *const ts_modules, session: u32, address: u64, time_ns: u64) -> *const c_void;

    pub fn ts_export_fd(
        reader: *mut ts_sbt_reader,
        format: c_uint,
        options: *const ts_export_options,
        fd: c_int,
        ret_report: *mut ts_export_report,
    ) -> c_int;

    pub fn ts_sbt_cursor_new(
        reader: *mut ts_sbt_reader,
        options: *const ts_sbt_cursor_options,
        ret_cursor: *mut *mut ts_sbt_cursor,
    ) -> c_int;
    pub fn ts_sbt_cursor_free(cursor: *mut ts_sbt_cursor);
    pub fn ts_sbt_cursor_next(cursor: *mut ts_sbt_cursor, ret_row: *mut ts_sbt_row) -> c_int;

    pub fn ts_sbt_totals_new(
        reader: *mut ts_sbt_reader,
        options: *const ts_sbt_cursor_options,
        ret_totals: *mut *mut ts_sbt_totals,
    ) -> c_int;
    pub fn ts_sbt_totals_free(totals: *mut ts_sbt_totals);
    pub fn ts_sbt_totals_count(totals: *const ts_sbt_totals) -> usize;
    pub fn ts_sbt_totals_at(totals: *const ts_sbt_totals, i: usize) -> *const ts_sbt_total;
    pub fn ts_sbt_totals_damaged(totals: *const ts_sbt_totals) -> u64;
    pub fn ts_sbt_total_row(total: *const ts_sbt_total, row: *mut c_void);

    pub fn ts_sbt_columns_new(
        reader: *mut ts_sbt_reader,
        options: *const ts_sbt_columns_options,
        ret_columns: *mut *mut ts_sbt_columns,
    ) -> c_int;
    pub fn ts_sbt_columns_ref(columns: *mut ts_sbt_columns) -> *mut ts_sbt_columns;
    pub fn ts_sbt_columns_free(columns: *mut ts_sbt_columns);
    pub fn ts_sbt_columns_rows(columns: *const ts_sbt_columns) -> u64;
    pub fn ts_sbt_columns_values(columns: *const ts_sbt_columns, column: c_int) -> *const c_void;
    pub fn ts_sbt_columns_sessions(columns: *const ts_sbt_columns) -> *const u32;
    pub fn ts_sbt_columns_damaged(columns: *const ts_sbt_columns) -> u64;

    pub fn ts_ask_json(
        reader: *mut ts_sbt_reader,
        session: u32,
        path: *const c_char,
        question: *const c_char,
        options_json: *const c_char,
        options: *const ts_ask_options,
        answer: *mut ts_json,
        ret_why: *mut c_char,
    ) -> c_int;
    pub fn ts_ask_picture(
        reader: *mut ts_sbt_reader,
        session: u32,
        path: *const c_char,
        question: *const c_char,
        options_json: *const c_char,
        width: u32,
        options: *const ts_ask_options,
        answer: *mut ts_json,
        ret_why: *mut c_char,
    ) -> c_int;
    pub fn ts_ask_json_diff(
        sides: *const ts_query_side,
        options_json: *const c_char,
        options: *const ts_ask_options,
        answer: *mut ts_json,
        ret_why: *mut c_char,
    ) -> c_int;
    pub fn ts_query_why(path: *const c_char, r: c_int, error: *const ts_sbt_error, ret_why: *mut c_char);
    pub fn ts_json_deinit(json: *mut ts_json);
    pub fn ts_json_message(json: *mut ts_json, message: *const ProtobufCMessage) -> c_int;

    pub fn ts_sbt_writer_new(fd: c_int, ret_writer: *mut *mut ts_sbt_writer) -> c_int;
    pub fn ts_sbt_writer_free(writer: *mut ts_sbt_writer);
    pub fn ts_sbt_writer_string(
        writer: *mut ts_sbt_writer,
        bytes: *const c_char,
        n_bytes: usize,
        ret_id: *mut u32,
    ) -> c_int;
    pub fn ts_sbt_writer_metadata(writer: *mut ts_sbt_writer, key: *const c_char, value: *const c_char) -> c_int;
    pub fn ts_sbt_writer_row(writer: *mut ts_sbt_writer, type_: c_uint, row: *const c_void) -> c_int;
    pub fn ts_sbt_writer_flush(writer: *mut ts_sbt_writer) -> c_int;
    pub fn ts_sbt_writer_finish(writer: *mut ts_sbt_writer) -> c_int;
    pub fn ts_sbt_session_writer_new(
        writer: *mut ts_sbt_writer,
        session: *const c_void,
        ret_session: *mut *mut ts_sbt_session_writer,
    ) -> c_int;
    pub fn ts_sbt_session_writer_free(session: *mut ts_sbt_session_writer);
    pub fn ts_sbt_session_writer_number(session: *const ts_sbt_session_writer) -> u32;
    pub fn ts_sbt_session_writer_update(session: *mut ts_sbt_session_writer, row: *const c_void) -> c_int;
    pub fn ts_sbt_session_writer_add_stack(
        session: *mut ts_sbt_session_writer,
        frames: *const u64,
        n_frames: u32,
        flags: u32,
        ret_id: *mut u32,
    ) -> c_int;
    pub fn ts_sbt_session_writer_add_thread(
        session: *mut ts_sbt_session_writer,
        row: *const c_void,
        ret_id: *mut u32,
    ) -> c_int;
    pub fn ts_sbt_session_writer_add_row(
        session: *mut ts_sbt_session_writer,
        type_: c_uint,
        row: *const c_void,
    ) -> c_int;
    pub fn ts_sbt_session_writer_seal(
        session: *mut ts_sbt_session_writer,
        checkpoint: *const c_void,
        n_checkpoint_bytes: usize,
    ) -> c_int;
    pub fn ts_sbt_session_writer_pending_rows(session: *const ts_sbt_session_writer) -> u64;

    pub fn ts_client_connect(path: *const c_char, ret_client: *mut *mut ts_client) -> c_int;
    pub fn ts_client_free(client: *mut ts_client);
    pub fn ts_client_error(client: *const ts_client) -> *const c_char;
    pub fn ts_client_status(client: *mut ts_client, ret_answer: *mut *mut ProtobufCMessage) -> c_int;
    pub fn ts_client_list_sessions(client: *mut ts_client, ret_answer: *mut *mut ProtobufCMessage) -> c_int;
    pub fn ts_client_open_trace(
        client: *mut ts_client,
        session: u32,
        pid: u32,
        ret_answer: *mut *mut ProtobufCMessage,
        ret_fd: *mut c_int,
    ) -> c_int;
    pub fn ts_client_flush(
        client: *mut ts_client,
        session: u32,
        timeout_ms: u32,
        ret_answer: *mut *mut ProtobufCMessage,
    ) -> c_int;
    pub fn ts__rpc__answer__free_unpacked(message: *mut ProtobufCMessage, allocator: *mut c_void);

    /// Of the C library, for memory that the library allocated with malloc().
    pub fn free(memory: *mut c_void);
}
