//! The bookkeeping between and inside the bursts: lookups, listings and opens without transfer, in
//! balance with the rest.

use super::desk::Office;
use super::script::{File, Handle, Script, Tally};

/// Lines of the loadfile that comes with dbench, which the counts below are of.
const STANDARD_LINES: u64 = 458_344;

/// How many habits may follow a step inside a burst; the rest waits for the end of the burst.
const HABITS_PER_STEP: usize = 2;

/// A small thing that office programs do all the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Habit {
    /// Ask for files that are there.
    Find,
    /// Ask for a file that is not there.
    Miss,
    /// Ask for a folder.
    FindFolder,
    /// List a folder.
    List,
    /// Look for files of a kind that no folder has.
    ListNothing,
    /// Ask how full the volume is.
    AskForRoom,
    /// Try to open files that are not there.
    OpenMissing,
    /// Set a file's times.
    OpenAndSetTimes,
    /// Ask an open file for its size.
    OpenAndQuery,
    /// Open files and leave them alone.
    OpenAndClose,
}

/// How often each is done in the loadfile that comes with dbench, by whatever part of it.
const HABITS: [(Habit, u64); 10] = [
    (Habit::Find, 46_598),
    (Habit::Miss, 24_385),
    (Habit::FindFolder, 831),
    (Habit::List, 13_437),
    (Habit::ListNothing, 14_328),
    (Habit::AskForRoom, 13_168),
    (Habit::OpenMissing, 21_030),
    (Habit::OpenAndSetTimes, 6_454),
    (Habit::OpenAndQuery, 12_585),
    (Habit::OpenAndClose, 21_825),
];

impl Habit {
    fn done(self, tally: &Tally) -> u64 {
        match self {
            Habit::Find => tally.found,
            Habit::Miss => tally.missing,
            Habit::FindFolder => tally.directories,
            Habit::List => tally.listed,
            Habit::ListNothing => tally.unlisted,
            Habit::AskForRoom => tally.volume,
            Habit::OpenMissing => tally.failed_opens,
            Habit::OpenAndSetTimes => tally.times_set,
            Habit::OpenAndQuery => tally.handle_queries,
            Habit::OpenAndClose => tally.idle_handles,
        }
    }
}

impl Office {
    /// A pause inside a burst.
    pub(super) fn breathe(&mut self, desk: usize) {
        for _ in 0..HABITS_PER_STEP {
            let Some(habit) = self.neglected() else {
                return;
            };
            self.indulge(desk, habit);
        }
    }

    /// The end of a burst: everything that is still out of balance.
    pub(super) fn bookkeeping(&mut self, desk: usize) {
        while let Some(habit) = self.neglected() {
            self.indulge(desk, habit);
        }
    }

    /// The habit that is furthest behind its share of the lines so far, if any is a line behind.
    fn neglected(&self) -> Option<Habit> {
        let tally = &self.script.tally;
        let behind = |(habit, standard): (Habit, u64)| {
            let due = tally.lines * standard;
            let done = habit.done(tally) * STANDARD_LINES;
            (due.saturating_sub(done), habit)
        };
        let (most, habit) = HABITS
            .into_iter()
            .map(behind)
            .max_by_key(|&(behind, _)| behind)?;
        (most >= STANDARD_LINES).then_some(habit)
    }

    fn indulge(&mut self, desk: usize, habit: Habit) {
        match habit {
            // Names are looked for along a list of places, so such lines come in pairs.
            Habit::Find => {
                for _ in 0..2 {
                    let file = self.any_existing(desk);
                    self.query(file);
                }
            }
            Habit::Miss => {
                let file = self.absent(desk);
                self.query(file);
            }
            Habit::OpenMissing => {
                for _ in 0..2 {
                    let file = self.absent(desk);
                    self.script.open_missing(file);
                }
            }
            Habit::FindFolder => self
                .script
                .query_directory(self.desks[desk].application.folder),
            Habit::List => {
                if self.decks.lists_work(&mut self.random) {
                    self.script.list_work();
                } else {
                    self.script.list_folder(self.desks[desk].application.folder);
                }
            }
            Habit::ListNothing => self
                .script
                .list_nothing(self.decks.extension(&mut self.random)),
            Habit::AskForRoom => self.script.query_volume(259),
            Habit::OpenAndSetTimes => self.look_at(desk, |script, handle| script.set_times(handle)),
            Habit::OpenAndQuery => self.look_at(desk, |script, handle| script.query_handle(handle)),
            Habit::OpenAndClose => {
                let (outer, inner) = (self.any_existing(desk), self.any_existing(desk));
                let outer = self.script.open(outer);
                let inner = self.script.open(inner);
                self.script.close(inner);
                self.script.close(outer);
            }
        }
    }

    fn look_at(&mut self, desk: usize, how: impl FnOnce(&mut Script, &Handle)) {
        let file = self.any_existing(desk);
        let handle = self.script.open(file);
        how(&mut self.script, &handle);
        self.script.close(handle);
    }

    fn absent(&mut self, desk: usize) -> File {
        self.random.pick(&self.desks[desk].absent)
    }

    /// Asks for a name, at one of the two levels that servers are asked at.
    pub(super) fn query(&mut self, file: File) {
        let level = self.decks.query_level(&mut self.random);
        self.script.query(file, level);
    }
}
