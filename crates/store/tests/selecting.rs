//! Lists, selections and names: the right runs, in as much detail as is wanted.

mod common;

use kernmark_model::fixtures;
use kernmark_model::histogram::Histogram;
use kernmark_model::units::{Bytes, Nanos};
use kernmark_store::{Detail, Selection, Store, StoreError};
use uuid::Uuid;

fn selected(store: &Store, conditions: &[&str]) -> Result<Vec<String>, StoreError> {
    let conditions = conditions
        .iter()
        .map(|text| text.parse())
        .collect::<Result<_, _>>()?;
    let runs = store.runs(&Selection::of(conditions))?;
    Ok(runs.into_iter().map(|run| run.selector).collect())
}

#[test]
fn figures_follow_from_less_than_the_whole() {
    let (_folder, store) = common::full();
    let runs = store.load(&Selection::default(), Detail::Figures).unwrap();
    for (read, run) in runs.iter().zip(fixtures::all()) {
        for metric in &run.metrics {
            assert_eq!(
                read.figure(metric),
                run.figure(metric),
                "{} {}",
                run.plan.tool,
                metric.name
            );
            assert_eq!(read.curve(metric), run.curve(metric));
        }
        assert!(
            read.phases
                .iter()
                .all(|phase| phase.series.is_empty() && phase.counters.is_none())
        );
    }
    // AIM7 shows no quantile, dbench does.
    assert_eq!(
        runs[1].phases[0].workers[0].ops[0].histogram,
        Histogram::default()
    );
    assert_ne!(
        runs[5].phases[0].workers[0].ops[0].histogram,
        Histogram::default()
    );
    let heads = store.load(&Selection::default(), Detail::Head).unwrap();
    assert!(heads.iter().all(|run| run.phases.is_empty()));
}

#[test]
fn runs_are_listed_by_time() {
    let (_folder, store) = common::full();
    let heads = store.runs(&Selection::default()).unwrap();
    let names: Vec<Uuid> = heads.iter().map(|head| head.uuid).collect();
    assert_eq!(
        names,
        fixtures::all()
            .iter()
            .map(|run| run.uuid)
            .collect::<Vec<_>>()
    );

    let (table, import, void) = (&heads[0], &heads[2], &heads[9]);
    assert_eq!(table.selector, "lmbench:lat_mem_rd");
    assert_eq!(table.params.bytes("size"), Ok(Bytes::mib(64)));
    assert_eq!((table.imported, import.imported), (false, true));
    assert_eq!(import.label.as_deref(), Some("2.5.66-mm1"));
    assert_eq!((void.outcome.word(), void.doubts), ("voided", 1));
    assert_eq!(void.elapsed, Some(Nanos::millis(12_500)));
    assert_eq!(void.on.as_deref(), Some("/mnt/test"));
    let place = void.session.clone().unwrap();
    assert_eq!(
        (place.block, place.position, place.arm.as_str()),
        (1, 1, "6.12.117")
    );

    let session = Selection {
        session: Some(place.id),
        ..Selection::default()
    };
    assert_eq!(store.runs(&session).unwrap().len(), 7);
    let newest = Selection {
        newest: Some(2),
        session: Some(place.id),
        ..Selection::default()
    };
    let newest: Vec<Uuid> = store
        .runs(&newest)
        .unwrap()
        .iter()
        .map(|head| head.uuid)
        .collect();
    assert_eq!(newest, names[10..12]);
    let two = Selection {
        runs: vec![names[3], names[1]],
        ..Selection::default()
    };
    assert_eq!(store.runs(&two).unwrap().len(), 2);
}

