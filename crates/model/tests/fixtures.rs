//! The model holds every kind of run, says what follows from it, and nothing that does not.

use kernmark_model::fixtures;
use kernmark_model::run::{At, Better, Clock, Formula, Metric, Outcome, Run, Take, Value};
use kernmark_model::units::Bytes;

/// Figures of all its metrics, rounded to a thousandth.
fn figures(run: &Run) -> Vec<(&str, Option<f64>)> {
    let thousandth = |figure: f64| (figure * 1e3).round() / 1e3;
    run.metrics
        .iter()
        .map(|metric| (metric.name.as_str(), run.figure(metric).map(thousandth)))
        .collect()
}

#[test]
fn every_fixture_reads_back_from_json_to_the_last_bit() {
    for run in fixtures::all() {
        let text = serde_json::to_string(&run).unwrap();
        let read: Run = serde_json::from_str(&text).unwrap();
        assert_eq!(read, run, "{text}");
        assert_eq!(run.uuid.get_version_num(), 7);
    }
}

#[test]
fn every_fixture_has_a_name_of_its_own() {
    let mut names: Vec<_> = fixtures::all().iter().map(|run| run.uuid).collect();
    let in_order = names.clone();
    names.sort();
    names.dedup();
    assert_eq!(names, in_order);
}

#[test]
fn a_table_inside_a_run_has_a_figure_at_each_point_and_none_as_a_whole() {
    let run = fixtures::lat_mem_rd_table();
    assert_eq!(figures(&run), [("load latency", Some(96.3))]);

    let metric = &run.metrics[0];
    let curve: Vec<f64> = run.curve(metric).into_iter().map(|(_, ns)| ns).collect();
    assert_eq!(curve, [1.25, 4.5, 14.75, 96.3, 1.25, 4.5, 14.75, 96.3]);
    assert_eq!(
        run.curve(metric)[5].0,
        &fixtures::memory_point(Bytes::kib(512), 128)
    );

    let whole = Metric {
        at: At::Only,
        ..metric.clone()
    };
    assert_eq!(run.figure(&whole), None);
    let elsewhere = Metric {
        at: At::Point(fixtures::memory_point(Bytes::mib(32), 128)),
        ..metric.clone()
    };
    assert_eq!(run.figure(&elsewhere), None);
}

#[test]
fn of_four_tries_the_best_or_the_median_stands() {
    let run = fixtures::lat_mem_rd_table();
    let at = At::Point(fixtures::memory_point(Bytes::kib(16), 64));
    let metric = |take, better| Metric {
        at: at.clone(),
        take,
        better,
        ..run.metrics[0].clone()
    };
    // 1.875, 1.25, 1.5625 and 2.5 ns.
    assert_eq!(run.figure(&metric(Take::Best, Better::Lower)), Some(1.25));
    assert_eq!(run.figure(&metric(Take::Best, Better::Higher)), Some(2.5));
    assert_eq!(run.figure(&metric(Take::Best, Better::Neither)), None);
    assert_eq!(
        run.figure(&metric(Take::Median, Better::Neither)),
        Some(1.71875)
    );
}

#[test]
fn an_adaptive_series_has_a_peak_and_a_figure_at_each_load() {
    let run = fixtures::adaptive_aim7_series();
    // 60 x 107 x tasks / seconds.
    assert_eq!(
        figures(&run),
        [("jobs", Some(611.429)), ("jobs", Some(597.905))]
    );
    let curve: Vec<_> = run
        .curve(&run.metrics[0])
        .into_iter()
        .map(|(point, jobs)| (point.clone(), jobs.round()))
        .collect();
    let expected = [(1, 535.0), (2, 584.0), (3, 600.0), (5, 611.0), (8, 598.0)];
    assert_eq!(
        curve,
        expected.map(|(tasks, jobs)| (fixtures::task_point(tasks), jobs))
    );
    assert_eq!(run.phases[4].fairness(), Some(1.0));
}

#[test]
fn an_imported_mean_is_the_figure_as_it_was_printed() {
    let run = fixtures::imported_mean_of_25();
    assert_eq!(
        figures(&run),
        [
            ("bandwidth", Some(52.0)),
            ("load latency", Some(4.25)),
            ("load latency", Some(229.87)),
            ("rate", None),
        ]
    );
    let Value::Reported(reported) = &run.phases[0].samples[0].value else {
        panic!("{:?}", run.phases[0].samples[0]);
    };
    assert_eq!((reported.text.as_str(), reported.of), ("52.0", Some(25)));
}

#[test]
fn a_sum_over_runs_is_no_figure_of_one() {
    let run = fixtures::imported_sum_of_3();
    assert_eq!(
        figures(&run),
        [("rate", Some(15.71)), ("average latency", None)]
    );
}

#[test]
fn a_text_that_says_it_is_no_number_gives_none() {
    let mut run = fixtures::imported_mean_of_25();
    for text in ["nan", "inf", "-", ""] {
        let Value::Reported(reported) = &mut run.phases[0].samples[0].value else {
            panic!("{:?}", run.phases[0].samples[0]);
        };
        reported.text = text.to_owned();
        assert_eq!(run.figure(&run.metrics[0]), None, "{text}");
    }
}

#[test]
fn instructions_are_never_time_and_time_is_never_instructions() {
    let mut run = fixtures::guest_in_instructions();
    assert_eq!(
        figures(&run),
        [
            ("getppid", Some(337.0)),
            ("create", Some(24_484.0)),
            ("rate", None),
            ("time", None),
        ]
    );
    run.clock = Clock::Wall;
    assert_eq!(run.figure(&run.metrics[1]), None);
    assert_eq!(run.metrics[1].formula, Formula::MeanInstructions);
}

#[test]
fn a_voided_run_keeps_its_figures_and_is_not_complete() {
    let runs = fixtures::blocked_session_with_a_void();
    let complete: Vec<bool> = runs.iter().map(|run| run.outcome.is_complete()).collect();
    assert_eq!(complete, [true, true, true, true, false, true, true]);

    let void = &runs[4];
    assert_eq!(void.outcome.word(), "voided");
    assert_eq!(
        void.outcome.reason().map(|why| why.contains("steal")),
        Some(true)
    );
    // 2 x 39,000 x 65,536 B over 10 s, and over 10.5 s with the sync; 4 ms lie in the bucket around 4.014 ms.
    let expected = [
        ("throughput", Some(511.181)),
        ("Flush p99", Some(4.014)),
        ("durable throughput", Some(486.839)),
    ];
    assert_eq!(figures(void), expected);
    assert!((void.usage.cpu_percent().unwrap() - 80.0).abs() < 1e-9);
    // The flush that the window's end cut is the longest, a pass is no op.
    let total = void.phases[0].total(&[]);
    assert_eq!((total.count, total.max.0), (2 * 39_200, 7_000_000));

    // Every round has every arm once among its complete runs.
    for block in 0..2 {
        let mut arms: Vec<_> = runs
            .iter()
            .filter(|run| run.outcome == Outcome::Complete)
            .filter_map(|run| run.session.as_ref())
            .filter(|place| place.block == block)
            .map(|place| place.arm.as_str())
            .collect();
        arms.sort_unstable();
        assert_eq!(arms, ["6.1.0-50", "6.12.117", "null"]);
    }
}
