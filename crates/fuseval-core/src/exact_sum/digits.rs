//! Sign and magnitude of an exact sum: its canonical form, from which it is rounded and written.

use crate::Result;
use crate::bytes::{Reader, Writer, damaged};

/// Limbs that a finite float can reach (bits 0..2098) and those that carries of 2^64 additions can reach beyond.
const MOST_LIMBS: usize = 68;

/// A number of limbs of 32 bits, lowest first. Neither the first nor the last is zero; zero has none, and `low` 0.
#[derive(Debug, Clone, Copy)]
pub(super) struct Digits<'a> {
    negative: bool,
    low: usize,
    limbs: &'a [u32],
}

impl<'a> Digits<'a> {
    /// The number whose lowest limb, of those given, has the index `low`; zero limbs at the ends are left out.
    pub(super) fn new(negative: bool, mut low: usize, mut limbs: &'a [u32]) -> Self {
        while let [rest @ .., 0] = limbs {
            limbs = rest;
        }
        while let [0, rest @ ..] = limbs {
            limbs = rest;
            low += 1;
        }
        if limbs.is_empty() { Self { negative: false, low: 0, limbs } } else { Self { negative, low, limbs } }
    }

    pub(super) fn negative(self) -> bool {
        self.negative
    }

    /// The index of the lowest limb; `None` for zero.
    pub(super) fn low(self) -> Option<usize> {
        (!self.limbs.is_empty()).then_some(self.low)
    }

    pub(super) fn limbs(self) -> &'a [u32] {
        self.limbs
    }

    /// The nearest float, ties to even.
    pub(super) fn value(self) -> f64 {
        let Some(top) = self.limbs.last() else { return 0.0 };
        let mut highest_first = self.limbs.iter().rev();
        let four = (0..4).fold(0, |acc, _| acc << 32 | u128::from(highest_first.next().copied().unwrap_or(0)));
        let beyond = highest_first.any(|limb| *limb != 0);
        // The highest bit comes to the top, so that everything below the mantissa is `half` and `below`.
        let aligned = four << top.leading_zeros();
        let highest = 32 * (self.low + self.limbs.len()) - 1 - top.leading_zeros() as usize;
        // A value below 2^53 units is exact and its integer is the bit pattern; otherwise the exponent field is shift + 1
        // and a mantissa that rounds up to 2^53 carries into it.
        let shift = highest.saturating_sub(52);
        let mut bits = (aligned >> (127 - (highest - shift))) as u64;
        if shift > 0 {
            let half = aligned >> 74 & 1 == 1;
            let below = beyond || aligned << 54 != 0;
            let odd = bits & 1 == 1;
            bits += (shift as u64) << 52;
            bits += u64::from(half && (below || odd));
        }
        let magnitude = f64::from_bits(bits.min(f64::INFINITY.to_bits()));
        if self.negative { -magnitude } else { magnitude }
    }

    /// Writes the canonical bytes: flags, sign, first limb, limbs.
    pub(super) fn encode(self, specials: u8, out: &mut Writer) {
        out.u8(specials);
        out.u8(u8::from(self.negative));
        out.u8(self.low as u8);
        out.u8(self.limbs.len() as u8);
        for limb in self.limbs {
            out.u32(*limb);
        }
    }

    /// Reads canonical bytes and hands on the flags and the number; any other form is refused.
    pub(super) fn decode<R>(input: &mut Reader<'_>, build: impl FnOnce(u8, Digits<'_>) -> R) -> Result<R> {
        let specials = input.u8()?;
        let negative = input.u8()?;
        let low = usize::from(input.u8()?);
        let len = usize::from(input.u8()?);
        let wrong = |found: &str| Err(damaged("an exact sum in canonical form", found));
        if specials > 7 || negative > 1 {
            return wrong("unknown flags");
        }
        if low + len > MOST_LIMBS || (len == 0 && (low != 0 || negative != 0)) {
            return wrong("limbs out of range");
        }
        let mut read = [0; MOST_LIMBS];
        let limbs = read.get_mut(..len).unwrap_or_default();
        for limb in limbs.iter_mut() {
            *limb = input.u32()?;
        }
        if limbs.first() == Some(&0) || limbs.last() == Some(&0) {
            return wrong("a zero limb at an end");
        }
        Ok(build(specials, Digits { negative: negative == 1, low, limbs }))
    }
}

/// The magnitude of a float: three limbs from the limb `low` on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Magnitude {
    pub(super) low: usize,
    pub(super) limbs: [u32; 3],
}

impl Magnitude {
    /// The magnitude of a finite float, nothing for an infinity or NaN.
    pub(super) fn of(value: f64) -> Option<Self> {
        let bits = value.to_bits();
        let exponent = (bits >> 52) as usize & 0x7ff;
        let fraction = bits & ((1 << 52) - 1);
        let (mantissa, position) = match exponent {
            0x7ff => return None,
            0 => (fraction, 0),
            _ => (fraction | 1 << 52, exponent - 1),
        };
        let wide = u128::from(mantissa) << (position & 31);
        Some(Self { low: position >> 5, limbs: [wide as u32, (wide >> 32) as u32, (wide >> 64) as u32] })
    }
}
