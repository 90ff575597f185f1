//! The steps that bursts are made of, and the stocks of sizes they draw from.

use super::desk::Office;
use super::random::{Bag, Random};
use super::script::{File, Handle, Script};
use super::setup::{DOCUMENT_BYTES, LARGEST_BYTES, TRANSFER_BYTES};

/// Something a user makes a program do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Read a document, write a new version, put it in the place of the old one.
    SaveDocument,
    /// The same with the letter.
    SaveLetter,
    /// Read a document in the largest pieces.
    ReadFast,
    /// Read a document page by page.
    ReadSlowly,
    /// Read a part of a document page by page.
    ReadPart,
    /// Read some pages here and there.
    Jump,
    /// Read many pages here and there.
    JumpFar,
    /// Read two or three pages here and there.
    Glance,
    /// Read once.
    Peek,
    /// Read, and write past the end of the note.
    Append,
    /// Read, and write over a part of a document, in pieces of these sizes.
    Revise(&'static [u64]),
    /// Open many tables, read and write them in turn, close them all.
    Session { tables: usize },
    /// Lock a document, unlock it.
    Lock,
    /// Write a file of 2 KiB.
    Slip,
    /// Write a file of 4.5 KiB.
    Ledger,
    /// Write a file of 4 KiB that begins as 16 bytes.
    Marker,
    /// Make a file and leave it empty.
    Empty,
    /// Export a drawing.
    Drawing,
    /// Print to a file.
    Print,
    /// Read one of the large seeds.
    ReadLargeSeed,
    /// Read the largest seed.
    ReadLargestSeed,
    /// Read the index of the seeds page by page.
    ReadIndex,
}

/// A page, in bytes.
const PAGE_BYTES: u64 = 4_096;

/// The largest read that an SMB client of that time makes, in bytes.
const READ_BYTES: u64 = 61_440;

/// The size of a letter, in bytes.
const LETTER_BYTES: u64 = 74_834;

/// The size of an exported drawing, in bytes.
const DRAWING_BYTES: u64 = 625_081;

/// Which file is looked at in passing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shelf {
    Note,
    Letter,
    Document,
    Index,
    Large,
    /// The temporary file that was made last.
    Temporary,
}

/// The stocks that are drawn from.
#[derive(Debug)]
pub(super) struct Decks {
    read_shelves: Bag<Shelf>,
    idle_shelves: Bag<Shelf>,
    single_reads: Bag<u64>,
    session_writes: Bag<u64>,
    slip_writes: Bag<u64>,
    ledger_writes: Bag<u64>,
    extensions: Bag<&'static str>,
    query_levels: Bag<u32>,
    /// Whether a listing is of the work folder rather than of the application's own.
    lists_work: Bag<bool>,
    /// Whether a new version is lengthened to its full size before it is written.
    full_extension: Bag<bool>,
    /// Whether a file is asked for before it is removed.
    query_before_unlink: Bag<bool>,
}

impl Decks {
    pub(super) fn new() -> Decks {
        Decks {
            // The sizes that files have when they are closed come from here.
            read_shelves: Bag::of(&[
                (Shelf::Note, 30),
                (Shelf::Letter, 25),
                (Shelf::Document, 25),
                (Shelf::Index, 14),
                (Shelf::Large, 6),
            ]),
            idle_shelves: Bag::of(&[
                (Shelf::Temporary, 25),
                (Shelf::Note, 15),
                (Shelf::Letter, 20),
                (Shelf::Document, 20),
                (Shelf::Index, 14),
                (Shelf::Large, 6),
            ]),
            single_reads: Bag::of(&[
                (4, 8),
                (32, 8),
                (100, 6),
                (128, 8),
                (256, 10),
                (512, 12),
                (1_024, 12),
                (1_536, 16),
                (2_048, 29),
                (2_560, 5),
                (3_072, 8),
                (4_096, 10),
                (6_144, 4),
                (8_192, 35),
                (16_384, 7),
                (32_768, 2),
            ]),
            session_writes: Bag::of(&[
                (96, 1),
                (300, 1),
                (512, 2),
                (2_560, 1),
                (3_584, 1),
                (4_096, 27),
                (6_656, 1),
                (7_168, 1),
                (8_192, 8),
                (16_384, 1),
            ]),
            slip_writes: Bag::of(&[
                (1_216, 1),
                (1_472, 1),
                (1_536, 1),
                (1_728, 1),
                (1_984, 1),
                (2_048, 10),
            ]),
            ledger_writes: Bag::of(&[(224, 1), (388, 1), (448, 1), (512, 3)]),
            extensions: Bag::of(&[("LCK", 3), ("TMQ", 2), ("NET", 2), ("OVL", 1)]),
            // 52,459 and 19,355 of the standard file's queries.
            query_levels: Bag::of(&[(1004, 73), (1035, 27)]),
            // Nearly all listings of the standard file are of a directory of nine.
            lists_work: Bag::of(&[(true, 11), (false, 1)]),
            full_extension: Bag::of(&[(true, 1), (false, 3)]),
            query_before_unlink: Bag::of(&[(true, 3), (false, 1)]),
        }
    }

