//! Which words are commands: tree-sitter's grammar of bash, on a line that the lexer has made harmless.
//!
//! Invariant: both must agree. A word that the grammar does not see, or takes for the beginning of a command where the
//! lexer does not, makes the line unclear.

use std::collections::HashMap;

use tree_sitter::{Node, Parser};

use crate::lexer::{Doubt, Role, Token};
use crate::variables::changes_what_runs;
use crate::word::Word;

/// One simple command: assignments and words.
#[derive(Debug, Default)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Word>,
    pub(crate) words: Vec<Word>,
}

/// The commands of a line.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub(crate) commands: Vec<Simple>,
    pub(crate) doubts: Vec<Doubt>,
}

const NOT_UNDERSTOOD: &str = "it is not understood as a shell would read it";

/// The commands among the words, in order.
pub(crate) fn commands(tokens: Vec<Token>, mask: String) -> Result<Parsed, &'static str> {
    if tokens.is_empty() {
        return if mask.trim().is_empty() { Ok(Parsed::default()) } else { Err(NOT_UNDERSTOOD) };
    }
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_bash::LANGUAGE.into())
        .map_err(|_| "there is no grammar for it")?;
    let tree = parser.parse(mask.as_bytes(), None).ok_or(NOT_UNDERSTOOD)?;
    if tree.root_node().has_error() {
        return Err(NOT_UNDERSTOOD);
    }
    let mut reading = Reading {
        left: tokens.into_iter().map(|token| (token.range.start, token)).collect(),
        parsed: Parsed::default(),
    };
    reading.all(tree.root_node())?;
    // What the grammar has no node for would run unseen.
    if reading.left.is_empty() { Ok(reading.parsed) } else { Err(NOT_UNDERSTOOD) }
}

struct Reading {
    left: HashMap<usize, Token>,
    parsed: Parsed,
}

impl Reading {
    /// Walks the tree without recursion: lists of a thousand commands are a thousand levels deep.
    fn all(&mut self, root: Node<'_>) -> Result<(), &'static str> {
        let mut stack = vec![root];
        while let Some(node) = stack.pop() {
            match node.kind() {
                "command" => self.command(node)?,
                "variable_name" => self.variable(node)?,
                // The words after `in`, and those of a case: they run nothing.
                "word" | "extglob_pattern" => {
                    let token = self.token(node)?;
                    if !matches!(
                        token.role,
                        Role::Argument | Role::Subject | Role::Program | Role::Assignment
                    ) {
                        return Err(NOT_UNDERSTOOD);
                    }
                    let parent = node.parent().map(|parent| parent.kind()).unwrap_or_default();
                    if !matches!(parent, "for_statement" | "case_statement" | "case_item") {
                        return Err(NOT_UNDERSTOOD);
                    }
                }
                "program" | "list" | "pipeline" | "subshell" | "compound_statement"
                | "if_statement" | "elif_clause" | "else_clause" | "while_statement"
                | "for_statement" | "do_group" | "case_statement" | "case_item" | "|" | "||"
                | "&&" | ";" | "&" | "\n" | "(" | ")" | ";;" | "{" | "}" | "if" | "then"
                | "else" | "elif" | "fi" | "while" | "until" | "for" | "in" | "do" | "done"
                | "case" | "esac" => {
                    let children = 0..node.child_count();
                    stack.extend(children.rev().filter_map(|index| node.child(index)));
                }
                _ => return Err(NOT_UNDERSTOOD),
            }
        }
        Ok(())
    }

    /// The word that the grammar sees here.
    fn token(&mut self, node: Node<'_>) -> Result<Token, &'static str> {
        let token = self.left.remove(&node.start_byte());
        token.filter(|token| token.range == node.byte_range()).ok_or(NOT_UNDERSTOOD)
    }

    fn command(&mut self, node: Node<'_>) -> Result<(), &'static str> {
        let mut simple = Simple::default();
        for index in 0..node.child_count() {
            let Some(mut child) = node.child(index) else { continue };
            if child.kind() == "command_name" {
                child = child.child(0).ok_or(NOT_UNDERSTOOD)?;
            }
            if child.kind() != "word" {
                return Err(NOT_UNDERSTOOD);
            }
            let Token { role, word, .. } = self.token(child)?;
            let is_first = simple.words.is_empty();
            match role {
                Role::Nothing if index == 0 => {}
                Role::Assignment if is_first => simple.assignments.push(word),
                Role::Program if is_first => simple.words.push(word),
                Role::Argument if !is_first => simple.words.push(word),
                _ => return Err(NOT_UNDERSTOOD),
            }
        }
        self.parsed.commands.push(simple);
        Ok(())
    }

    /// The variable of a loop.
    fn variable(&mut self, node: Node<'_>) -> Result<(), &'static str> {
        let token = self.token(node)?;
        if token.role != Role::Variable || !token.word.is_literal() || token.word.is_quoted {
            return Err(NOT_UNDERSTOOD);
        }
        if changes_what_runs(&token.word.text) {
            self.parsed.doubts.push((token.range, "it changes what later commands run"));
        }
        Ok(())
    }
}
