use super::*;
use crate::fixtures::{self, one_figure, place};
use crate::machine::Target;
use crate::plan::{Cache, ParamValue};
use crate::run::{Clock, Metric, Outcome, Reported, Statistic, Value};

/// Runs of each kernel, one after the other.
fn unblocked(sides: &[(&str, &[f64])]) -> Vec<Run> {
    let values = sides
        .iter()
        .flat_map(|(kernel, values)| values.iter().map(move |value| (kernel, value)));
    (0..)
        .zip(values)
        .map(|(number, (kernel, value))| one_figure(number, kernel, Value::Ratio(*value)))
        .collect()
}

/// Runs of each kernel in blocks.
fn blocked(arms: &[(&str, &[f64])]) -> Vec<Run> {
    let mut runs = Vec::new();
    for block in 0..arms[0].1.len() {
        for (arm, values) in arms {
            let mut run = one_figure(runs.len() as u64, arm, Value::Ratio(values[block]));
            run.session = Some(place(u32::try_from(block).unwrap(), arm));
            runs.push(run);
        }
    }
    runs
}

fn one(runs: &[Run], question: &Question) -> Comparison {
    let mut tables = compare(runs, question).unwrap();
    assert_eq!(tables.len(), 1, "{tables:#?}");
    tables.remove(0)
}

fn row<'a>(table: &'a Comparison, title: &str) -> &'a Row {
    table.rows.iter().find(|row| row.title() == title).unwrap()
}

fn around(centre: f64, count: u32) -> Vec<f64> {
    (0..count)
        .map(|step| centre * (1.0 + 0.001 * f64::from(step * 7 % 5)))
        .collect()
}

#[test]
fn blocks_of_a_session_reach_a_verdict_and_runs_apart_never_do() {
    let (old, new) = (around(100.0, 12), around(105.0, 12));
    let table = one(
        &blocked(&[("6.1", &old), ("6.12", &new)]),
        &Question::by(&["kernel"]),
    );
    assert_eq!(table.design, Design::Blocked { blocks: 12 });
    assert_eq!(
        (table.rows[0].title().as_str(), table.baseline),
        ("6.12", Some(1))
    );
    assert_eq!(table.rows[0].verdict, Verdict::Better);
    assert_eq!(table.rows[1].verdict, Verdict::Baseline);
    let change = table.rows[0].change.unwrap();
    assert!((change.estimate - 1.05).abs() < 1e-9, "{change:?}");
    // The first look decided, so that four blocks took no part.
    assert_eq!((change.blocks, change.stopped_early), (Some(8), true));
    assert!(table.notes.contains(&Note::StoppedEarly));
    assert!(table.notes.contains(&Note::BlocksAfterLook {
        look: 8,
        blocks: 12
    }));

    let table = one(
        &unblocked(&[("6.1", &old), ("6.12", &new)]),
        &Question::by(&["kernel"]),
    );
    assert_eq!(table.design, Design::Unblocked);
    let row = row(&table, "6.12");
    assert_eq!(row.verdict, Verdict::DriftNotControlled);
    let interval = row.change.unwrap().interval.unwrap();
    assert!(
        1.04 < interval.lower && interval.upper < 1.06,
        "{interval:?}"
    );
    assert_eq!(row.change.unwrap().chance_better, 1.0);
    assert_eq!(table.level, Some(0.05));
}

#[test]
fn less_time_is_better_and_its_ratio_is_above_one() {
    let mut runs = blocked(&[("6.1", &around(10.0, 8)), ("6.12", &around(8.0, 8))]);
    for run in &mut runs {
        run.metrics[0].better = Better::Lower;
        run.metrics[0].unit = "ms".into();
    }
    let table = one(&runs, &Question::by(&["kernel"]));
    assert_eq!(table.rows[0].title(), "6.12");
    assert_eq!(table.rows[0].verdict, Verdict::Better);
    assert!((table.rows[0].change.unwrap().estimate - 1.25).abs() < 1e-9);
}

#[test]
fn one_value_a_side_has_no_spread() {
    let table = one(
        &unblocked(&[("6.1", &[100.0]), ("6.12", &[150.0])]),
        &Question::by(&["kernel"]),
    );
    let row = row(&table, "6.12");
    assert_eq!(row.verdict, Verdict::NoSpreadGiven);
    let change = row.change.unwrap();
    assert_eq!((change.interval, change.p), (None, None));
    assert!((change.estimate - 1.5).abs() < 1e-9);
}

#[test]
fn three_against_three_are_too_few_and_the_number_needed_is_named() {
    let table = one(
        &unblocked(&[("6.1", &[1.0, 1.1, 1.2]), ("6.12", &[3.0, 3.1, 3.2])]),
        &Question::by(&["kernel"]),
    );
    let row = row(&table, "6.12");
    assert_eq!(row.verdict, Verdict::TooFewRuns { needed: 4 });
    assert_eq!(row.change.unwrap().interval, None);
}

