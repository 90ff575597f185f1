use super::*;
use crate::dbench::loadfile::OpCode;
use crate::dbench::mix::Mix;
use crate::dbench::mix::tests::assert_standard;

/// Acceptance: every row of the table of tolerances, for the seed that is the default and for
/// others.
#[test]
fn the_generated_file_keeps_every_tolerance() {
    for seed in [STANDARD_SEED, 0, u64::MAX] {
        let recipe = Recipe::new(STANDARD_ITERATIONS, seed).unwrap();
        let loadfile = recipe.loadfile().unwrap();
        assert_eq!(loadfile.warnings, []);
        let mix = Mix::of(&loadfile);
        eprintln!("{mix}");
        assert_standard(&mix, &format!("seed {seed}"));
        assert_eq!(
            loadfile.op_lines[loadfile.setup_end], 604,
            "after one comment and 602 lines of set-up"
        );
    }
}

/// What is in no tolerance, yet makes it the same kind of work.
#[test]
fn the_generated_file_is_alike_in_what_follows_what() {
    let mix = Mix::of(&Recipe::default().loadfile().unwrap());
    let follows = |first: OpCode, second: OpCode| {
        mix.successions[first.index()][second.index()] as f64 * 100.0 / mix.ops() as f64
    };
    // First, second, share of all in the file that comes with dbench.
    let standard = [
        (OpCode::ReadX, OpCode::ReadX, 20.0),
        (OpCode::QueryPath, OpCode::QueryPath, 5.8),
        (OpCode::NtCreateX, OpCode::ReadX, 5.7),
        (OpCode::NtCreateX, OpCode::NtCreateX, 3.9),
        (OpCode::QueryPath, OpCode::NtCreateX, 3.7),
        (OpCode::Close, OpCode::NtCreateX, 3.5),
        (OpCode::WriteX, OpCode::WriteX, 3.0),
        (OpCode::QueryPath, OpCode::Unlink, 2.7),
    ];
    for (first, second, share) in standard {
        let got = follows(first, second);
        eprintln!("{first:?} then {second:?}: {got:.1}, there {share}");
        assert!(
            (got - share).abs() < 1.5,
            "{first:?} then {second:?}: {got:.1} against {share}"
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let text = |iterations, seed| Recipe::new(iterations, seed).unwrap().text();
    assert_eq!(text(2, 7), text(2, 7));
    assert_ne!(text(2, 7), text(2, 8));
    let (shorter, longer) = (text(2, 7), text(3, 7));
    let common = shorter
        .iter()
        .zip(&longer)
        .skip(100)
        .take(300_000)
        .filter(|(a, b)| a == b)
        .count();
    assert_eq!(common, 300_000, "more iterations begin as fewer do");
}

/// The digest changes only with a version that says so: stored runs name their loadfile by it.
#[test]
fn the_standard_file_is_the_one_that_earlier_versions_made() {
    let loadfile = Recipe::default().loadfile().unwrap();
    assert_eq!(loadfile.digest_hex(), STANDARD_DIGEST);
}

const STANDARD_DIGEST: &str = "587c08cdb30dbb2253ae2fb082f0ab778fe78f464716ae714a8ee702a1300059";

#[test]
fn every_seed_gives_a_file_whose_operations_end_as_they_say() {
    for seed in 0..60 {
        let loadfile = Recipe::new(1, seed).unwrap().loadfile().unwrap();
        let mix = Mix::of(&loadfile);
        assert_eq!(
            (&mix.unexpected, &loadfile.warnings),
            (&vec![], &vec![]),
            "seed {seed}"
        );
        assert!(loadfile.left_open.is_empty());
        assert_eq!(mix.setup_bytes, 20 << 20);
    }
}

#[test]
fn the_second_pass_ends_as_the_first() {
    let text = Recipe::new(2, 3).unwrap().text();
    let mix = Mix::of(&loadfile::parse(&text.repeat(2)).unwrap());
    // Only the folder above all clients is there already, which no dbench minds.
    let kinds: Vec<OpCode> = mix
        .unexpected
        .iter()
        .map(|unexpected| unexpected.code)
        .collect();
    assert_eq!(kinds, [OpCode::Mkdir]);
}

#[test]
fn a_number_of_iterations_that_cannot_be_had_is_refused() {
    for iterations in [0, MAX_ITERATIONS + 1, u32::MAX] {
        assert_eq!(Recipe::new(iterations, 1), Err(RecipeError { iterations }));
    }
    let longest = Recipe::new(4, 1).unwrap().text().len() - Recipe::new(1, 1).unwrap().text().len();
    assert!(
        longest <= 3 * script::ITERATION_BYTES,
        "{longest} bytes in three iterations"
    );
}
