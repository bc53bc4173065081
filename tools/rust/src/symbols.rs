// SPDX-License-Identifier: Apache-2.0
//! Names of the frames of host stacks.

use crate::error::Result;
use crate::ffi;
use crate::row::{StackId, StringId};
use crate::trace::Trace;

const KIND_SHIFT: u32 = 60;
const PYTHON: u64 = 1;
const LINE_BITS: u32 = 28;

/// A function on a host stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// Address in the process; 0: a function of Python.
    pub address: u64,
    /// Name of the function; None: unknown.
    pub function: Option<String>,
    /// Path of the source file.
    pub file: Option<String>,
    /// Line in the source file.
    pub line: Option<u32>,
    /// Path of the program or library that is mapped at the address.
    pub module: Option<String>,
    /// The compiler inlined the function into the next one.
    pub inlined: bool,
}

/// Names of a trace's frames: [`Trace::symbols`].
pub struct Symbols<'t> {
    symbols: ffi::Symbols<'t>,
    trace: &'t Trace,
}

impl Symbols<'_> {
    /// Returns whether the trace has symbols of native code. `tsctl symbolize` adds them.
    pub fn any(&self) -> bool {
        self.symbols.any()
    }

    /// Returns the functions of a stack, innermost first. A frame with inlined functions has several. `time_ns` selects
    /// the modules that were mapped then: the start of the row that has the stack.
    pub fn frames(&self, session: u32, stack: StackId, time_ns: u64) -> Result<Vec<Frame>> {
        let mut frames = Vec::new();
        for (i, &frame) in self.trace.stack(session, stack)?.iter().enumerate() {
            if frame >> KIND_SHIFT == PYTHON {
                frames.push(self.python(frame)?);
            } else {
                self.add_native(session, frame, i, time_ns, &mut frames)?;
            }
        }
        Ok(frames)
    }

    /// A frame of Python: a text of function and file, and a line.
    fn python(&self, frame: u64) -> Result<Frame> {
        let value = frame & ((1 << KIND_SHIFT) - 1);
        let text = self.trace.string(StringId((value >> LINE_BITS) as u32))?;
        let line = (value & ((1 << LINE_BITS) - 1)) as u32;
        let (function, file) = text.split_once('\n').unwrap_or((&text, ""));
        Ok(Frame {
            function: given(function),
            file: given(file),
            line: Some(line).filter(|&line| line > 0),
            ..Default::default()
        })
    }

    fn add_native(&self, session: u32, frame: u64, i: usize, time_ns: u64, frames: &mut Vec<Frame>) -> Result<()> {
        // An outer frame is a return address, so the call lies before it.
        let call = if i > 0 && frame > 0 { frame - 1 } else { frame };
        let (module, symbols) = self.symbols.find(session, call, time_ns);
        let module = match module {
            Some(module) => given(&self.trace.string(module.path)?),
            None => None,
        };
        if symbols.is_empty() {
            frames.push(Frame { address: frame, module, ..Default::default() });
            return Ok(());
        }
        let n = symbols.len();
        for (place, symbol) in symbols.into_iter().enumerate() {
            frames.push(Frame {
                address: frame,
                function: given(&self.trace.string(symbol.function)?),
                file: given(&self.trace.string(symbol.file)?),
                line: Some(symbol.line).filter(|&line| line > 0),
                module: module.clone(),
                inlined: place + 1 < n,
            });
        }
        Ok(())
    }
}

fn given(text: &str) -> Option<String> {
    Some(text.to_string()).filter(|text| !text.is_empty())
}

impl Trace {
    /// Reads the symbols and the mapped files of the trace, to name the frames of its stacks.
    pub fn symbols(&self) -> Result<Symbols<'_>> {
        Ok(Symbols { symbols: ffi::Symbols::new(&self.reader)?, trace: self })
    }
}