#[test]
fn identical_blocks_are_equivalent_with_nothing_around_them() {
    let same = [250.0; 8];
    let table = one(
        &blocked(&[("6.1", &same), ("6.12", &same)]),
        &Question::by(&["kernel"]),
    );
    let row = row(&table, "6.12");
    assert_eq!(row.verdict, Verdict::Equivalent);
    let change = row.change.unwrap();
    assert_eq!(change.estimate, 1.0);
    assert_eq!(
        change.interval,
        Some(Interval {
            lower: 1.0,
            upper: 1.0
        })
    );
}

#[test]
fn zero_negative_and_missing_figures_are_refused_with_their_row_and_run_named() {
    for (bad, said) in [
        (Value::Ratio(0.0), "has a throughput of 0 MB/s"),
        (Value::Ratio(-3.5), "has a throughput of -3.5 MB/s"),
        (
            Value::Reported(Reported {
                text: "+++++".into(),
                half_unit: 0.0,
                statistic: Statistic::Mean,
                of: None,
            }),
            "has no throughput",
        ),
    ] {
        let mut runs = unblocked(&[
            ("6.1", &around(100.0, 5)),
            ("6.6", &around(90.0, 5)),
            ("6.12", &around(110.0, 5)),
        ]);
        runs[12].phases[0].samples[0].value = bad;
        let table = one(&runs, &Question::by(&["kernel"]));
        let last = table.rows.last().unwrap();
        assert_eq!(last.title(), "6.12");
        assert_eq!(
            last.verdict,
            Verdict::NotCompared {
                why: format!("a run {said}")
            }
        );
        let note = table
            .notes
            .iter()
            .map(Note::to_string)
            .find(|note| note.contains(said));
        let name = runs[12].uuid.to_string();
        assert!(note.is_some_and(|note| note.starts_with("6.12") && note.contains(&name)));
        assert_eq!(row(&table, "6.6").verdict, Verdict::DriftNotControlled);
    }
}

#[test]
fn counts_that_may_be_zero_are_compared_as_differences() {
    let mut runs: Vec<Run> = (0..16)
        .map(|number| {
            let kernel = if number % 2 == 0 { "6.1" } else { "6.12" };
            let count = if number % 2 == 0 {
                number % 4 / 2
            } else {
                20 + number
            };
            let mut run = one_figure(number, kernel, Value::Count(count));
            run.session = Some(place(u32::try_from(number / 2).unwrap(), kernel));
            run
        })
        .collect();
    for run in &mut runs {
        run.metrics[0].better = Better::Lower;
    }
    let table = one(&runs, &Question::by(&["kernel"]));
    assert_eq!(table.scale, Scale::Difference);
    let row = row(&table, "6.12");
    assert_eq!(row.verdict, Verdict::Worse);
    assert!(row.change.unwrap().estimate > 20.0);
    assert_eq!(table.rows[0].title(), "6.1");
}

#[test]
fn only_complete_runs_count_and_the_others_are_counted_aloud() {
    let mut runs = unblocked(&[("6.1", &around(100.0, 6)), ("6.12", &around(100.0, 6))]);
    runs[7].outcome = Outcome::Failed("no space left on device".into());
    runs[8].outcome = Outcome::Failed("the same".into());
    runs[9].outcome = Outcome::Partial("interrupted by SIGINT".into());
    let table = one(&runs, &Question::by(&["kernel"]));
    assert_eq!(row(&table, "6.12").count(), 3);
    let notes: Vec<String> = table.notes.iter().map(Note::to_string).collect();
    assert!(
        notes.contains(&"left out: 2 failed runs of 6.12 (first: no space left on device)".into()),
        "{notes:?}"
    );
    assert!(notes.contains(&"left out: 1 partial run of 6.12 (interrupted by SIGINT)".into()));

    for run in &mut runs {
        run.outcome = Outcome::Failed("power".into());
    }
    assert_eq!(
        compare(&runs, &Question::by(&["kernel"])),
        Err(ComparisonError::NoneComplete(12))
    );
}

#[test]
fn a_voided_run_is_replaced_by_the_one_made_again_in_its_block() {
    let runs = fixtures::blocked_session_with_a_void();
    let table = one(&runs, &Question::by(&["arm"]));
    assert_eq!(table.design, Design::Blocked { blocks: 2 });
    assert_eq!(table.rows[0].title(), "6.12.117");
    assert_eq!(table.rows[0].verdict, Verdict::TooFewRuns { needed: 7 });
    let notes: Vec<String> = table.notes.iter().map(Note::to_string).collect();
    assert!(
        notes
            .iter()
            .any(|note| note.starts_with("left out: 1 voided run of 6.12.117 (steal"))
    );
    assert!(
        notes
            .iter()
            .any(|note| note.starts_with("null arm: the baseline against itself"))
    );
    assert!(table.rows.iter().all(|row| row.title() != NULL_ARM));
}

