//! The complete runtime for Agent Skills.
