// SPDX-License-Identifier: Apache-2.0
//! Traces of the crate's own writer: what was written is read, by rows, columns, totals and questions.

use std::fs::File;

use tracesmith::rows::{Api, Counter, Device, Kernel, Mark, Memory, Range, RowType, Session, Thread};
use tracesmith::values::api_domain;
use tracesmith::{
    call_name, Cancel, Columns, ErrorKind, FileState, Filter, StackId, StringId, Trace, Writer, NO_DEVICE,
};

use crate::Path;

const START_NS: u64 = 1_000_000;

/// Two sessions, written by two threads: each has 100 kernels on two streams, of 5 names, and their calls.
fn write(path: &Path) {
    let writer = Writer::create(&path.0).unwrap();
    writer.metadata("hostname", "test").unwrap();
    std::thread::scope(|scope| {
        for pid in [10, 20] {
            let writer = &writer;
            scope.spawn(move || write_session(writer, pid));
        }
    });
    writer.finish().unwrap();
}

fn write_session(writer: &Writer, pid: u32) {
    let program = writer.string(format!("program {pid}")).unwrap();
    let row = Session { pid, start_ns: START_NS, program, ..Default::default() };
    let mut session = writer.session(row).unwrap();
    let thread = session.thread(&Thread { start_ns: START_NS, tid: pid, ..Default::default() }).unwrap();
    let stack = session.stack(&[0x1000, 0x2000, 0x3000]).unwrap();
    assert_eq!((thread, stack), (1, StackId(1)));
    session.device(&Device { device: 0, ..Default::default() }).unwrap();
    for i in 0..100u64 {
        let start_ns = START_NS + i * 1000;
        let name = writer.string(format!("kernel_{}", i % 5)).unwrap();
        let op_id = i + 1;
        session
            .add(&Api {
                start_ns,
                end_ns: start_ns + 100,
                op_id,
                thread,
                stack,
                domain: api_domain::CUDA_DRIVER as u16,
                cbid: 307,
                ..Default::default()
            })
            .unwrap();
        session
            .add(&Kernel {
                start_ns: start_ns + 200,
                end_ns: start_ns + 200 + op_id,
                op_id,
                context: 1,
                stream: 7 + (i % 2) as u32,
                name,
                grid_x: 4,
                block_x: 32,
                ..Default::default()
            })
            .unwrap();
    }
    let memory = Memory { start_ns: START_NS, address: 0x7000, bytes: 4096, stream: NO_DEVICE, ..Default::default() };
    session.add_as(RowType::Alloc, &memory).unwrap();
    session.add_as(RowType::Free, &Memory { start_ns: START_NS + 99_000, ..memory }).unwrap();
    assert_eq!(session.add(&memory).unwrap_err().kind(), session.add_as(RowType::Kernel, &memory).unwrap_err().kind());
    session.add(&Counter { start_ns: START_NS, value: 0.5, integer: -3, ..Default::default() }).unwrap();
    session.end(START_NS + 100_000).unwrap();
}

