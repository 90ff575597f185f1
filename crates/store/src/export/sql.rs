//! The store as SQL statements.

use std::fmt::Write as _;
use std::io::{self, Write};

use rusqlite::Connection;
use rusqlite::types::ValueRef;

use crate::error::Fault;
use crate::export::each;
use crate::{Detail, Selection, Store, StoreError, schema, write};

/// Writes statements from which `sqlite3` makes an equal database: a store again, which this program opens.
///
/// Without a selection and names to be taken out it is the whole store, plans included; else the selected runs alone.
/// Numbers are written so that no SQLite rounds them.
pub fn sql(
    store: &Store,
    selection: &Selection,
    redact: bool,
    out: &mut dyn Write,
) -> Result<(), StoreError> {
    let dumped = if *selection == Selection::default() && !redact {
        store
            .snapshot()
            .and_then(|_snapshot| dump(&store.connection, out))
    } else {
        part(store, selection, redact).and_then(|part| dump(&part, out))
    };
    store.told("exporting", dumped)?;
    out.flush().map_err(StoreError::Export)
}

/// The selected runs in a database of their own, which SQLite keeps in a file that has no name.
fn part(store: &Store, selection: &Selection, redact: bool) -> Result<Connection, Fault> {
    let mut part = Connection::open("")?;
    schema::migrate(&mut part, store.path())?;
    write::refresh_facts(&mut part)?;
    let change = part.transaction()?;
    let mut refused = None;
    each(store, selection, Detail::Full, redact, |run| {
        write::insert(&change, run).map(drop).map_err(|fault| {
            refused = Some(fault);
            io::Error::other("refused")
        })
    })
    .map_err(|error| refused.take().unwrap_or(Fault::Told(error)))?;
    change.commit()?;
    Ok(part)
}

fn dump(connection: &Connection, out: &mut dyn Write) -> Result<(), Fault> {
    let mut write = |text: &str| -> Result<(), Fault> {
        Ok(out.write_all(text.as_bytes()).map_err(StoreError::Export)?)
    };
    write("PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;\n")?;
    for pragma in ["application_id", "user_version"] {
        let value: i64 = connection.pragma_query_value(None, pragma, |row| row.get(0))?;
        write(&format!("PRAGMA {pragma}={value};\n"))?;
    }
    let mut schema = connection
        .prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type = 'table' DESC, rowid")?;
    let mut objects = schema.query([])?;
    while let Some(object) = objects.next()? {
        let (kind, name): (String, String) = (object.get(0)?, object.get(1)?);
        write(&format!("{};\n", object.get::<_, String>(2)?))?;
        if kind == "table" {
            let mut table = connection.prepare(&format!("SELECT * FROM \"{name}\""))?;
            let columns = table.column_count();
            let mut rows = table.query([])?;
            while let Some(row) = rows.next()? {
                let mut text = format!("INSERT INTO \"{name}\" VALUES(");
                for column in 0..columns {
                    if column > 0 {
                        text.push(',');
                    }
                    literal(&mut text, row.get_ref(column)?);
                }
                text.push_str(");\n");
                write(&text)?;
            }
        }
    }
    write("COMMIT;\n")
}

fn literal(out: &mut String, value: ValueRef<'_>) {
    match value {
        ValueRef::Null => out.push_str("NULL"),
        ValueRef::Integer(number) => {
            let _ = write!(out, "{number}");
        }
        ValueRef::Real(number) => real(out, number),
        // sqlite3 drops a carriage return at a line's end and stops at a NUL.
        ValueRef::Text(text) if text.iter().any(u8::is_ascii_control) => {
            out.push_str("CAST(");
            blob(out, text);
            out.push_str(" AS TEXT)");
        }
        ValueRef::Text(text) => {
            let text = String::from_utf8_lossy(text);
            let _ = write!(out, "'{}'", text.replace('\'', "''"));
        }
        ValueRef::Blob(bytes) => blob(out, bytes),
    }
}

fn blob(out: &mut String, bytes: &[u8]) {
    out.push_str("X'");
    for byte in bytes {
        // Writing into a String cannot fail.
        let _ = write!(out, "{byte:02X}");
    }
    out.push('\'');
}

/// An expression that any SQLite evaluates to exactly this number. Its reader of decimals is off by one bit for one long
/// decimal in ten thousand, so that only what it cannot get wrong is written as one: a whole number of thousandths, which
/// is one division. Else it is a whole number times or over powers of two, in which nothing is rounded.
fn real(out: &mut String, number: f64) {
    /// 2^59, below 10^18: the reader takes 18 digits exactly.
    const STEP: (i32, &str) = (59, "576460752303423488.0");
    let decimal = format!("{number:?}");
    let places = decimal.split_once('.').map_or(usize::MAX, |(_, places)| {
        if places.contains('e') {
            usize::MAX
        } else {
            places.len()
        }
    });
    if places <= 3 && decimal.len() <= 16 {
        out.push_str(&decimal);
        return;
    }
    let bits = number.to_bits();
    let sign = if number.is_sign_negative() { "-" } else { "" };
    let exponent = i32::from(u16::try_from(bits >> 52 & 0x7ff).unwrap_or_default());
    let fraction = bits & ((1 << 52) - 1);
    let (mut whole, mut power) = if exponent == 0 {
        (fraction, -1074)
    } else {
        (fraction | 1 << 52, exponent - 1075)
    };
    while whole % 2 == 0 && whole > 0 {
        whole /= 2;
        power += 1;
    }
    let _ = write!(out, "{sign}{whole}.0");
    let operator = if power < 0 { '/' } else { '*' };
    let mut left = power.abs();
    while left > 0 {
        let step = left.min(STEP.0);
        let factor = if step == STEP.0 {
            STEP.1.to_owned()
        } else {
            format!("{}.0", 1_u64 << step)
        };
        let _ = write!(out, "{operator}{factor}");
        left -= step;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_to_the_last_bit() {
        let connection = Connection::open_in_memory().unwrap();
        // Multiples of the golden ratio spread over all bit patterns.
        let spread = (1..2_000_u64).map(|n| f64::from_bits(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        let named = [
            0.0,
            1.0,
            0.005,
            229.87,
            -1e300,
            0.1 + 0.2,
            f64::MIN_POSITIVE,
            f64::MIN_POSITIVE / 8.0,
            5e-324,
            f64::MAX,
            1e18,
            123_456_789.123,
        ];
        for number in named
            .into_iter()
            .chain(spread.filter(|number| number.is_finite()))
        {
            let mut text = String::new();
            real(&mut text, number);
            let read: f64 = connection
                .query_row(&format!("SELECT {text}"), [], |row| row.get(0))
                .unwrap();
            assert_eq!(
                read.to_bits(),
                number.to_bits(),
                "{number:?} was written as {text}"
            );
        }
    }

    #[test]
    fn usual_numbers_stay_readable() {
        for (number, text) in [
            (0.005, "0.005"),
            (96.3, "96.3"),
            (3.0, "3.0"),
            (-0.5, "-0.5"),
        ] {
            let mut out = String::new();
            real(&mut out, number);
            assert_eq!(out, text);
        }
    }
}
