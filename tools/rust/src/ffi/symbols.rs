// SPDX-License-Identifier: Apache-2.0
//! Symbols and modules: `sbt/symbols.h`, `sbt/modules.h`.

use std::marker::PhantomData;
use std::os::raw::c_void;
use std::ptr::{self, NonNull};

use super::declare::*;
use super::reader::Reader;
use super::rows::{self, RawRow};
use crate::error::Error;
use crate::rows::{Module, RowType, Symbol};

/// Owns the symbols and the index of modules of a trace. The headers: one thread at a time, and the reader outlives the index.
/// Nothing is Send here, because `&Reader` is not.
pub struct Symbols<'t> {
    symbols: NonNull<ts_symbols>,
    modules: NonNull<ts_modules>,
    lives: PhantomData<&'t Reader>,
}

fn row_bytes(row_type: RowType) -> usize {
    rows::schema(row_type).map_or(0, |schema| schema.row_bytes as usize)
}

impl Symbols<'_> {
    pub fn new(reader: &Reader) -> Result<Symbols<'_>, Error> {
        let mut symbols = ptr::null_mut();
        // SAFETY: the reader lives.
        let result = unsafe { ts_symbols_new(reader.as_ptr(), &mut symbols) };
        reader.check(result)?;
        let symbols = NonNull::new(symbols).expect("new symbols");
        let mut modules = ptr::null_mut();
        // SAFETY: the reader lives.
        let result = unsafe { ts_modules_new(reader.as_ptr(), &mut modules) };
        match NonNull::new(modules) {
            Some(modules) if result == 0 => Ok(Symbols { symbols, modules, lives: PhantomData }),
            _ => {
                // SAFETY: the symbols are freed once; nothing refers to them.
                unsafe { ts_symbols_free(symbols.as_ptr()) };
                Err(reader.why(result))
            }
        }
    }

    pub fn any(&self) -> bool {
        // SAFETY: the symbols live.
        unsafe { ts_symbols_any(self.symbols.as_ptr()) }
    }

    /// Returns the module at an address, and its functions there, innermost first.
    pub fn find(&self, session: u32, address: u64, time_ns: u64) -> (Option<Module>, Vec<Symbol>) {
        // SAFETY: the modules live; the function accepts any numbers, and its row belongs to the reader.
        let module = unsafe { ts_modules_find(self.modules.as_ptr(), session, address, time_ns) };
        let mut n = 0;
        // SAFETY: the symbols live, and `module` is NULL or a row of their reader.
        let first = unsafe {
            ts_symbols_find(self.symbols.as_ptr(), session, module, address, &mut n, ptr::null_mut::<*const c_void>())
        };
        let symbols = if first.is_null() { 0..0 } else { 0..n };
        let stride = row_bytes(RowType::Symbol);
        let symbols = symbols.filter_map(|i| {
            // SAFETY: the function returned `n` rows behind each other, which belong to the symbols.
            unsafe { RawRow::new(RowType::Symbol as u32, 0, stride, first.cast::<u8>().add(i * stride).cast()) }.read()
        });
        let symbols = symbols.collect();
        if module.is_null() {
            return (None, symbols);
        }
        // SAFETY: the function returned a row of a module.
        let module = unsafe { RawRow::new(RowType::Module as u32, session, row_bytes(RowType::Module), module) };
        (module.read(), symbols)
    }
}

impl Drop for Symbols<'_> {
    fn drop(&mut self) {
        // SAFETY: both are freed once, before the reader.
        unsafe {
            ts_symbols_free(self.symbols.as_ptr());
            ts_modules_free(self.modules.as_ptr());
        }
    }
}
