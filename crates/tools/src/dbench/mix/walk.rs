//! The walk over one pass.

use super::super::loadfile::{Disposition, Loadfile, Op, OpCode, PathId, Slot};
use super::namespace::{self, Namespace, Node, Opened};
use super::{Got, MAX_UNEXPECTED, Mix, Unexpected};

/// Walks one pass of the loadfile.
pub(super) fn pass(loadfile: &Loadfile) -> Mix {
    let mut walk = Walk {
        mix: Mix::default(),
        namespace: Namespace::new(&loadfile.paths),
        lengths: path_measures(loadfile),
        open: vec![None; loadfile.slots],
    };
    let mut reads = 0;
    let mut before: Option<OpCode> = None;
    for (index, op) in loadfile.ops.iter().enumerate() {
        if index == loadfile.setup_end {
            walk.end_setup(index);
        }
        let code = op.code();
        walk.mix.counts[code.index()] += 1;
        if let Some(before) = before {
            walk.mix.successions[before.index()][code.index()] += 1;
        }
        before = Some(code);
        if code == OpCode::ReadX {
            reads += 1;
        } else if reads > 0 {
            walk.mix.read_runs.add(reads);
            reads = 0;
        }
        walk.step(op, loadfile.op_lines[index]);
    }
    if reads > 0 {
        walk.mix.read_runs.add(reads);
    }
    walk.mix
}

/// Length with `.` as base and number of components, for each path.
fn path_measures(loadfile: &Loadfile) -> Vec<(u64, u64)> {
    let measure = |text: &[u8]| {
        (
            text.len() as u64 + 1,
            namespace::components(text).count() as u64,
        )
    };
    loadfile
        .paths
        .iter()
        .map(|path| measure(path.text()))
        .collect()
}

/// An open handle.
#[derive(Debug, Clone, Copy)]
struct Handle {
    node: Node,
    path: PathId,
    /// The file still has a name.
    named: bool,
    /// Where the last read ended, if there was one.
    read_to: Option<u64>,
    /// Where the last write ended, if there was one.
    written_to: Option<u64>,
}

/// The walk under way.
struct Walk {
    mix: Mix,
    namespace: Namespace,
    lengths: Vec<(u64, u64)>,
    open: Vec<Option<Handle>>,
}

impl Walk {
    fn end_setup(&mut self, ops: usize) {
        self.mix.setup_ops = ops as u64;
        self.mix.setup_bytes = self.namespace.bytes();
        self.mix.setup_moved_bytes = self.mix.moved_bytes();
    }

    fn step(&mut self, op: &Op, line: u32) {
        for path in op.path().into_iter().chain(op.second_path()) {
            let (length, depth) = self.lengths[path.index()];
            self.mix.path_lengths.add(length);
            self.mix.path_depths.add(depth);
        }
        let got = match *op {
            Op::Create {
                path,
                slot,
                disposition,
                directory,
                ..
            } => self.create(path, slot, disposition, directory),
            Op::Rename { from, to, .. } => {
                let renamed = self.namespace.rename(from, to);
                self.lose_names(renamed.flatten());
                Got::status(renamed.is_some())
            }
            Op::Unlink { path, .. } => {
                let file = self.namespace.unlink(path);
                self.mix
                    .unlink_sizes
                    .extend(file.map(|file| self.namespace.size(file)));
                self.lose_names(file);
                Got::status(file.is_some())
            }
            Op::Deltree { path, .. } => {
                let files = self.namespace.delete_files_below(path);
                self.lose_names(files);
                Got::Success
            }
            Op::Rmdir { path, .. } => Got::status(self.namespace.remove_directory(path)),
            Op::Mkdir { path, .. } => Got::status(self.namespace.make_directory(path)),
            Op::QueryPath { path, .. } => self.query(path),
            Op::Find { pattern, .. } => self.find(pattern),
            Op::QueryFs { .. } | Op::Sleep { .. } => Got::Success,
            Op::Broken { handle, fault, .. } => Got::Broken { handle, fault },
            Op::Close { slot, .. }
            | Op::QueryFile { slot, .. }
            | Op::SetFile { slot, .. }
            | Op::Write { slot, .. }
            | Op::Read { slot, .. }
            | Op::Lock { slot, .. }
            | Op::Unlock { slot, .. }
            | Op::Flush { slot, .. } => match self.open[slot.index()] {
                Some(handle) => self.use_handle(op, slot, handle),
                None => Got::NotOpen,
            },
        };
        self.mix.peak_files = self.mix.peak_files.max(self.namespace.files());
        self.mix.peak_bytes = self.mix.peak_bytes.max(self.namespace.bytes());
        if !got.agrees(op.expect()) {
            self.mix.unexpected_count += 1;
            if self.mix.unexpected.len() < MAX_UNEXPECTED {
                self.mix.unexpected.push(Unexpected {
                    line,
                    code: op.code(),
                    expect: op.expect(),
                    got,
                });
            }
        }
    }