#[test]
fn runs_are_selected_by_any_fact() {
    let (_folder, store) = common::full();
    let count = |conditions: &[&str]| selected(&store, conditions).unwrap().len();
    assert_eq!(count(&["tool=dbench"]), 7);
    assert_eq!(count(&["tool=dbench", "outcome=complete"]), 6);
    assert_eq!(count(&["tool=dbench,aim7"]), 8);
    assert_eq!(count(&["tool=*bench"]), 11);
    assert_eq!(count(&["tool!=*bench"]), 2);
    assert_eq!(count(&["param.clients=2"]), 7);
    assert_eq!(count(&["clients=1..4"]), 7);
    assert_eq!(count(&["seconds=10s"]), 7);
    assert_eq!(count(&["arm=null"]), 2);
    assert_eq!(count(&["arm="]), 6);
    assert_eq!(count(&["arm!="]), 7);
    assert_eq!(count(&["arm!=null", "tool=dbench"]), 5);
    assert_eq!(count(&["origin=imported"]), 2);
    assert_eq!(count(&["clock=instructions"]), 1);
    // Only the star stands for something.
    assert_eq!(count(&["tool=dbenc?", "tool=*"]), 0);
    assert_eq!(count(&["tool=[d]*"]), 0);

    let error = selected(&store, &["kernal=6.1"]).unwrap_err().to_string();
    assert!(
        error.contains("no stored run has a fact \"kernal\""),
        "{error}"
    );
    // In a store without runs nothing can be mistyped.
    let folder = tempfile::tempdir().unwrap();
    let nothing = Store::open(&folder.path().join("store.db")).unwrap();
    assert_eq!(
        selected(&nothing, &["kernal=6.1"]).unwrap(),
        Vec::<String>::new()
    );
}

#[test]
fn facts_are_listed_with_how_many_runs_have_them() {
    let (_folder, store) = common::full();
    let keys = store.fact_keys().unwrap();
    for key in ["tool", "arm", "param.clients", "session"] {
        assert!(keys.iter().any(|known| known == key), "{keys:?}");
    }
    let arms = store.fact_values("arm").unwrap();
    let arms: Vec<(&str, u64)> = arms
        .iter()
        .map(|(arm, runs)| (arm.as_str(), *runs))
        .collect();
    assert_eq!(arms, [("6.1.0-50", 2), ("6.12.117", 3), ("null", 2)]);
    assert_eq!(store.fact_values("colour").unwrap(), []);
}

#[test]
fn a_run_is_found_by_the_beginning_of_its_name() {
    let (_folder, store) = common::full();
    let name = fixtures::corners().uuid;
    let text = name.to_string();
    assert_eq!(store.find(&text).unwrap(), name);
    assert_eq!(store.find(&text[..13]).unwrap(), name);
    assert_eq!(
        store
            .find(&text.replace('-', "")[..12].to_uppercase())
            .unwrap(),
        name
    );

    let error = store.find(&text[..8]).unwrap_err().to_string();
    assert!(error.contains("more than 10 runs"), "{error}");
    let error = store.find(&text[..10]).unwrap_err().to_string();
    for run in fixtures::all() {
        let named = error.contains(&run.uuid.to_string());
        assert_eq!(
            named,
            run.uuid.to_string().starts_with(&text[..10]),
            "{error}"
        );
    }
    for nothing in ["", "zebra", "ffff", "' OR 1=1 --", "%", &format!("{text}0")] {
        let error = store.find(nothing).unwrap_err().to_string();
        assert!(error.contains("no run in the store is called"), "{error}");
    }
    let unknown = Uuid::nil();
    assert!(
        store
            .run(&unknown)
            .unwrap_err()
            .to_string()
            .contains(&unknown.to_string())
    );
}

#[test]
fn a_text_that_was_imported_is_known_again() {
    let (_folder, store) = common::full();
    let kernmark_model::run::Origin::Imported { digest, .. } =
        fixtures::imported_mean_of_25().origin
    else {
        panic!("an import is imported");
    };
    assert_eq!(store.imported(&digest).unwrap().len(), 2);
    assert!(store.imported("00").unwrap().is_empty());
}
