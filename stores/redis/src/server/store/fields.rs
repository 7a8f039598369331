//! The fields of a hash, in the order of their making.
//!
//! Redis gives the fields of a hash in that order as long as it is compact, and in no order when it is a table. Here they
//! are always in that order.

use std::collections::BTreeMap;

/// The fields of a hash and their values. Two that hold the same are equal, in whatever order they were made.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    /// The fields by name: where each stands, and its value.
    values: BTreeMap<Vec<u8>, (u64, Vec<u8>)>,
    /// The names by where they stand.
    order: BTreeMap<u64, Vec<u8>>,
}

impl Fields {
    /// The number of fields.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True without fields.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The value of a field.
    #[must_use]
    pub fn get(&self, field: &[u8]) -> Option<&Vec<u8>> {
        self.values.get(field).map(|(_, value)| value)
    }

    /// True if there is such a field.
    #[must_use]
    pub fn contains_key(&self, field: &[u8]) -> bool {
        self.values.contains_key(field)
    }

    /// Sets a field, which keeps its place if it has one; returns the value that it had.
    pub fn insert(&mut self, field: Vec<u8>, value: Vec<u8>) -> Option<Vec<u8>> {
        if let Some((_, old)) = self.values.get_mut(&field) {
            return Some(std::mem::replace(old, value));
        }
        let place = self.order.last_key_value().map_or(0, |(last, _)| last + 1);
        self.order.insert(place, field.clone());
        self.values.insert(field, (place, value));
        None
    }

    /// Takes a field out; returns the value that it had.
    pub fn remove(&mut self, field: &[u8]) -> Option<Vec<u8>> {
        let (place, value) = self.values.remove(field)?;
        self.order.remove(&place);
        Some(value)
    }

    /// The names of the fields, in order.
    pub fn keys(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.order.values()
    }

    /// The fields and their values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Vec<u8>, &Vec<u8>)> {
        self.order.values().map(|field| (field, &self.values[field].1))
    }
}

impl PartialEq for Fields {
    fn eq(&self, other: &Fields) -> bool {
        let same = |(field, value)| other.get(field) == Some(value);
        self.len() == other.len() && self.iter().all(|(field, value)| same((field.as_slice(), value)))
    }
}

impl FromIterator<(Vec<u8>, Vec<u8>)> for Fields {
    fn from_iter<I: IntoIterator<Item = (Vec<u8>, Vec<u8>)>>(pairs: I) -> Fields {
        let mut fields = Fields::default();
        for (field, value) in pairs {
            fields.insert(field, value);
        }
        fields
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn fields_come_in_the_order_of_their_making(
            steps in prop::collection::vec(("[a-e]", prop::option::of("[0-9]")), 0..60),
        ) {
            let mut fields = Fields::default();
            let mut plain: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
            for (field, value) in steps {
                let (field, value) = (field.into_bytes(), value.map(String::into_bytes));
                let at = plain.iter().position(|(name, _)| *name == field);
                match (at, value) {
                    (Some(at), Some(value)) => {
                        prop_assert_eq!(fields.insert(field, value.clone()), Some(plain[at].1.clone()));
                        plain[at].1 = value;
                    }
                    (None, Some(value)) => {
                        prop_assert_eq!(fields.insert(field.clone(), value.clone()), None);
                        plain.push((field, value));
                    }
                    (at, None) => {
                        prop_assert_eq!(fields.remove(&field), at.map(|at| plain.remove(at).1));
                    }
                }
            }
            let listed: Vec<(Vec<u8>, Vec<u8>)> =
                fields.iter().map(|(field, value)| (field.clone(), value.clone())).collect();
            prop_assert_eq!(&listed, &plain);
            prop_assert_eq!(fields.len(), plain.len());
            prop_assert_eq!(fields, plain.into_iter().rev().collect::<Fields>());
        }
    }
}
