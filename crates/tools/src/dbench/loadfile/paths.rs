//! Interned paths, and how a client's own path is made of one.

use std::collections::HashMap;

/// What stands for the client in a loadfile's paths.
const CLIENT: &[u8] = b"client1";

/// A distinct path of a loadfile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(u32);

impl PathId {
    /// The path as an index, dense from zero in the order of first use.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A path as the loadfile has it: begins with `/`, backslashes turned, `client1` where the client's
/// name goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathTemplate {
    text: Box<[u8]>,
    /// Where each `client1` begins.
    clients: Box<[u32]>,
}

impl PathTemplate {
    fn new(text: &[u8]) -> PathTemplate {
        let mut clients = Vec::new();
        let mut at = 0;
        // Lines are at most 1,024 bytes, so positions fit and the search may be plain.
        while let Some(found) = text[at..]
            .windows(CLIENT.len())
            .position(|window| window == CLIENT)
        {
            at += found;
            clients.extend(u32::try_from(at));
            at += CLIENT.len();
        }
        PathTemplate {
            text: text.into(),
            clients: clients.into(),
        }
    }

    /// The loadfile's own text.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The path that client number `client` uses under `base`.
    ///
    /// Every `client1` of the loadfile's part becomes `client<number>`; the base directory stays as
    /// it is, whatever it is called. (dbench 4 and later rewrite the base too, so a base called
    /// `client1` breaks it.) No byte is zero unless the base has one.
    pub fn for_client(&self, base: &[u8], client: u32) -> Vec<u8> {
        let name = format!("client{client}");
        let mut path =
            Vec::with_capacity(base.len() + self.text.len() + self.clients.len() * name.len());
        path.extend_from_slice(base);
        let mut copied = 0;
        for &begin in &self.clients {
            path.extend_from_slice(&self.text[copied..begin as usize]);
            path.extend_from_slice(name.as_bytes());
            copied = begin as usize + CLIENT.len();
        }
        path.extend_from_slice(&self.text[copied..]);
        path
    }
}

/// Every distinct path of a loadfile.
#[derive(Debug, Default)]
pub struct Paths {
    templates: Vec<PathTemplate>,
}

impl Paths {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.templates.len()
    }

    /// Whether no operation names a path.
    pub fn is_empty(&self) -> bool {
        self.templates.is_empty()
    }

    /// The path with that number.
    pub fn get(&self, id: PathId) -> &PathTemplate {
        &self.templates[id.index()]
    }

    /// All of them, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &PathTemplate> {
        self.templates.iter()
    }

    /// The paths of one client, in the order of their numbers: see [`PathTemplate::for_client`].
    pub fn for_client(&self, base: &[u8], client: u32) -> Vec<Vec<u8>> {
        self.iter()
            .map(|path| path.for_client(base, client))
            .collect()
    }
}

/// Gives each distinct path its number while a loadfile is read.
#[derive(Debug, Default)]
pub(super) struct Interner {
    numbers: HashMap<Box<[u8]>, PathId>,
    paths: Paths,
}

impl Interner {
    /// The number of this text, a new one if it was not met before.
    pub(super) fn intern(&mut self, text: &[u8]) -> PathId {
        if let Some(&id) = self.numbers.get(text) {
            return id;
        }
        let number =
            u32::try_from(self.paths.templates.len()).expect("fewer paths than twice MAX_OPS");
        let id = PathId(number);
        self.numbers.insert(text.into(), id);
        self.paths.templates.push(PathTemplate::new(text));
        id
    }

    pub(super) fn finish(self) -> Paths {
        self.paths
    }
}
