//! What a user types and what he sees: the cases in `cmd/`.

mod support;

#[test]
fn what_is_typed_gives_what_is_shown() {
    let home = tempfile::tempdir().unwrap();
    let cases = trycmd::TestCases::new();
    cases
        .register_bin("kernmark", support::program())
        .env("HOME", home.path().to_str().unwrap())
        .env("XDG_DATA_HOME", "")
        .env("KERNMARK_DB", "")
        .env("KERNMARK_LOG", "")
        .env("SUDO_UID", "")
        .env("COLUMNS", "100")
        .env("NO_COLOR", "1")
        .case("tests/cmd/*.trycmd");
}