    pub(super) fn extension(&mut self, random: &mut Random) -> &'static str {
        self.extensions.draw(random)
    }

    pub(super) fn lists_work(&mut self, random: &mut Random) -> bool {
        self.lists_work.draw(random)
    }

    pub(super) fn query_level(&mut self, random: &mut Random) -> u32 {
        self.query_levels.draw(random)
    }
}

impl Office {
    /// A file that can be read.
    fn any_readable(&mut self, desk: usize) -> File {
        let shelf = self.decks.read_shelves.draw(&mut self.random);
        self.take(desk, shelf)
    }

    /// A file that exists.
    pub(super) fn any_existing(&mut self, desk: usize) -> File {
        let shelf = self.decks.idle_shelves.draw(&mut self.random);
        self.take(desk, shelf)
    }

    fn take(&mut self, desk: usize, shelf: Shelf) -> File {
        let desk = &self.desks[desk];
        match shelf {
            Shelf::Note => desk.note,
            Shelf::Letter => desk.letter,
            Shelf::Document => self.random.pick(&desk.documents),
            Shelf::Index => self.seeds.index,
            Shelf::Large => self.random.pick(&self.seeds.large),
            Shelf::Temporary => desk.lying.back().copied().unwrap_or(desk.note),
        }
    }

    fn document(&mut self, desk: usize) -> File {
        self.random.pick(&self.desks[desk].documents)
    }

    pub(super) fn step(&mut self, desk: usize, step: Step) {
        match step {
            Step::SaveDocument => {
                let document = self.document(desk);
                self.save(desk, document, DOCUMENT_BYTES, READ_BYTES);
            }
            Step::SaveLetter => self.save(desk, self.desks[desk].letter, LETTER_BYTES, PAGE_BYTES),
            Step::ReadFast => {
                let document = self.document(desk);
                self.read_through(document, READ_BYTES, DOCUMENT_BYTES);
            }
            Step::ReadSlowly => {
                let document = self.document(desk);
                self.read_through(document, PAGE_BYTES, DOCUMENT_BYTES);
            }
            Step::ReadPart => {
                let document = self.document(desk);
                let pages = 24 + self.random.below(17);
                self.read_through(document, PAGE_BYTES, pages * PAGE_BYTES);
            }
            Step::Jump => {
                let document = self.document(desk);
                let pages = 7 + self.random.below(7);
                self.read_pages(document, pages);
            }
            Step::JumpFar => {
                let document = self.document(desk);
                let pages = 24 + self.random.below(17);
                self.read_pages(document, pages);
            }
            Step::Glance => {
                let document = self.document(desk);
                let pages = 2 + self.random.below(2);
                self.read_pages(document, pages);
            }
            Step::Peek => {
                let file = self.any_readable(desk);
                let mut handle = self.script.open(file);
                self.read_once(&mut handle);
                self.script.close(handle);
            }
            Step::Append => self.append(desk),
            Step::Revise(pieces) => self.revise(desk, pieces),
            Step::Session { tables } => self.session(desk, tables),
            Step::Lock => {
                let document = self.document(desk);
                let handle = self.script.open(document);
                self.script.lock_and_unlock(&handle);
                self.script.close(handle);
            }
            Step::Slip => {
                let written = self.decks.slip_writes.draw(&mut self.random);
                self.write_temporary(desk, |script, handle| {
                    script.extend(handle, 2_048);
                    script.write(handle, 0, written);
                    script.flush(handle);
                });
            }
            Step::Ledger => {
                let written = self.decks.ledger_writes.draw(&mut self.random);
                self.write_temporary(desk, |script, handle| {
                    script.extend(handle, 4_608);
                    script.write(handle, 0, PAGE_BYTES);
                    script.write(handle, PAGE_BYTES, written);
                });
            }
            Step::Marker => self.write_temporary(desk, |script, handle| {
                script.extend(handle, 16);
                script.write(handle, 0, PAGE_BYTES);
            }),
            Step::Empty => self.write_temporary(desk, |_, _| {}),
            Step::Drawing => self.write_temporary(desk, |script, handle| {
                script.write_growing(handle, DRAWING_BYTES)
            }),
            Step::Print => self.write_temporary(desk, |script, handle| {
                script.write_extended(handle, LARGEST_BYTES)
            }),
            Step::ReadLargeSeed => {
                let large = self.random.pick(&self.seeds.large);
                self.read_through(large, READ_BYTES, self.script.size(large));
            }
            Step::ReadLargestSeed => {
                self.read_through(self.seeds.largest, READ_BYTES, LARGEST_BYTES)
            }
            Step::ReadIndex => self.read_through(
                self.seeds.index,
                PAGE_BYTES,
                self.script.size(self.seeds.index),
            ),
        }
    }

