//! The loadfile's handle numbers, turned into slots before anything runs.

use super::{HandleFault, Slot};

/// How many handles a client may hold open at one time, as in dbench.
pub const MAX_HANDLES: usize = 200;

/// The handles open at the current line.
///
/// A number that is opened twice takes a second slot, and both lookups and closes find the lower
/// slot first: dbench's table works that way, and what it does with such a file is the reference.
#[derive(Debug, Default)]
pub(super) struct Handles {
    /// For each slot the number it is open under and the line that opened it.
    slots: Vec<Option<Open>>,
}

#[derive(Debug, Clone, Copy)]
struct Open {
    handle: i32,
    line: u32,
}

impl Handles {
    /// The slot in which `handle` is open.
    pub(super) fn find(&self, handle: i32) -> Option<Slot> {
        self.position(|open| open.is_some_and(|open| open.handle == handle))
    }

    /// The line that opened `handle`, if it is open.
    pub(super) fn opened_at(&self, handle: i32) -> Option<u32> {
        self.slots
            .iter()
            .flatten()
            .find(|open| open.handle == handle)
            .map(|open| open.line)
    }

    /// Takes the lowest free slot.
    pub(super) fn open(&mut self, handle: i32, line: u32) -> Result<Slot, HandleFault> {
        if let Some(slot) = self.position(|open| open.is_none()) {
            self.slots[slot.index()] = Some(Open { handle, line });
            return Ok(slot);
        }
        if self.slots.len() == MAX_HANDLES {
            return Err(HandleFault::TableFull);
        }
        self.slots.push(Some(Open { handle, line }));
        Ok(slot_number(self.slots.len() - 1))
    }

    pub(super) fn close(&mut self, slot: Slot) {
        self.slots[slot.index()] = None;
    }

    /// How many slots were ever used at one time.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// The slots that are open now, with the number and line of each.
    pub(super) fn still_open(&self) -> impl Iterator<Item = (Slot, i32, u32)> {
        let open = |(index, open): (usize, &Option<Open>)| {
            open.map(|open| (slot_number(index), open.handle, open.line))
        };
        self.slots.iter().enumerate().filter_map(open)
    }

    fn position(&self, matches: impl Fn(Option<Open>) -> bool) -> Option<Slot> {
        self.slots
            .iter()
            .position(|&open| matches(open))
            .map(slot_number)
    }
}

fn slot_number(index: usize) -> Slot {
    Slot(u8::try_from(index).expect("MAX_HANDLES slots are numbered by a byte"))
}

const _: () = assert!(MAX_HANDLES <= 256, "Slot holds a byte");
