//! `docs/versus.md`: a section a tool, replaced in place, and the raw pairs beside it.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};
use kernmark_model::units::Bytes;
use serde::Serialize;

use super::FEWEST_PAIRS;
use crate::command::{output, root};

const PAGE: &str = "docs/versus.md";

/// What stands above the sections.
const PREFACE: &str = "\
# Ours against the originals

Each section is written by `cargo xtask versus TOOL`, which also leaves every pair in `docs/versus/TOOL.json`.

- Both programs run on one machine in pairs, and take turns in going first. Before each run the memory that it will
  need is written to once and given back, so that no run pays for pages a virtual machine had handed to its host.
- A ratio is ours over the original's. The estimate is Hodges-Lehmann's on the log scale; the interval, in brackets, is
  the exact signed-rank interval at 95 %.
- **passes**: the interval reaches 1.00 and the estimate is at least 0.97. **ahead**: the whole interval is above 1.00.
  **behind**: anything else. Fewer than 12 pairs are never written here.
- Absolute figures are medians over one side's runs. They tell how the machine was that day; only the ratio compares.
";

/// On what, when and from which state of the source the figures come.
#[derive(Serialize)]
pub(super) struct Circumstances {
    date: String,
    /// Short commit, with `+` if the checkout had changes.
    commit: String,
    /// The original's Debian version, or "unknown".
    original: String,
    kernel: String,
    processor: String,
    processors: usize,
    memory_mib: u64,
}

impl Circumstances {
    /// Now and here, against the original of that Debian package.
    pub(super) fn new(package: &str) -> Result<Self> {
        let words = |program: &str, arguments: &[&str]| {
            let mut command = Command::new(program);
            output(command.current_dir(root()).args(arguments)).map(|text| text.trim().to_owned())
        };
        let cpuinfo = fs::read_to_string("/proc/cpuinfo").context("reading /proc/cpuinfo")?;
        let meminfo = fs::read_to_string("/proc/meminfo").context("reading /proc/meminfo")?;
        let memory =
            value(&meminfo, "MemTotal").and_then(|text| text.split(' ').next()?.parse().ok());
        let changed = !words("git", &["status", "--porcelain"])?.is_empty();
        let commit = words("git", &["rev-parse", "--short", "HEAD"])?;
        Ok(Self {
            date: words("date", &["--utc", "+%F"])?,
            commit: if changed { commit + "+" } else { commit },
            original: words(
                "dpkg-query",
                &["--show", "--showformat=${Version}", package],
            )
            .map_or_else(
                |_| "unknown".to_owned(),
                |version| format!("{package} {version}"),
            ),
            kernel: words("uname", &["-sr"])?,
            processor: value(&cpuinfo, "model name")
                .unwrap_or("unknown")
                .to_owned(),
            processors: std::thread::available_parallelism()
                .context("counting processors")?
                .get(),
            memory_mib: Bytes::kib(memory.context("no MemTotal in /proc/meminfo")?).0 >> 20,
        })
    }

    /// One line for people.
    pub(super) fn line(&self) -> String {
        let Self {
            date,
            commit,
            original,
            kernel,
            processor,
            processors,
            memory_mib,
        } = self;
        format!(
            "{date}, kernmark {commit} against Debian's {original}; {processors} × {processor}, {memory_mib} MiB, {kernel}.\n"
        )
    }
}

/// `name : value` in a text of /proc.
fn value<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(found, _)| found.trim() == name)
        .map(|(_, value)| value.trim())
}

/// The median of what one side's runs have; 0 of none.
pub(super) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let upper = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
    let lower = sorted
        .get(sorted.len().saturating_sub(1) / 2)
        .copied()
        .unwrap_or(0.0);
    lower.midpoint(upper)
}

/// Writes the section and the raw pairs, unless there are too few of them.
pub(super) fn publish(tool: &str, section: &str, pairs: usize, raw: &impl Serialize) -> Result<()> {
    if pairs < FEWEST_PAIRS {
        println!("{pairs} pairs are fewer than {FEWEST_PAIRS}: {PAGE} is left as it is");
        return Ok(());
    }
    let folder = root().join("docs/versus");
    fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
    let path = folder.join(tool).with_extension("json");
    let json = serde_json::to_string_pretty(raw).context("writing the pairs as JSON")?;
    fs::write(&path, json + "\n").with_context(|| format!("writing {}", path.display()))?;

    let page = root().join(PAGE);
    let old = if page.exists() {
        fs::read_to_string(&page).with_context(|| format!("reading {PAGE}"))?
    } else {
        PREFACE.to_owned()
    };
    fs::write(&page, with_section(&old, tool, section)).with_context(|| format!("writing {PAGE}"))
}

/// The page with the tool's section replaced, or added at its end.
fn with_section(page: &str, tool: &str, section: &str) -> String {
    let heading = format!("## {tool}\n");
    let start = page
        .find(&format!("\n{heading}"))
        .map_or(page.len(), |newline| newline + 1);
    let (before, rest) = page.split_at(start);
    let after = rest
        .get(1..)
        .and_then(|rest| rest.find("\n## "))
        .map_or("", |next| &rest[next + 2..]);
    let gap = if before.ends_with("\n\n") { "" } else { "\n" };
    let tail = if after.is_empty() {
        String::new()
    } else {
        format!("\n{after}")
    };
    format!("{before}{gap}{heading}\n{}\n{tail}", section.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_added_and_then_replaced_in_place() {
        let one = with_section("# Page\n", "dbench", "first");
        assert_eq!(one, "# Page\n\n## dbench\n\nfirst\n");
        let two = with_section(&one, "null", "other");
        assert_eq!(two, "# Page\n\n## dbench\n\nfirst\n\n## null\n\nother\n");
        let again = with_section(&two, "dbench", "second\nlonger\n");
        assert_eq!(
            again,
            "# Page\n\n## dbench\n\nsecond\nlonger\n\n## null\n\nother\n"
        );
        assert_eq!(with_section(&again, "null", "other"), again);
    }

    #[test]
    fn medians() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), 2.0);
        assert_eq!(median([4.0, 1.0, 2.0, 3.0].into_iter()), 2.5);
        assert_eq!(median([].into_iter()), 0.0);
    }

    #[test]
    fn values_of_proc() {
        let text = "processor\t: 0\nmodel name\t: Some CPU\nMemTotal:   1234 kB\n";
        assert_eq!(value(text, "model name"), Some("Some CPU"));
        assert_eq!(value(text, "MemTotal"), Some("1234 kB"));
        assert_eq!(value(text, "absent"), None);
    }
}