#[test]
fn what_was_written_is_read() {
    let path = Path::new("own.sbt");
    write(&path);
    let trace = Trace::open(&path.0).unwrap();
    assert_eq!((trace.state(), trace.tail_bytes(), trace.format().as_str()), (FileState::Finished, 0, "SBT 1.1"));
    assert_eq!((trace.origin_ns(), trace.instant_ns(1.5)), (START_NS, START_NS + 1_500_000_000));
    assert!(trace.metadata().contains(&("hostname".to_string(), "test".to_string())));
    assert!(trace.lost_definitions().is_none());

    let mut programs: Vec<_> =
        trace.sessions().iter().map(|row| trace.string(row.program).unwrap().into_owned()).collect();
    programs.sort();
    assert_eq!(programs, ["program 10", "program 20"]);
    assert_eq!((trace.threads().len(), trace.devices().len(), trace.modules().len()), (2, 2, 0));
    assert_eq!(trace.threads()[0].tid, trace.sessions()[0].pid);
    assert_eq!(trace.stack(1, StackId(1)).unwrap(), [0x1000, 0x2000, 0x3000]);
    assert_eq!(trace.stack(1, StackId(0)).unwrap(), []);
    assert_eq!(trace.string(StringId(0)).unwrap(), "");
    assert!(trace.stack(1, StackId(9)).is_err() && trace.string(StringId(9999)).is_err() && trace.blob(1, 1).is_err());

    let kernels: Vec<_> = trace.rows::<Kernel>(&Filter::new()).unwrap().map(Result::unwrap).collect();
    assert_eq!(kernels.len(), 200);
    assert!(kernels.windows(2).all(|pair| pair[0].start_ns <= pair[1].start_ns));
    for kernel in kernels.iter().filter(|kernel| kernel.session == 2) {
        let i = kernel.op_id - 1;
        assert_eq!((kernel.start_ns, kernel.end_ns), (START_NS + i * 1000 + 200, START_NS + i * 1000 + 201 + i));
        assert_eq!(trace.string(kernel.name).unwrap(), format!("kernel_{}", i % 5));
        assert_eq!((kernel.grid_x, kernel.block_x, kernel.stream), (4, 32, 7 + (i % 2) as u32));
    }
    let counter = trace.rows::<Counter>(&Filter::new()).unwrap().next().unwrap().unwrap();
    assert_eq!((counter.value, counter.integer), (0.5, -3));
    // Both types of one struct.
    let memory: Vec<_> = trace.rows::<Memory>(&Filter::new()).unwrap().map(|row| row.unwrap().row_type).collect();
    assert_eq!(memory, [RowType::Alloc, RowType::Alloc, RowType::Free, RowType::Free]);

    let summary = trace.summary(0).unwrap();
    assert_eq!(
        (summary.count(RowType::Kernel), summary.count(RowType::Alloc), summary.bytes(RowType::Alloc)),
        (200, 2, 8192)
    );
    assert_eq!(trace.summary(1).unwrap().count(RowType::Api), 100);
    assert_eq!((summary.lost(), summary.earliest_ns()), (vec![], START_NS));
    assert!(summary.stored_bytes(RowType::Kernel) > 0 && summary.duration_ns(RowType::Kernel) == 2 * 5050);

    let events = trace.events(&[], &Filter::new()).unwrap().map(Result::unwrap);
    assert_eq!(events.filter(|event| event.start_ns() <= event.end_ns()).count(), 200 + 200 + 4 + 2);
    assert!(trace.events(&[RowType::Session], &Filter::new()).is_err());
}

