//! A filesystem without a disk: which names exist, how long each file is, what POSIX says to each
//! call.

use std::collections::HashMap;

use super::super::loadfile::{PathId, Paths};

/// The number of a path component, the same for the same bytes.
type Component = u32;

/// A file or directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Node(usize);

const ROOT: Node = Node(0);

#[derive(Debug)]
enum Content {
    File {
        size: u64,
    },
    Directory {
        entries: HashMap<Component, Node>,
        files: usize,
    },
}

impl Content {
    fn empty_directory() -> Content {
        Content::Directory {
            entries: HashMap::new(),
            files: 0,
        }
    }
}

/// The tree below one client's base directory, which is empty at first.
#[derive(Debug)]
pub(super) struct Namespace {
    /// Nothing is taken out, so that open handles of unlinked files stay good.
    nodes: Vec<Content>,
    /// For each path of the loadfile its components.
    paths: Vec<Vec<Component>>,
    /// The bytes of each component.
    names: Vec<Vec<u8>>,
    files: u64,
    /// Wide, since a loadfile may ask for many files of 2^63 bytes.
    bytes: u128,
}

/// What opening a path did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opened {
    /// It was there.
    Existing(Node),
    /// It is new.
    New(Node),
    /// It could not be opened.
    Failed,
}

impl Namespace {
    pub(super) fn new(paths: &Paths) -> Namespace {
        let mut numbers: HashMap<&[u8], Component> = HashMap::new();
        let mut names = Vec::new();
        let mut number = |name| {
            *numbers.entry(name).or_insert_with(|| {
                names.push(name.to_vec());
                Component::try_from(names.len() - 1).expect("fewer names than bytes in a loadfile")
            })
        };
        let paths = paths
            .iter()
            .map(|path| components(path.text()).map(&mut number).collect())
            .collect();
        Namespace {
            nodes: vec![Content::empty_directory()],
            paths,
            names,
            files: 0,
            bytes: 0,
        }
    }

    /// Files that have a name.
    pub(super) fn files(&self) -> u64 {
        self.files
    }

    /// The sizes of the files that have a name, added up.
    pub(super) fn bytes(&self) -> u64 {
        u64::try_from(self.bytes).unwrap_or(u64::MAX)
    }

    /// What is called `path` now.
    pub(super) fn lookup(&self, path: PathId) -> Option<Node> {
        self.walk(&self.paths[path.index()])
    }

    fn walk(&self, components: &[Component]) -> Option<Node> {
        components.iter().try_fold(ROOT, |node, component| {
            self.entries(node)?.get(component).copied()
        })
    }

    fn entries(&self, node: Node) -> Option<&HashMap<Component, Node>> {
        match &self.nodes[node.0] {
            Content::Directory { entries, .. } => Some(entries),
            Content::File { .. } => None,
        }
    }

    pub(super) fn is_directory(&self, node: Node) -> bool {
        self.entries(node).is_some()
    }

    /// The length of a file, zero of a directory.
    pub(super) fn size(&self, node: Node) -> u64 {
        match self.nodes[node.0] {
            Content::File { size } => size,
            Content::Directory { .. } => 0,
        }
    }

    /// `open` with or without `O_CREAT` and `O_TRUNC`; a directory opens too, as dbench tries that
    /// next.
    pub(super) fn open(&mut self, path: PathId, create: bool, truncate: bool) -> Opened {
        if let Some(node) = self.lookup(path) {
            if truncate && !self.is_directory(node) {
                self.set_size(node, 0, true);
            }
            return Opened::Existing(node);
        }
        if !create {
            return Opened::Failed;
        }
        match self.insert(path, Content::File { size: 0 }) {
            Some(node) => {
                self.files += 1;
                Opened::New(node)
            }
            None => Opened::Failed,
        }
    }

    /// `mkdir`; `false` if the name is taken or its parent is no directory.
    pub(super) fn make_directory(&mut self, path: PathId) -> bool {
        self.lookup(path).is_none() && self.insert(path, Content::empty_directory()).is_some()
    }