#[test]
fn a_null_arm_that_is_called_different_makes_the_session_suspect() {
    let (base, null) = (around(100.0, 8), around(110.0, 8));
    let mut runs = blocked(&[("6.1", &base), ("6.12", &base), ("copy", &null)]);
    for run in runs
        .iter_mut()
        .filter(|run| run.machine.kernel.release.as_deref() == Some("copy"))
    {
        run.machine.kernel.release = Some("6.1".into());
        run.session.as_mut().unwrap().arm = NULL_ARM.into();
    }
    let table = one(&runs, &Question::by(&["kernel"]));
    assert!(
        table
            .notes
            .iter()
            .any(|note| matches!(note, Note::Suspect { .. }))
    );
    assert_eq!(row(&table, "6.1").count(), 8);
}

#[test]
fn blocks_without_a_run_of_every_row_are_left_out() {
    let values = around(100.0, 10);
    let mut runs = blocked(&[("6.1", &values), ("6.12", &values)]);
    runs[5].outcome = Outcome::Voided("swap-in".into());
    let table = one(&runs, &Question::by(&["kernel"]));
    assert_eq!(table.design, Design::Blocked { blocks: 9 });
    assert!(table.notes.contains(&Note::IncompleteBlocks { count: 1 }));
}

#[test]
fn different_work_is_never_in_one_table() {
    let mut runs = unblocked(&[("6.1", &around(1.0, 6)), ("6.12", &around(1.0, 6))]);
    for index in [1, 7] {
        let params = &mut runs[index].plan.params.0;
        params.insert("clients".into(), ParamValue::Count(48));
    }
    for index in [2, 8] {
        runs[index].plan.cache = Cache::Cold;
    }
    for index in [3, 9] {
        runs[index].clock = Clock::Emulated;
    }
    for index in [4, 10] {
        runs[index].session = Some(place(0, "x"));
    }
    let tables = compare(&runs, &Question::by(&["kernel"])).unwrap();
    assert_eq!(tables.len(), 5);
    assert_eq!(tables[0].rows[0].count(), 2);
    assert!(
        tables[1..]
            .iter()
            .all(|table| table.rows.iter().all(|row| row.count() == 1))
    );
    assert!(tables[3].notes.contains(&Note::Emulated));

    // A swept parameter may make the rows: then the table says that the work differs.
    let table = compare(&runs, &Question::by(&["clients"]))
        .unwrap()
        .remove(0);
    assert_eq!(table.rows.len(), 2);
    assert!(table.notes.contains(&Note::WorkDiffers {
        params: vec!["clients".into()]
    }));
}

#[test]
fn what_else_differs_is_listed() {
    let mut runs = unblocked(&[("6.1", &[1.0, 1.1]), ("6.12", &[1.2, 1.3])]);
    for (index, run) in runs.iter_mut().enumerate() {
        run.machine.kernel.version = Some(format!("#{index} SMP"));
        run.machine.clock_source.current = Some(if index < 2 { "tsc" } else { "hpet" }.into());
        run.machine.state.uptime_centisec = Some(index as u64);
        let mut target = Target::default();
        target.mount.options = vec!["rw".into(), format!("commit={index}")];
        run.target = Some(target);
    }
    let table = one(&runs, &Question::by(&["kernel"]));
    let list: Vec<(&str, usize, bool)> = table
        .also_different
        .iter()
        .map(|fact| (fact.key.as_str(), fact.values.len(), fact.within_rows))
        .collect();
    assert_eq!(list, [("clocksource", 2, false), ("mount", 4, true)]);
}

#[test]
fn imported_figures_say_which_statistic_they_are() {
    let mean_of_25 = |text: &str| {
        Value::Reported(Reported {
            text: text.into(),
            half_unit: 0.05,
            statistic: Statistic::Mean,
            of: Some(25),
        })
    };
    let mut runs = vec![
        one_figure(0, "2.5.66", mean_of_25("52.0")),
        one_figure(1, "2.5.66-mm1", mean_of_25("54.5")),
    ];
    for (run, label) in runs.iter_mut().zip(["2.5.66", "2.5.66-mm1"]) {
        run.machine.kernel.release = None;
        run.plan.label = Some(label.into());
    }
    let table = one(&runs, &Question::by(&["label"]));
    assert_eq!(table.rows[0].reported, ["mean of 25"]);
    assert_eq!(table.rows[0].verdict, Verdict::NoSpreadGiven);
    assert!(table.notes.contains(&Note::MachineUnknown { runs: 2 }));
}