    /// Puts a fresh letter and note on the desk, after a look at the index they are made from.
    ///
    /// That look is also the first read after the set-up, by which a reader can tell where the
    /// set-up ends.
    pub(super) fn open_desk(&mut self, desk: usize) {
        let (letter, note) = (self.desks[desk].letter, self.desks[desk].note);
        for old in [letter, note] {
            if self.script.size(old) > 0 {
                self.remove(old);
            }
        }
        let mut handle = self.script.open(self.seeds.index);
        self.script.read(&mut handle, 0, PAGE_BYTES);
        self.script.close(handle);

        self.query(letter);
        let mut handle = self.script.create(letter);
        self.script.write_growing(&mut handle, LETTER_BYTES);
        self.script.flush(&handle);
        self.script.close(handle);

        let first = PAGE_BYTES + 1 + self.random.below(24) * 64;
        let mut handle = self.script.create(note);
        self.script.extend(&mut handle, first);
        self.script.write(&mut handle, 0, PAGE_BYTES);
        self.script.write(&mut handle, PAGE_BYTES, PAGE_BYTES);
        self.script.flush(&handle);
        self.script.close(handle);
    }

    /// Removes what lies about.
    pub(super) fn clear_desk(&mut self, desk: usize) {
        while let Some(file) = self.desks[desk].lying.pop_front() {
            self.remove(file);
            self.desks[desk].free.push(file);
        }
    }

    fn remove(&mut self, file: File) {
        if self.decks.query_before_unlink.draw(&mut self.random) {
            self.query(file);
        }
        self.script.unlink(file);
    }

    /// Makes a temporary file, which lies about until others need its place or the burst is over.
    fn write_temporary(&mut self, desk: usize, fill: impl FnOnce(&mut Script, &mut Handle)) {
        if self.desks[desk].lying.len() == self.desks[desk].application.temporaries
            && let Some(oldest) = self.desks[desk].lying.pop_front()
        {
            self.remove(oldest);
            self.desks[desk].free.push(oldest);
        }
        let file = self.desks[desk]
            .free
            .pop()
            .expect("one name more than may lie about");
        let mut handle = self.script.create(file);
        fill(&mut self.script, &mut handle);
        self.script.close(handle);
        self.desks[desk].lying.push_back(file);
    }

