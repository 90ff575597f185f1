use super::*;
use kernmark_model::comparison::{Question, compare};
use kernmark_model::fixtures;
#[test]
fn look() {
    for run in fixtures::all() {
        println!("{}\n=======", run_text(&run, Form::Text));
    }
    println!(
        "{}",
        runs_text(
            &fixtures::all().iter().map(RunLine::of).collect::<Vec<_>>(),
            Form::Text
        )
    );
    let runs = fixtures::blocked_session_with_a_void();
    println!(
        "{}",
        comparisons_text(
            &compare(&runs, &Question::by(&["arm"])).unwrap(),
            Form::Text
        )
    );
}