#[test]
fn three_rows_in_enough_blocks_get_letters() {
    let values = [around(100.0, 12), around(100.0, 12), around(120.0, 12)];
    let arms = [
        ("a", &values[0][..]),
        ("b", &values[1][..]),
        ("c", &values[2][..]),
    ];
    let table = one(&blocked(&arms), &Question::by(&["kernel"]));
    let letters: Vec<_> = table
        .rows
        .iter()
        .map(|row| row.letters.clone().unwrap())
        .collect();
    assert_eq!(letters, ["a", "b", "b"]);

    let few: Vec<_> = arms.map(|(arm, values)| (arm, &values[..8])).into();
    let table = one(&blocked(&few), &Question::by(&["kernel"]));
    assert!(table.notes.contains(&Note::NoLetters { needed: 12 }));
}

#[test]
fn secondary_metrics_are_a_screen() {
    let (old, new) = (around(100.0, 8), around(105.0, 8));
    let mut runs = blocked(&[("6.1", &old), ("6.12", &new)]);
    for run in &mut runs {
        let second = Metric {
            name: "stalls".into(),
            better: Better::Neither,
            ..run.metrics[0].clone()
        };
        run.metrics.push(second);
        let mut sample = run.phases[0].samples[0].clone();
        sample.metric = "stalls".into();
        run.phases[0].samples.push(sample);
    }
    let question = Question {
        metrics: Metrics::All,
        ..Question::by(&["kernel"])
    };
    let tables = compare(&runs, &question).unwrap();
    assert_eq!(
        tables.iter().map(|table| table.screen).collect::<Vec<_>>(),
        [false, true]
    );
    assert!(
        tables[1]
            .rows
            .iter()
            .all(|row| row.verdict == Verdict::NotJudged)
    );

    let named = |name: &str| Question {
        metrics: Metrics::Named(vec![name.into()]),
        ..Question::by(&["kernel"])
    };
    assert!(compare(&runs, &named("stalls")).unwrap()[0].screen);
    assert_eq!(
        compare(&runs, &named("speed")).unwrap_err().to_string(),
        "no selected run has a metric \"speed\"; there is: stalls, throughput"
    );
}

#[test]
fn baselines_are_found_by_title_or_its_beginning() {
    let runs = unblocked(&[("6.1.0-50", &[1.0]), ("6.1.0-55", &[1.0]), ("6.12", &[1.0])]);
    let with = |baseline: &str| {
        let question = Question {
            baseline: Some(baseline.into()),
            ..Question::by(&["kernel"])
        };
        compare(&runs, &question)
    };
    let baseline = |name: &str| {
        let table = with(name).unwrap().remove(0);
        table.rows[table.baseline.unwrap()].title()
    };
    assert_eq!(baseline("6.12"), "6.12");
    assert_eq!(baseline("6.1.0-55"), "6.1.0-55");
    assert_eq!(baseline("6.1.0-50"), "6.1.0-50");
    assert_eq!(
        with("6.1").unwrap_err().to_string(),
        "\"6.1\" may mean several rows: 6.1.0-50, 6.1.0-55, 6.12"
    );
    assert_eq!(
        with("5.10").unwrap_err().to_string(),
        "no row is called \"5.10\"; the rows are: 6.1.0-50, 6.1.0-55, 6.12"
    );
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let runs = unblocked(&[("6.1", &[1.0])]);
    assert_eq!(
        compare(&[], &Question::by(&["kernel"])),
        Err(ComparisonError::NoRuns)
    );
    assert_eq!(
        compare(&runs, &Question::by(&[])),
        Err(ComparisonError::NoKeys)
    );
    assert!(matches!(
        compare(&runs, &Question::by(&["tool"])),
        Err(ComparisonError::DifferentWork { .. })
    ));
    let message = compare(&runs, &Question::by(&["colour"]))
        .unwrap_err()
        .to_string();
    assert!(
        message.starts_with("no selected run has a fact \"colour\"; some"),
        "{message}"
    );
    let question = Question {
        margin: f64::NAN,
        ..Question::by(&["kernel"])
    };
    assert!(matches!(
        compare(&runs, &question),
        Err(ComparisonError::Margin(_))
    ));
    assert_eq!(one(&runs, &Question::by(&["kernel"])).notes, [Note::OneRow]);
}

#[test]
fn every_fixture_can_be_asked_about() {
    let runs = fixtures::all();
    for metrics in [Metrics::Primary, Metrics::All] {
        let question = Question {
            metrics,
            ..Question::by(&["label", "clients"])
        };
        let tables = compare(&runs, &question).unwrap();
        assert!(!tables.is_empty());
        let json = serde_json::to_string(&tables).unwrap();
        assert!(json.contains("\"version\":1") && !json.contains("NaN"));
    }
}
