//! The parts that every fault is made of: its type, its parameters, its draws, and its words in a served world.

pub(crate) mod draw;
pub(crate) mod drawn;
pub(crate) mod fault;
pub(crate) mod needs;
pub(crate) mod params;
pub(crate) mod site;
pub(crate) mod words;
