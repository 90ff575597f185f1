//! How a test that cannot run here says so, by name. Not part of the program; see `docs/decisions/0002-skipped-tests.md`.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

/// Ends the calling test, aloud and by its name, unless the first argument is true. The second completes "needs …":
///
/// ```no_run
/// # let root = false;
/// kernmark_sys::skip_unless!(root, "root");
/// ```
#[macro_export]
macro_rules! skip_unless {
    ($met:expr, $needs:expr) => {
        if !$met {
            fn here() {}
            let path = ::std::any::type_name_of_val(&here);
            $crate::testing::skip(path.trim_end_matches("::here"), $needs);
            return;
        }
    };
}

/// Says on stderr, and in the file that `KERNMARK_SKIP_LOG` names, that a test cannot run and for want of what.
///
/// Test runners hide what a passing test prints, so `cargo xtask ci` collects the file and counts its lines.
pub fn skip(name: &str, needs: &str) {
    let line = format!("SKIPPED {name}: needs {needs}\n");
    #[expect(
        clippy::print_stderr,
        reason = "for the person who runs one test by hand"
    )]
    {
        eprint!("{line}");
    }
    #[expect(
        clippy::disallowed_methods,
        reason = "it comes from the test runner, not from a user"
    )]
    if let Some(log) = std::env::var_os("KERNMARK_SKIP_LOG") {
        let mut log = OpenOptions::new()
            .create(true)
            .append(true)
            .open(log)
            .expect("skip log opens");
        // One write: tests run side by side.
        log.write_all(line.as_bytes())
            .expect("skip log takes a line");
    }
}

/// Where an installed program lies; looks where root's programs are too, for those without them in PATH.
pub fn program(name: &str) -> Option<PathBuf> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a test finds programs as its shell does"
    )]
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin".into(), "/sbin".into()])
        .map(|folder| folder.join(name))
        .find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_program_is_found_and_nonsense_is_not() {
        assert!(program("sh").is_some());
        assert_eq!(program("no-such-program"), None);
    }

    /// Skips only when the test below starts it.
    #[test]
    fn victim() {
        #[expect(clippy::disallowed_methods, reason = "set by the test below")]
        let met = std::env::var_os("KERNMARK_SKIP_VICTIM").is_none();
        crate::skip_unless!(met, "a better world");
        assert!(met, "the line above ends an unfit test");
    }

    #[test]
    fn a_skipped_test_leaves_its_name_and_need() {
        let log = std::env::temp_dir().join(format!("kernmark-skip-{}", std::process::id()));
        let status = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "testing::tests::victim"])
            .env("KERNMARK_SKIP_VICTIM", "1")
            .env("KERNMARK_SKIP_LOG", &log)
            .output()
            .unwrap()
            .status;
        let text = std::fs::read_to_string(&log).unwrap();
        std::fs::remove_file(&log).unwrap();
        assert!(status.success());
        assert_eq!(
            text,
            "SKIPPED kernmark_sys::testing::tests::victim: needs a better world\n"
        );
    }
}
