//! What each application does in an iteration: the table that the proportions of the mix come from.

use super::steps::Step;

/// One of the eight office programs of the mix.
#[derive(Debug)]
pub(super) struct Application {
    /// Its folder.
    pub(super) folder: &'static str,
    /// Extension of its documents.
    pub(super) extension: &'static str,
    /// How many documents the set-up gives it.
    pub(super) documents: usize,
    /// How many temporary files it leaves lying at one time.
    pub(super) temporaries: usize,
    /// What it does in a burst, and how often; the order is drawn anew each time.
    pub(super) steps: &'static [(Step, usize)],
}

/// Between the bursts, all together: reading the seeds that fresh documents are made from.
pub(super) const SEED_STEPS: &[(Step, usize)] = &[
    (Step::ReadLargeSeed, 3),
    (Step::ReadLargestSeed, 1),
    (Step::ReadIndex, 1),
];

/// In the order of their bursts.
pub(super) const APPLICATIONS: [Application; 8] = [
    Application {
        folder: "PWRPNT",
        extension: "PPT",
        documents: 5,
        temporaries: 3,
        steps: &[
            (Step::SaveDocument, 1),
            (Step::SaveLetter, 1),
            (Step::ReadFast, 1),
            (Step::ReadSlowly, 1),
            (Step::ReadPart, 1),
            (Step::Jump, 1),
            (Step::Glance, 2),
            (Step::Peek, 13),
            (Step::Append, 2),
            (Step::Revise(&[24_576, 20_480]), 2),
            (Step::Slip, 1),
            (Step::Marker, 1),
            (Step::Empty, 7),
        ],
    },
    Application {
        folder: "WORD",
        extension: "DOC",
        documents: 5,
        temporaries: 3,
        steps: &[
            (Step::SaveDocument, 1),
            (Step::SaveLetter, 1),
            (Step::Glance, 2),
            (Step::Peek, 10),
            (Step::Append, 2),
            (Step::Revise(&[4_096, 16_384]), 2),
            (Step::Slip, 1),
            (Step::Ledger, 1),
            (Step::Empty, 7),
        ],
    },
    Application {
        folder: "PARADOX",
        extension: "DB",
        documents: 10,
        temporaries: 13,
        steps: &[
            (Step::Session { tables: 23 }, 1),
            (Step::ReadFast, 1),
            (Step::JumpFar, 5),
            (Step::Jump, 3),
            (Step::Glance, 2),
            (Step::Peek, 34),
            (Step::Append, 1),
            (Step::Slip, 8),
            (Step::Ledger, 2),
            (Step::Marker, 2),
            (Step::Empty, 18),
        ],
    },
    Application {
        folder: "EXCEL",
        extension: "XLS",
        documents: 5,
        temporaries: 3,
        steps: &[
            (Step::SaveDocument, 1),
            (Step::SaveLetter, 1),
            (Step::ReadSlowly, 1),
            (Step::Glance, 2),
            (Step::Peek, 13),
            (Step::Append, 2),
            (Step::Revise(&[20_480, 24_576]), 3),
            (Step::Slip, 1),
            (Step::Ledger, 1),
            (Step::Empty, 7),
        ],
    },
    Application {
        folder: "WORDPRO",
        extension: "LWP",
        documents: 6,
        temporaries: 4,
        steps: &[
            (Step::SaveDocument, 2),
            (Step::SaveLetter, 2),
            (Step::ReadPart, 1),
            (Step::Glance, 2),
            (Step::Peek, 17),
            (Step::Append, 3),
            (Step::Revise(&[4_096]), 4),
            (Step::Slip, 2),
            (Step::Ledger, 1),
            (Step::Marker, 1),
            (Step::Empty, 11),
        ],
    },
    Application {
        folder: "ACCESS",
        extension: "MDB",
        documents: 4,
        temporaries: 3,
        steps: &[
            (Step::Session { tables: 4 }, 1),
            (Step::Lock, 2),
            (Step::ReadFast, 1),
            (Step::Jump, 1),
            (Step::Glance, 1),
            (Step::Peek, 1),
            (Step::Append, 1),
            (Step::Slip, 1),
            (Step::Empty, 4),
        ],
    },
    Application {
        folder: "COREL",
        extension: "CDR",
        documents: 9,
        temporaries: 4,
        steps: &[
            (Step::SaveDocument, 2),
            (Step::Drawing, 1),
            (Step::Jump, 1),
            (Step::Glance, 2),
            (Step::Peek, 8),
            (Step::Append, 2),
            (Step::Revise(&[65_536, 65_536, 65_536]), 4),
            (Step::Ledger, 1),
            (Step::Empty, 5),
        ],
    },
    Application {
        folder: "PM",
        extension: "PM5",
        documents: 4,
        temporaries: 3,
        steps: &[
            (Step::SaveDocument, 1),
            (Step::Print, 1),
            (Step::ReadFast, 1),
            (Step::Jump, 1),
            (Step::Glance, 2),
            (Step::Peek, 13),
            (Step::Append, 2),
            (Step::Revise(&[65_536, 65_536, 65_536, 57_344]), 1),
            (Step::Revise(&[65_536, 65_536, 65_536]), 2),
            (Step::Slip, 1),
            (Step::Marker, 1),
            (Step::Empty, 7),
        ],
    },
];