    fn create(
        &mut self,
        path: PathId,
        slot: Option<Slot>,
        disposition: Disposition,
        directory: bool,
    ) -> Got {
        let opened = if directory {
            self.namespace.make_directory(path);
            match self
                .namespace
                .lookup(path)
                .filter(|&node| self.namespace.is_directory(node))
            {
                Some(node) => Opened::Existing(node),
                None => Opened::Failed,
            }
        } else {
            let truncate = disposition == Disposition::Truncate;
            self.namespace.open(
                path,
                truncate || disposition == Disposition::Create,
                truncate,
            )
        };
        let opens = &mut self.mix.opens;
        let node = match opened {
            Opened::Failed => {
                opens.failed += 1;
                return Got::Failure;
            }
            Opened::Existing(node) => {
                *(if directory {
                    &mut opens.directories
                } else {
                    &mut opens.existing
                }) += 1;
                node
            }
            Opened::New(node) => {
                opens.new += 1;
                self.mix.largest_directory = self
                    .mix
                    .largest_directory
                    .max(self.namespace.files_beside(path));
                node
            }
        };
        if let Some(slot) = slot {
            let handle = Handle {
                node,
                path,
                named: true,
                read_to: None,
                written_to: None,
            };
            self.open[slot.index()] = Some(handle);
            self.mix.peak_handles = self
                .mix
                .peak_handles
                .max(self.open.iter().flatten().count());
        }
        Got::Success
    }

    fn query(&mut self, path: PathId) -> Got {
        let queries = &mut self.mix.queries;
        match self.namespace.lookup(path) {
            None => {
                queries.missing += 1;
                return Got::Failure;
            }
            Some(node) if self.namespace.is_directory(node) => queries.directory += 1,
            Some(_) => queries.file += 1,
        }
        Got::Success
    }

    fn find(&mut self, pattern: PathId) -> Got {
        let finds = &mut self.mix.finds;
        if let Some(entries) = self.namespace.entries_beside(pattern) {
            finds.entries.add(entries as u64);
        }
        let matched = self.namespace.any_match(pattern);
        *(if matched {
            &mut finds.matched
        } else {
            &mut finds.unmatched
        }) += 1;
        Got::status(matched)
    }

    fn use_handle(&mut self, op: &Op, slot: Slot, mut handle: Handle) -> Got {
        let is_directory = self.namespace.is_directory(handle.node);
        let got = match *op {
            Op::Close { .. } => {
                self.close(handle);
                self.open[slot.index()] = None;
                return Got::Success;
            }
            // The times are set by the name the handle was opened by, which may be gone.
            Op::SetFile { .. } => Got::status(self.namespace.lookup(handle.path).is_some()),
            // A directory is open for reading only: it takes neither data nor write locks.
            Op::Write { .. } | Op::Read { .. } | Op::Lock { .. } if is_directory => Got::Failure,
            Op::Write {
                offset,
                size,
                expected,
                ..
            } => {
                self.write(&mut handle, offset, size);
                Got::length(expected, size)
            }
            Op::Read {
                offset,
                size,
                expected,
                ..
            } => {
                let there = self.namespace.size(handle.node).saturating_sub(offset);
                self.mix.read_sizes.add(u64::from(size));
                self.mix.sequential_reads += u64::from(handle.read_to == Some(offset));
                handle.read_to = Some(offset + u64::from(size));
                Got::length(expected, u32::try_from(there).unwrap_or(u32::MAX).min(size))
            }
            _ => Got::Success,
        };
        self.open[slot.index()] = Some(handle);
        got
    }

    fn write(&mut self, handle: &mut Handle, offset: u64, size: u32) {
        let end = offset + u64::from(size);
        let length = self.namespace.size(handle.node);
        let positions = &mut self.mix.positions;
        *(if size == 1 && offset > length {
            &mut positions.hole
        } else if offset > length {
            &mut positions.beyond
        } else if offset == length {
            &mut positions.at_end
        } else if end > length {
            &mut positions.crossing
        } else {
            &mut positions.overwrite
        }) += 1;
        self.mix.write_sizes.add(u64::from(size));
        self.mix.sequential_writes += u64::from(handle.written_to == Some(offset));
        handle.written_to = Some(end);
        if size > 0 {
            self.namespace.grow(handle.node, end, handle.named);
        }
    }

    fn close(&mut self, handle: Handle) {
        let lives = &mut self.mix.handles;
        *(match (handle.read_to, handle.written_to) {
            (None, None) => &mut lives.idle,
            (Some(_), None) => &mut lives.read,
            (None, Some(_)) => &mut lives.written,
            (Some(_), Some(_)) => &mut lives.both,
        }) += 1;
        if !self.namespace.is_directory(handle.node) {
            self.mix.close_sizes.add(self.namespace.size(handle.node));
        }
    }

    /// Open handles of these files no longer count towards the bytes under a name.
    fn lose_names(&mut self, files: impl IntoIterator<Item = Node>) {
        for file in files {
            for handle in self
                .open
                .iter_mut()
                .flatten()
                .filter(|handle| handle.node == file)
            {
                handle.named = false;
            }
        }
    }
}
