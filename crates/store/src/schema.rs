//! The schema: its migrations, and its documentation from them.

use std::fmt::Write as _;
use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::StoreError;
use crate::error::Fault;

/// One step to each schema from the one before; once released, a step is never edited.
const MIGRATIONS: &[&str] = &[include_str!("migrations/0001-runs-and-plans.sql")];

/// The schema of this program.
pub(crate) const KNOWN: u32 = 1;
const _: () = assert!(MIGRATIONS.len() == KNOWN as usize);

/// Marks a database as ours, in its header: the letters KMRK.
const APPLICATION: i32 = 0x4b4d_524b;

/// The schema of the file, 0 for one without anything in it. Another program's file and a later schema are refused.
pub(crate) fn version(connection: &Connection, path: &Path) -> Result<u32, Fault> {
    let application: i32 =
        connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let path = path.to_owned();
    if application != APPLICATION {
        let objects: i64 =
            connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        if application != 0 || objects > 0 || found > 0 {
            return Err(StoreError::Foreign { path }.into());
        }
    }
    if found > KNOWN {
        return Err(StoreError::Newer {
            path,
            found,
            known: KNOWN,
        }
        .into());
    }
    Ok(found)
}

/// Brings the file to the present schema, in one transaction.
pub(crate) fn migrate(connection: &mut Connection, path: &Path) -> Result<(), Fault> {
    if version(connection, path)? == KNOWN {
        return Ok(());
    }
    let change = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it meanwhile.
    let found = version(&change, path)?;
    for step in MIGRATIONS.iter().skip(found as usize) {
        change.execute_batch(step)?;
    }
    change.pragma_update(None, "application_id", APPLICATION)?;
    change.pragma_update(None, "user_version", KNOWN)?;
    change.commit()?;
    Ok(())
}

/// The schema as a page of Markdown: every table and column with the comment that stands before it in the migrations.
pub fn schema_markdown() -> String {
    let mut page = String::from(
        "# The store's schema\n\n\
         Written by `cargo xtask docs` from the migrations in `crates/store/src/migrations`; edit those.\n\n\
         The store is one SQLite file. Its header carries the application id 0x4b4d524b (\"KMRK\") and, as\n\
         `user_version`, the number of its schema. It may be read with any SQLite program; write it only with kernmark.\n",
    );
    for (index, step) in MIGRATIONS.iter().enumerate() {
        let _ = write!(page, "\n## Schema {}\n", index + 1);
        document(step, &mut page);
    }
    page
}

/// Migrations are written one column, constraint or bracket a line; comments stand on lines of their own, before what
/// they explain.
fn document(step: &str, page: &mut String) {
    let mut comment = String::new();
    let mut inside = false;
    for line in step.lines() {
        let text = line.trim();
        if let Some(words) = text.strip_prefix("--") {
            if !comment.is_empty() {
                comment.push(' ');
            }
            comment.push_str(words.trim());
            continue;
        }
        // Writing into a String cannot fail.
        let _ = if let Some(table) = text.strip_prefix("CREATE TABLE ") {
            inside = true;
            let name = table.trim_end_matches('(').trim();
            write!(
                page,
                "\n### `{name}`\n\n{comment}\n\n| column | type | meaning |\n|---|---|---|\n"
            )
        } else if text.starts_with(')') {
            inside = false;
            Ok(())
        } else if inside && !text.is_empty() {
            let text = text.trim_end_matches(',');
            let name = text.split(' ').next().unwrap_or_default();
            if name.starts_with(|c: char| c.is_ascii_uppercase()) {
                writeln!(page, "| | `{text}` | {comment} |")
            } else {
                let kind = text.strip_prefix(name).unwrap_or_default().trim();
                writeln!(page, "| `{name}` | `{}` | {} |", cell(kind), cell(&comment))
            }
        } else if let Some(index) = text.strip_prefix("CREATE INDEX ") {
            writeln!(page, "\nIndex `{}`: {comment}", index.trim_end_matches(';'))
        } else if let Some(index) = text.strip_prefix("CREATE UNIQUE INDEX ") {
            let index = index.trim_end_matches(';');
            writeln!(page, "\nUnique index `{index}`: {comment}")
        } else if let Some(view) = text.strip_prefix("CREATE VIEW ") {
            let name = view.trim_end_matches(" AS");
            writeln!(page, "\n### View `{name}`\n\n{comment}")
        } else if text.is_empty()
            && page.ends_with(|c: char| c.is_ascii_digit() || c == '\n')
            && !comment.is_empty()
        {
            // A comment that stands alone is about what follows as a whole.
            writeln!(page, "\n{comment}")
        } else {
            Ok(())
        };
        comment.clear();
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn present() -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, Path::new("test")).unwrap();
        connection
    }

    #[test]
    fn every_table_and_column_is_explained() {
        let connection = present();
        let page = schema_markdown();
        let mut columns = connection
            .prepare(
                "SELECT t.name, c.name FROM sqlite_schema t JOIN pragma_table_info(t.name) c WHERE t.type = 'table'",
            )
            .unwrap();
        let columns: Vec<(String, String)> = columns
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert!(columns.len() > 80, "{}", columns.len());
        for (table, column) in columns {
            let part = page.split(&format!("\n### `{table}`\n")).nth(1).unwrap();
            let part = part.split("\n### ").next().unwrap();
            let line = part
                .lines()
                .find(|line| line.starts_with(&format!("| `{column}` |")))
                .unwrap_or_else(|| panic!("{table}.{column} is not in\n{part}"));
            let meaning = line.split(" | ").nth(2).unwrap_or_default();
            assert!(
                meaning.trim_end_matches(" |").len() > 5,
                "{table}.{column}: {line}"
            );
        }
        for (kind, heading) in [("index", "ndex `"), ("view", "### View `")] {
            let mut names = connection
                .prepare("SELECT name FROM sqlite_schema WHERE type = ?1 AND sql IS NOT NULL")
                .unwrap();
            let names = names
                .query_map([kind], |row| row.get::<_, String>(0))
                .unwrap();
            for name in names.map(Result::unwrap) {
                assert!(
                    page.contains(&format!("{heading}{name}")),
                    "{name} is not explained"
                );
            }
        }
    }

    #[test]
    fn every_table_is_strict() {
        let connection = present();
        let loose: Vec<String> = connection
            .prepare("SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND NOT strict AND name NOT LIKE 'sqlite_%'")
            .unwrap()
            .query_map([], |row| row.get(0))
            .unwrap()
            .collect::<Result<_, _>>()
            .unwrap();
        assert_eq!(loose, Vec::<String>::new());
    }

    #[test]
    fn the_page_reads_like_this() {
        let page = schema_markdown();
        let phase = page.split("\n### `op`\n").nth(1).unwrap();
        let phase = phase.split("\n### ").next().unwrap();
        assert_eq!(
            phase,
            "
Name of a kind of operation in a phase.

| column | type | meaning |
|---|---|---|
| `phase` | `INTEGER NOT NULL REFERENCES phase (id) ON DELETE CASCADE` | The phase. |
| `op` | `INTEGER NOT NULL` | Index of the op within the phase, from 0. |
| `name` | `TEXT NOT NULL` | The name that people know. |
| `span` | `INTEGER NOT NULL` | 1 for a span of several ops, which is timed but not added to them; else 0. |
| `direction` | `TEXT` | Which way its bytes go, 'read' or 'write'; NULL for an op that moves none, or both ways. |
| | `PRIMARY KEY (phase, op)` |  |
"
        );
        assert!(page.contains(
            "\n## Schema 1\n\nUnless a column says otherwise: durations are nanoseconds"
        ));
    }
}
