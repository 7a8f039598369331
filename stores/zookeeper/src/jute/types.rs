//! The types of jute.

use super::{Malformed, Record};

impl Record for i32 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_be_bytes());
    }

    fn take(from: &mut &[u8]) -> Result<i32, Malformed> {
        fixed(from).map(i32::from_be_bytes)
    }
}

impl Record for i64 {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_be_bytes());
    }

    fn take(from: &mut &[u8]) -> Result<i64, Malformed> {
        fixed(from).map(i64::from_be_bytes)
    }
}

impl Record for bool {
    fn put(&self, out: &mut Vec<u8>) {
        out.push(u8::from(*self));
    }

    fn take(from: &mut &[u8]) -> Result<bool, Malformed> {
        fixed(from).map(|[byte]| byte != 0)
    }
}

/// A buffer; none is one without a value, which is not the same as an empty one.
impl Record for Option<Vec<u8>> {
    fn put(&self, out: &mut Vec<u8>) {
        match self {
            None => (-1_i32).put(out),
            Some(bytes) => put_bytes(bytes, out),
        }
    }

    fn take(from: &mut &[u8]) -> Result<Option<Vec<u8>>, Malformed> {
        Ok(take_bytes(from)?.map(<[u8]>::to_vec))
    }
}

/// A string. Bytes that are no UTF-8 become U+FFFD, as in Java; a string without a value is read as an empty one.
impl Record for String {
    fn put(&self, out: &mut Vec<u8>) {
        put_bytes(self.as_bytes(), out);
    }

    fn take(from: &mut &[u8]) -> Result<String, Malformed> {
        let bytes = take_bytes(from)?.unwrap_or_default();
        Ok(String::from_utf8_lossy(bytes).into_owned())
    }
}

/// A vector; one without a value is read as an empty one.
impl<T: Record> Record for Vec<T> {
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as i32).put(out);
        self.iter().for_each(|element| element.put(out));
    }

    fn take(from: &mut &[u8]) -> Result<Vec<T>, Malformed> {
        let mut elements = Vec::new();
        // A number of elements is no reason to take memory for them: they are read as long as there are bytes.
        for _ in 0..i32::take(from)? {
            if from.is_empty() {
                return Err(Malformed);
            }
            elements.push(T::take(from)?);
        }
        Ok(elements)
    }
}

/// Nothing.
impl Record for () {
    fn put(&self, _: &mut Vec<u8>) {}

    fn take(_: &mut &[u8]) -> Result<(), Malformed> {
        Ok(())
    }
}

/// One after the other.
impl<A: Record, B: Record> Record for (A, B) {
    fn put(&self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn take(from: &mut &[u8]) -> Result<(A, B), Malformed> {
        Ok((A::take(from)?, B::take(from)?))
    }
}

fn fixed<const N: usize>(from: &mut &[u8]) -> Result<[u8; N], Malformed> {
    let (taken, rest) = from.split_first_chunk::<N>().ok_or(Malformed)?;
    *from = rest;
    Ok(*taken)
}

fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    (bytes.len() as i32).put(out);
    out.extend_from_slice(bytes);
}

fn take_bytes<'b>(from: &mut &'b [u8]) -> Result<Option<&'b [u8]>, Malformed> {
    let len = i32::take(from)?;
    if len == -1 {
        return Ok(None);
    }
    let len = usize::try_from(len).map_err(|_| Malformed)?;
    let (bytes, rest) = from.split_at_checked(len).ok_or(Malformed)?;
    *from = rest;
    Ok(Some(bytes))
}