#[test]
fn filters_select() {
    let path = Path::new("filters.sbt");
    write(&path);
    let trace = Trace::open(&path.0).unwrap();
    let all: Vec<_> = trace.rows::<Kernel>(&Filter::new()).unwrap().map(Result::unwrap).collect();
    let middle = START_NS + 50_000;
    let name = |id| trace.string(id).unwrap().into_owned();
    type Wanted<'a> = Box<dyn Fn(u32, &Kernel) -> bool + 'a>;
    let cases: Vec<(Filter, Wanted)> = vec![
        (Filter::new().session(2), Box::new(|session, _| session == 2)),
        (Filter::new().stream(8), Box::new(|_, row| row.stream == 8)),
        (Filter::new().device(0).context(1).stream(7), Box::new(|_, row| row.stream == 7)),
        (Filter::new().name("kernel_3"), Box::new(|_, row| name(row.name) == "kernel_3")),
        (Filter::new().name("*_?").session(1), Box::new(|session, _| session == 1)),
        (Filter::new().name("k*l_[3]"), Box::new(|_, _| false)),
        (Filter::new().name("kernel"), Box::new(|_, _| false)),
        (Filter::new().from_ns(middle), Box::new(|_, row| row.end_ns >= middle)),
        (
            Filter::new().to_ns(middle).name("kernel_1"),
            Box::new(|_, row| row.start_ns <= middle && name(row.name) == "kernel_1"),
        ),
        (Filter::new().to_ns(0), Box::new(|_, _| false)),
    ];
    for (filter, is_wanted) in cases {
        let mut wanted: Vec<_> =
            all.iter().filter(|item| is_wanted(item.session, item)).map(|item| (item.session, item.op_id)).collect();
        let mut rows: Vec<_> = trace
            .rows::<Kernel>(&filter)
            .unwrap()
            .map(|item| item.map(|item| (item.session, item.op_id)).unwrap())
            .collect();
        let columns = trace.select::<Kernel>(&filter, &[&Kernel::OP_ID, &Kernel::START_NS]).unwrap();
        let mut of_columns: Vec<_> =
            columns.sessions().iter().copied().zip(columns.get(Kernel::OP_ID).unwrap().iter().copied()).collect();
        let events = trace.events(&[RowType::Kernel, RowType::Api], &filter).unwrap();
        let n_events = events.filter(|event| event.as_ref().unwrap().row_type == RowType::Kernel).count();
        wanted.sort_unstable();
        rows.sort_unstable();
        of_columns.sort_unstable();
        assert_eq!(rows, wanted, "{filter:?}");
        assert_eq!(of_columns, wanted, "{filter:?}");
        assert_eq!(n_events, wanted.len(), "{filter:?}");
        assert_eq!((columns.len(), columns.is_empty()), (wanted.len(), wanted.is_empty()));
        // A column that was not selected is no empty slice.
        assert!(columns.get(Kernel::END_NS).unwrap_err().to_string().contains("end_ns was not selected"));
    }
    // Rows of kernels have no thread.
    assert_eq!(trace.columns::<Kernel>(&Filter::new().thread(1)).unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(trace.columns::<Counter>(&Filter::new().name("x")).unwrap().len(), 0);
    assert_eq!(trace.columns::<Memory>(&Filter::new()).unwrap_err().code(), -22);
    assert_eq!(trace.rows::<Api>(&Filter::new().thread(1)).unwrap().count(), 200);
    // Calls have names, too, and numbers of calls are no ids of texts.
    let launches = Filter::new().name("cuLaunch*").session(1);
    assert_eq!(trace.rows::<Api>(&launches).unwrap().count(), 100);
    assert_eq!(trace.columns::<Api>(&launches).unwrap().len(), 100);
    assert_eq!(trace.columns::<Api>(&Filter::new().name("cuMem*")).unwrap().len(), 0);
    assert_eq!(trace.events(&[], &launches).unwrap().count(), 100);
    assert_eq!(trace.rows::<Api>(&Filter::new().name("kernel_*")).unwrap().count(), 0);
    assert_eq!((call_name(1, 307), call_name(2, 9999)), ("cuLaunchKernel".to_string(), "runtime#9999".to_string()));
    assert!(trace.columns::<Memory>(&Filter::new()).unwrap_err().to_string().contains("alloc, free"));
    assert_eq!(trace.select_of::<Memory>(RowType::Free, &Filter::new(), &[]).unwrap().len(), 2);
    assert!(trace.select_of::<Memory>(RowType::Mark, &Filter::new(), &[]).is_err());
    let sessions = trace.columns::<Session>(&Filter::new()).unwrap();
    assert_eq!(sessions.get(Session::UUID).unwrap().len(), 2);
    assert!(trace.columns::<Session>(&Filter::new().from_ns(1)).is_err());
    assert_eq!(trace.columns::<Mark>(&Filter::new()).unwrap().get(Mark::START_NS).unwrap(), []);
}

/// Columns outlive the trace, and threads share them.
#[test]
fn columns_belong_to_nobody() {
    let path = Path::new("columns.sbt");
    write(&path);
    let trace = Trace::open(&path.0).unwrap();
    let columns = trace.columns::<Kernel>(&Filter::new()).unwrap();
    let clone = columns.clone();
    let first = columns.get(Kernel::START_NS).unwrap().as_ptr();
    drop(trace);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let durations = columns.get(Kernel::END_NS).unwrap().iter().zip(columns.get(Kernel::START_NS).unwrap());
                assert_eq!(durations.map(|(end, start)| end - start).sum::<u64>(), 2 * 5050);
            });
        }
    });
    drop(columns);
    // The clone is the same memory.
    assert_eq!(clone.get(Kernel::START_NS).unwrap().as_ptr(), first);
    assert_eq!(std::thread::spawn(move || clone.len()).join().unwrap(), 200);
}

/// Blocks have the rows of the columns, and belong to nobody either.
#[test]
fn blocks_are_parts_of_columns() {
    let path = Path::new("blocks.sbt");
    write(&path);
    let trace = Trace::open(&path.0).unwrap();
    let columns = trace.columns::<Kernel>(&Filter::new()).unwrap();
    let blocks = trace.blocks::<Kernel>(&Filter::new(), &[&Kernel::OP_ID, &Kernel::NAME]).unwrap();
    let blocks: Vec<_> = blocks.map(Result::unwrap).collect();
    let of_session = trace.blocks::<Kernel>(&Filter::new().session(2), &[]).unwrap().map(Result::unwrap);
    assert!(of_session.map(|block| (block.session(), block.len())).eq([(2, 100)]));
    assert_eq!(trace.blocks::<Kernel>(&Filter::new().from_ns(START_NS + 1_000_000), &[]).unwrap().count(), 0);
    assert_eq!(trace.blocks::<Memory>(&Filter::new(), &[]).unwrap().count(), 4);
    assert!(trace.blocks::<Kernel>(&Filter::new().stream(7), &[]).is_err());
    drop(trace);
    let op_ids: Vec<_> = blocks.iter().flat_map(|block| block.get(Kernel::OP_ID).unwrap()).copied().collect();
    assert_eq!(columns.get(Kernel::OP_ID).unwrap(), op_ids);
    assert!(blocks.iter().all(|block| block.get(Kernel::END_NS).is_err() && block.row_type() == RowType::Kernel));
    assert!(
        std::thread::spawn(move || blocks[0].get(Kernel::NAME).map(|names| names.len())).join().unwrap() == Ok(100)
    );
}