    /// The way office programs save: never over the old version.
    fn save(&mut self, desk: usize, document: File, size: u64, read_bytes: u64) {
        let (working, backup) = (self.desks[desk].working, self.desks[desk].backup);
        self.query(document);
        self.read_through(document, read_bytes, size);
        let mut handle = self.script.create(working);
        if size == DOCUMENT_BYTES && self.decks.full_extension.draw(&mut self.random) {
            self.script.write_extended(&mut handle, size);
        } else {
            self.script.write_growing(&mut handle, size);
        }
        self.script.flush(&handle);
        self.script.close(handle);
        self.script.rename(document, backup);
        self.script.open_missing(document);
        self.script.rename(working, document);
        let handle = self.script.open(document);
        self.script.set_times(&handle);
        self.script.close(handle);
        self.remove(backup);
    }

    fn read_through(&mut self, file: File, piece: u64, size: u64) {
        let mut handle = self.script.open(file);
        let mut offset = 0;
        while offset < size {
            let here = piece.min(size - offset);
            self.script.read(&mut handle, offset, here);
            offset += here;
        }
        self.script.close(handle);
    }

    fn read_pages(&mut self, file: File, pages: u64) {
        let mut handle = self.script.open(file);
        for _ in 0..pages {
            let offset = self.place_for(&handle, PAGE_BYTES);
            self.script.read(&mut handle, offset, PAGE_BYTES);
        }
        self.script.close(handle);
    }

    fn read_once(&mut self, handle: &mut Handle) {
        let size = self
            .decks
            .single_reads
            .draw(&mut self.random)
            .min(self.script.size(handle.file()));
        let offset = self.place_for(handle, size);
        self.script.read(handle, offset, size);
    }

    /// A page boundary from which `size` bytes can be had.
    fn place_for(&mut self, handle: &Handle, size: u64) -> u64 {
        let last = (self.script.size(handle.file()) - size) / PAGE_BYTES;
        self.random.below(last + 1) * PAGE_BYTES
    }

    fn append(&mut self, desk: usize) {
        let note = self.desks[desk].note;
        let mut handle = self.script.open(note);
        self.read_once(&mut handle);
        let offset = self.script.size(note) - 1_024 - self.random.below(32) * 64;
        self.script.write(&mut handle, offset, PAGE_BYTES);
        self.script.close(handle);
    }

    fn revise(&mut self, desk: usize, pieces: &[u64]) {
        let document = self.document(desk);
        let mut handle = self.script.open(document);
        self.read_once(&mut handle);
        for &piece in pieces {
            let offset = self.place_for(&handle, piece);
            self.script.write(&mut handle, offset, piece);
        }
        self.script.close(handle);
    }

    /// A database at work: all its tables are open at one time, and pages of any of them come in
    /// turn.
    fn session(&mut self, desk: usize, tables: usize) {
        let documents = self.desks[desk].documents.clone();
        let mut handles: Vec<Handle> = documents
            .into_iter()
            .cycle()
            .take(tables)
            .map(|table| self.script.open(table))
            .collect();
        // Each table is read and written at least once, most are written twice.
        let mut turns: Vec<(usize, bool)> = (0..tables)
            .flat_map(|table| [(table, false), (table, true), (table, table % 3 != 0)])
            .collect();
        self.random.shuffle(&mut turns);
        for (table, writes) in turns {
            if writes {
                let size = self.decks.session_writes.draw(&mut self.random);
                let offset = self.place_for(&handles[table], size);
                self.script.write(&mut handles[table], offset, size);
            } else {
                self.read_once(&mut handles[table]);
            }
        }
        for handle in handles {
            self.script.close(handle);
        }
    }
}

impl Script {
    /// Writes a new file from its beginning: lengthened by the first transfer before that is made.
    pub(super) fn write_growing(&mut self, handle: &mut Handle, size: u64) {
        self.extend(handle, size.min(TRANSFER_BYTES) - 1);
        self.write_whole(handle, size);
    }

    /// Writes a new file that is lengthened to its full size before.
    fn write_extended(&mut self, handle: &mut Handle, size: u64) {
        self.extend(handle, size);
        self.write_whole(handle, size);
    }

    fn write_whole(&mut self, handle: &mut Handle, size: u64) {
        let mut offset = 0;
        while offset < size {
            let here = TRANSFER_BYTES.min(size - offset);
            self.write(handle, offset, here);
            offset += here;
        }
    }
}