    fn insert(&mut self, path: PathId, content: Content) -> Option<Node> {
        let (parent, name) = self.parent(path)?;
        let node = Node(self.nodes.len());
        self.nodes.push(content);
        self.link(parent, name, node);
        Some(node)
    }

    /// The directory a path lies in, and its last component.
    fn parent(&self, path: PathId) -> Option<(Node, Component)> {
        let (&name, above) = self.paths[path.index()].split_last()?;
        let parent = self.walk(above)?;
        self.entries(parent)?;
        Some((parent, name))
    }

    /// Gives `node` a name in a directory, in place of what has it now.
    fn link(&mut self, parent: Node, name: Component, node: Node) {
        self.unlink_name(parent, name);
        let is_file = !self.is_directory(node);
        if let Content::Directory { entries, files } = &mut self.nodes[parent.0] {
            entries.insert(name, node);
            *files += usize::from(is_file);
        }
    }

    /// Takes a name out of a directory.
    fn unlink_name(&mut self, parent: Node, name: Component) {
        let is_file = self
            .entries(parent)
            .and_then(|entries| entries.get(&name))
            .is_some_and(|&node| !self.is_directory(node));
        if let Content::Directory { entries, files } = &mut self.nodes[parent.0] {
            entries.remove(&name);
            *files -= usize::from(is_file);
        }
    }

    /// Lengthens a file to `size` if it is shorter; `named` if it still has a name.
    pub(super) fn grow(&mut self, node: Node, size: u64, named: bool) {
        if size > self.size(node) {
            self.set_size(node, size, named);
        }
    }

    fn set_size(&mut self, node: Node, new: u64, named: bool) {
        if let Content::File { size } = &mut self.nodes[node.0] {
            if named {
                self.bytes = self.bytes - u128::from(*size) + u128::from(new);
            }
            *size = new;
        }
    }

    /// `unlink`; the file that lost its name.
    pub(super) fn unlink(&mut self, path: PathId) -> Option<Node> {
        let node = self.lookup(path).filter(|&node| !self.is_directory(node))?;
        let (parent, name) = self.parent(path)?;
        self.unlink_name(parent, name);
        self.forget(node);
        Some(node)
    }

    fn forget(&mut self, file: Node) {
        self.files -= 1;
        self.bytes -= u128::from(self.size(file));
    }

    /// `rmdir`.
    pub(super) fn remove_directory(&mut self, path: PathId) -> bool {
        let is_empty = |node| self.entries(node).is_some_and(HashMap::is_empty);
        let Some((parent, name)) = self.parent(path) else {
            return false;
        };
        if !self.lookup(path).is_some_and(is_empty) {
            return false;
        }
        self.unlink_name(parent, name);
        true
    }

    /// `rename`. `None` if it fails; otherwise the file that lost its name to the new one, if one
    /// did.
    pub(super) fn rename(&mut self, from: PathId, to: PathId) -> Option<Option<Node>> {
        let node = self.lookup(from)?;
        let (old_parent, old_name) = self.parent(from)?;
        let (new_parent, new_name) = self.parent(to)?;
        let into_itself = self.paths[to.index()].starts_with(&self.paths[from.index()]);
        let target = self.lookup(to);
        if target == Some(node) {
            return Some(None);
        }
        if self.is_directory(node) && into_itself {
            return None;
        }
        let mut replaced = None;
        if let Some(target) = target {
            match (self.is_directory(node), self.entries(target)) {
                (false, None) => replaced = Some(target),
                (true, Some(entries)) if entries.is_empty() => {}
                _ => return None,
            }
        }
        if let Some(file) = replaced {
            self.forget(file);
        }
        self.unlink_name(old_parent, old_name);
        self.link(new_parent, new_name, node);
        Some(replaced)
    }