/// The threads that the headers permit.
#[test]
fn threads_are_those_of_the_headers() {
    fn is_send<T: Send>() {}
    fn is_sync<T: Sync>() {}
    is_send::<Trace>();
    is_send::<tracesmith::Client>();
    is_send::<tracesmith::SessionWriter<'_>>();
    is_send::<Columns<Kernel>>();
    is_sync::<Columns<Kernel>>();
    is_send::<tracesmith::Block<Kernel>>();
    is_sync::<tracesmith::Block<Kernel>>();
    is_send::<Writer>();
    is_sync::<Writer>();
    is_send::<Cancel>();
    is_sync::<Cancel>();
    is_send::<tracesmith::Error>();
    is_sync::<tracesmith::Error>();
}

#[test]
fn totals_are_sums_of_rows() {
    let path = Path::new("totals.sbt");
    write(&path);
    let trace = Trace::open(&path.0).unwrap();
    let totals = trace.totals::<Kernel>(&Filter::new()).unwrap();
    assert_eq!(totals.len(), 5);
    for total in totals {
        let name = trace.string(total.row.name).unwrap();
        let rows: Vec<_> = trace.rows::<Kernel>(&Filter::new().name(&name)).unwrap().map(Result::unwrap).collect();
        let durations: Vec<_> = rows.iter().map(|row| row.end_ns - row.start_ns).collect();
        assert_eq!((total.count, total.duration_ns), (durations.len() as u64, durations.iter().sum()));
        assert_eq!((Some(&total.min_ns), Some(&total.max_ns)), (durations.iter().min(), durations.iter().max()));
    }
    let calls = trace.totals::<Api>(&Filter::new().session(1)).unwrap();
    assert_eq!(calls.iter().map(|total| (total.row.cbid, total.count)).collect::<Vec<_>>(), [(307, 100)]);
}

/// A file that is being written: it is read as far as it goes, also by its descriptor.
#[test]
fn growing_files_are_read_on() {
    let path = Path::new("growing.sbt");
    let writer = Writer::create(&path.0).unwrap();
    let mut session = writer.session(Session { pid: 1, start_ns: 1, ..Default::default() }).unwrap();
    let name = writer.string("first").unwrap();
    session.add(&Range { start_ns: 1, end_ns: 2, name, ..Default::default() }).unwrap();
    session.seal().unwrap();

    let file = File::open(&path.0).unwrap();
    let mut trace = Trace::from_fd(&file).unwrap();
    drop(file);
    assert_eq!(trace.state(), FileState::Growing);
    assert_eq!(trace.rows::<Range>(&Filter::new()).unwrap().count(), 1);
    session.add(&Range { start_ns: 3, end_ns: 4, ..Default::default() }).unwrap();
    session.end(5).unwrap();
    assert_eq!(trace.rows::<Range>(&Filter::new()).unwrap().count(), 1);
    trace.refresh().unwrap();
    assert_eq!(trace.rows::<Range>(&Filter::new()).unwrap().count(), 2);
    drop(writer);
    trace.refresh().unwrap();
    assert_eq!(trace.state(), FileState::Truncated);

    let again = Writer::create(&path.0).err().expect("an error");
    assert_eq!(again.kind(), ErrorKind::System(std::io::ErrorKind::AlreadyExists));
    let full = Writer::from_fd(File::options().write(true).open("/dev/full").unwrap()).err().expect("an error");
    assert_eq!(full.code(), -28, "{full}");
}

#[test]
fn another_thread_cancels() {
    let path = Path::new("cancel.sbt");
    write(&path);
    let mut trace = Trace::open(&path.0).unwrap();
    let cancel = Cancel::new();
    trace.set_cancel(Some(&cancel));
    assert!(trace.info().is_ok());
    let other = cancel.clone();
    std::thread::spawn(move || other.cancel()).join().unwrap();
    assert!(cancel.is_cancelled());
    let kinds = [
        trace.analyze().map(drop).unwrap_err().kind(),
        trace.columns::<Kernel>(&Filter::new()).map(drop).unwrap_err().kind(),
        trace.rows::<Kernel>(&Filter::new()).and_then(|mut rows| rows.next().unwrap().map(drop)).unwrap_err().kind(),
    ];
    assert_eq!(kinds, [ErrorKind::Cancelled; 3]);
    cancel.reset();
    assert_eq!(trace.columns::<Kernel>(&Filter::new()).unwrap().len(), 200);
    trace.set_cancel(None);
    cancel.cancel();
    drop(cancel);
    assert_eq!(trace.rows::<Kernel>(&Filter::new()).unwrap().count(), 200);
    // A trace moves to another thread.
    std::thread::spawn(move || assert!(trace.analyze().is_ok())).join().unwrap();
}
