//! The text of dbench 4.00: whatever the text, results or one message, and what was read prints and reads back.
#![no_main]

use kernmark_tools::dbench::format::DBENCH_4;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(runs) = (DBENCH_4.parse)(text) else {
        return;
    };
    for run in runs {
        if let Ok(printed) = (DBENCH_4.print)(&run) {
            let again = (DBENCH_4.parse)(&printed).expect("what was printed reads back");
            assert_eq!(again.len(), 1, "one run was printed:\n{printed}");
            let twice = (DBENCH_4.print)(&again[0]).expect("and prints again");
            assert_eq!(printed, twice);
        }
    }
});