    /// dbench's `Deltree`: removes the files below a directory and leaves the directories. The
    /// files removed.
    pub(super) fn delete_files_below(&mut self, path: PathId) -> Vec<Node> {
        let mut removed = Vec::new();
        let mut directories: Vec<Node> = self.lookup(path).into_iter().collect();
        while let Some(directory) = directories.pop() {
            let Some(entries) = self.entries(directory) else {
                continue;
            };
            let (below, files): (Vec<_>, Vec<_>) = entries
                .iter()
                .map(|(&name, &node)| (name, node))
                .partition(|&(_, node)| self.is_directory(node));
            directories.extend(below.into_iter().map(|(_, node)| node));
            for (name, node) in files {
                self.unlink_name(directory, name);
                self.forget(node);
                removed.push(node);
            }
        }
        removed
    }

    /// How many entries the directory of `path` has, `.` and `..` not counted; `None` if it is
    /// none.
    pub(super) fn entries_beside(&self, path: PathId) -> Option<usize> {
        let (parent, _) = self.parent(path)?;
        self.entries(parent).map(HashMap::len)
    }

    /// Whether the pattern that is the last component of `path` matches a name in its directory.
    ///
    /// `.` and `..` count for a pattern that matches everything, as a server lists them.
    pub(super) fn any_match(&self, path: PathId) -> bool {
        let Some((parent, pattern)) = self.parent(path) else {
            return false;
        };
        let pattern = &self.names[pattern as usize];
        let names = self
            .entries(parent)
            .into_iter()
            .flatten()
            .map(|(&name, _)| self.names[name as usize].as_slice());
        names
            .chain([&b"."[..], b".."])
            .any(|name| matches(pattern, name))
    }

    /// How many files the directory of `path` has.
    pub(super) fn files_beside(&self, path: PathId) -> usize {
        match self.parent(path).map(|(parent, _)| &self.nodes[parent.0]) {
            Some(Content::Directory { files, .. }) => *files,
            _ => 0,
        }
    }
}

/// The components of a path; empty ones and `.` mean nothing.
pub(super) fn components(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|&byte| byte == b'/')
        .filter(|component| !component.is_empty() && *component != b".")
}

/// The wildcards of the SMB protocol: `*` any text, `?` a character, `<` any text that leaves the
/// last dot and what follows, `>` a character or nothing before a dot or the end. Letters match in
/// either case.
///
/// Linear in the pattern times the name: a table of which pattern prefixes match which name
/// prefixes.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let last_dot = name.iter().rposition(|&byte| byte == b'.');
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for &symbol in pattern {
        let mut next = vec![false; name.len() + 1];
        match symbol {
            b'*' | b'<' => {
                let mut open = false;
                for at in 0..=name.len() {
                    open |= reached[at];
                    next[at] = reached[at]
                        || (open && (symbol == b'*' || last_dot.is_none_or(|dot| at <= dot)));
                }
            }
            b'?' | b'>' => {
                for at in 0..=name.len() {
                    let stands = symbol == b'>' && name.get(at).is_none_or(|&byte| byte == b'.');
                    next[at] |= reached[at] && stands;
                    if at < name.len() && !(symbol == b'>' && name[at] == b'.') {
                        next[at + 1] |= reached[at];
                    }
                }
            }
            symbol => {
                for at in 0..name.len() {
                    next[at + 1] = reached[at] && name[at].eq_ignore_ascii_case(&symbol);
                }
            }
        }
        reached = next;
    }
    // A pattern `*.*` lists names without a dot as well.
    reached[name.len()] || pattern == b"*.*"
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn smb_wildcards_match_as_servers_do() {
        let cases: &[(&str, &str, bool)] = &[
            ("*", "anything", true),
            ("*.*", "nodot", true),
            ("F.*", "f.txt", true),
            ("F.*", "g.txt", false),
            ("<.TMP", "a.b.tmp", true),
            ("<.TMP", "WORD", false),
            ("?a", "ba", true),
            ("?a", "a", false),
            ("a>>>", "ab", true),
            ("a>>>.c", "ab.c", true),
            ("", "a", false),
        ];
        for &(pattern, name, expected) in cases {
            assert_eq!(
                matches(pattern.as_bytes(), name.as_bytes()),
                expected,
                "{pattern} against {name}"
            );
        }
    }
}
