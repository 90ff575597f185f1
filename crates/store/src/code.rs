//! How values of the model become column values, and back.

use std::fmt::Display;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use kernmark_model::run::CounterPair;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use crate::StoreError;

/// Version of the stored form of counters.
const COUNTERS_VERSION: u8 = 1;

/// No pair of counters is larger: a damaged blob must not eat the memory.
const MOST_COUNTER_BYTES: u64 = 64 << 20;

/// JSON that reads back. A number that is none (not finite) would be written as `null` and make the run unreadable.
pub(crate) fn to_json<T: Serialize + DeserializeOwned>(
    run: Uuid,
    what: &str,
    value: &T,
) -> Result<String, StoreError> {
    serde_json::to_string(value)
        .and_then(|text| serde_json::from_str::<T>(&text).map(|_| text))
        .map_err(|error| StoreError::Inconsistent {
            run,
            why: format!("its {what} cannot be written as JSON ({error})"),
        })
}

/// Reads JSON that [`to_json`] wrote.
pub(crate) fn from_json<T: DeserializeOwned>(
    what: impl Display,
    text: &str,
) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| unreadable(what, error))
}

pub(crate) fn unreadable(what: impl Display, why: impl Display) -> StoreError {
    StoreError::Unreadable {
        what: what.to_string(),
        why: why.to_string(),
    }
}

/// The word that stands for a value of an enum without fields.
pub(crate) fn to_word<T: Serialize>(value: &T) -> Option<String> {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => Some(word),
        _ => None,
    }
}

/// Reads what [`to_word`] wrote.
pub(crate) fn from_word<T: DeserializeOwned>(
    what: impl Display,
    word: String,
) -> Result<T, StoreError> {
    serde_json::from_value(Value::String(word)).map_err(|error| unreadable(what, error))
}

/// The stored form of counters: a version byte, then deflated JSON.
pub(crate) fn counters_to_bytes(run: Uuid, counters: &CounterPair) -> Result<Vec<u8>, StoreError> {
    let json = to_json(run, "counters", counters)?;
    let mut encoder = DeflateEncoder::new(vec![COUNTERS_VERSION], Compression::default());
    encoder
        .write_all(json.as_bytes())
        .and_then(|()| encoder.finish())
        .map_err(|error| StoreError::Inconsistent {
            run,
            why: format!("its counters cannot be packed ({error})"),
        })
}

/// Reads the stored form of counters.
pub(crate) fn counters_from_bytes(
    what: impl Display,
    bytes: &[u8],
) -> Result<CounterPair, StoreError> {
    let Some((&COUNTERS_VERSION, packed)) = bytes.split_first() else {
        let version = bytes.first();
        return Err(match version {
            None => unreadable(what, "counters damaged"),
            Some(version) => unreadable(
                what,
                format!("counters of version {version}, which this program does not know"),
            ),
        });
    };
    let mut json = String::new();
    match DeflateDecoder::new(packed)
        .take(MOST_COUNTER_BYTES)
        .read_to_string(&mut json)
    {
        Ok(_) => from_json(what, &json),
        Err(error) => Err(unreadable(what, error)),
    }
}

#[cfg(test)]
mod tests {
    use kernmark_model::counters::Counters;
    use kernmark_model::run::Doubt;

    use super::*;

    #[test]
    fn counters_read_back_and_damage_is_told() {
        let pair = CounterPair {
            before: Counters::default(),
            after: Counters::default(),
        };
        let bytes = counters_to_bytes(Uuid::nil(), &pair).unwrap();
        assert_eq!(counters_from_bytes("x", &bytes).unwrap(), pair);
        for (bytes, why) in [
            (&[][..], "damaged"),
            (&[9, 1, 2], "version 9"),
            (&[1, 0xff, 0xff], "deflate"),
            (&bytes[..bytes.len() - 2], ""),
        ] {
            let message = counters_from_bytes("x", bytes).unwrap_err().to_string();
            assert!(message.contains(why), "{message}");
        }
    }

    #[test]
    fn a_number_that_is_none_is_refused_and_not_lost() {
        let doubt = Doubt::Unfair {
            phase: "x".into(),
            jain: f64::NAN,
        };
        let message = to_json(Uuid::nil(), "doubts", &doubt)
            .unwrap_err()
            .to_string();
        assert!(message.contains("doubts"), "{message}");
    }
}
