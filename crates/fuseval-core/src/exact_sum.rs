//! A sum of floats that is exact and rounded once, so that neither order nor grouping can change a bit of it.
//!
//! ```text
//!   every finite f64 is an integer multiple of 2^-1074, below 2^2098 of them
//!   limb i holds 32 bits of weight 2^(32·i − 1074), in an i64 with 31 bits of head room for carries
//!   only the window of limbs that was touched is kept: 4 to 6 limbs for data of ordinary size
//! ```
//! The idea is Neal's small superaccumulator (Fast Exact Summation Using Small and Large Superaccumulators, 2015).

use crate::Result;
use crate::bytes::{Reader, Writer, damaged};

/// Limbs that a finite float can reach (bits 0..2098) and those that carries of 2^64 additions can reach beyond.
const MOST_LIMBS: usize = 68;
/// After this many additions carries are moved up; each addition puts less than 2^32 into a limb.
const MOST_PENDING: u32 = 1 << 30;

const POSITIVE_INFINITY: u8 = 1;
const NEGATIVE_INFINITY: u8 = 2;
const NOT_A_NUMBER: u8 = 4;

/// An exact sum of f64 values.
#[derive(Debug, Clone, Default)]
pub struct ExactSum {
    limbs: Vec<i64>,
    low: u16,
    specials: u8,
    pending: u32,
}

/// The canonical form: sign and magnitude, no zero limb at either end.
struct Canonical {
    negative: bool,
    low: usize,
    limbs: Vec<u32>,
}

impl ExactSum {
    /// The empty sum, zero.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one value. Infinities and NaN are kept as flags and rule the sum as in IEEE arithmetic.
    pub fn add(&mut self, value: f64) {
        let bits = value.to_bits();
        let exponent = ((bits >> 52) & 0x7ff) as usize;
        let fraction = bits & ((1 << 52) - 1);
        if exponent == 0x7ff {
            self.specials |= match (fraction, value > 0.0) {
                (0, true) => POSITIVE_INFINITY,
                (0, false) => NEGATIVE_INFINITY,
                _ => NOT_A_NUMBER,
            };
            return;
        }
        let (mantissa, position) = match exponent {
            0 => (fraction, 0),
            _ => (fraction | 1 << 52, exponent - 1),
        };
        if mantissa == 0 {
            return;
        }
        let wide = u128::from(mantissa) << (position & 31);
        let parts = [wide as u32, (wide >> 32) as u32, (wide >> 64) as u32];
        let limb = position >> 5;
        self.cover(limb, limb + 3);
        let start = limb - usize::from(self.low);
        let negative = bits >> 63 == 1;
        for (slot, part) in self.limbs.iter_mut().skip(start).zip(parts) {
            *slot += if negative { -i64::from(part) } else { i64::from(part) };
        }
        self.count_pending(1);
    }

    /// Adds `a · b` without rounding the product: it enters as its high and low part. (The low part is lost only where it
    /// is below the smallest float, 2^-1074.)
    pub fn add_product(&mut self, a: f64, b: f64) {
        let high = a * b;
        self.add(high);
        if high.is_finite() && a != 1.0 && b != 1.0 {
            self.add(a.mul_add(b, -high));
        }
    }

    /// Adds all of another sum.
    pub fn merge(&mut self, other: &Self) {
        if other.pending > MOST_PENDING / 2 {
            // Carried up first, so that both sums together stay far from the limit of a limb.
            let mut carried = other.clone();
            carried.count_pending(MOST_PENDING);
            carried.pending = 1;
            return self.merge(&carried);
        }
        self.specials |= other.specials;
        if other.limbs.is_empty() {
            return;
        }
        let low = usize::from(other.low);
        self.cover(low, low + other.limbs.len());
        self.count_pending(other.pending.saturating_add(1));
        let start = low - usize::from(self.low);
        for (slot, limb) in self.limbs.iter_mut().skip(start).zip(&other.limbs) {
            *slot += limb;
        }
    }

    /// The sum, rounded once to the nearest float, ties to even.
    pub fn value(&self) -> f64 {
        if self.specials != 0 {
            return match self.specials {
                POSITIVE_INFINITY => f64::INFINITY,
                NEGATIVE_INFINITY => f64::NEG_INFINITY,
                _ => f64::NAN,
            };
        }
        let sum = self.canonical();
        let Some(top) = sum.limbs.last() else { return 0.0 };
        let bit = |index: usize| {
            let limb = (index / 32).checked_sub(sum.low).and_then(|at| sum.limbs.get(at));
            limb.is_some_and(|limb| limb >> (index % 32) & 1 == 1)
        };
        let highest = 32 * (sum.low + sum.limbs.len()) - 1 - top.leading_zeros() as usize;
        let shift = highest.saturating_sub(52);
        let mantissa = (shift..=highest).rev().fold(0u64, |acc, index| acc << 1 | u64::from(bit(index)));
        // A value below 2^53 units is exact and its integer is the bit pattern; otherwise the exponent field is shift + 1
        // and a mantissa that rounds up to 2^53 carries into it.
        let mut bits = mantissa;
        if shift > 0 {
            bits += (shift as u64) << 52;
            let half = bit(shift - 1);
            let below = half && (32 * sum.low..shift - 1).any(bit);
            bits += u64::from(half && (below || mantissa & 1 == 1));
        }
        let magnitude = f64::from_bits(bits.min(f64::INFINITY.to_bits()));
        if sum.negative { -magnitude } else { magnitude }
    }

    /// Writes the canonical bytes: flags, sign, first limb, limbs.
    pub fn encode(&self, out: &mut Writer) {
        let sum = self.canonical();
        out.u8(self.specials);
        out.u8(u8::from(sum.negative));
        out.u8(sum.low as u8);
        out.u8(sum.limbs.len() as u8);
        for limb in &sum.limbs {
            out.u32(*limb);
        }
    }

    /// Reads canonical bytes; any other form is refused.
    pub fn decode(input: &mut Reader<'_>) -> Result<Self> {
        let specials = input.u8()?;
        let negative = input.u8()?;
        let low = input.u8()?;
        let len = usize::from(input.u8()?);
        let wrong = |found: &str| Err(damaged("an exact sum in canonical form", found));
        if specials > 7 || negative > 1 {
            return wrong("unknown flags");
        }
        if usize::from(low) + len > MOST_LIMBS || (len == 0 && (low != 0 || negative != 0)) {
            return wrong("limbs out of range");
        }
        let mut limbs = Vec::with_capacity(len);
        for _ in 0..len {
            let limb = i64::from(input.u32()?);
            limbs.push(if negative == 1 { -limb } else { limb });
        }
        if limbs.first() == Some(&0) || limbs.last() == Some(&0) {
            return wrong("a zero limb at an end");
        }
        Ok(Self { limbs, low: u16::from(low), specials, pending: 1 })
    }

    /// Widens the window to the limbs `from..to`.
    fn cover(&mut self, from: usize, to: usize) {
        if self.limbs.is_empty() {
            self.low = from as u16;
        }
        let low = usize::from(self.low);
        if from < low {
            self.limbs.splice(0..0, std::iter::repeat_n(0, low - from));
            self.low = from as u16;
        }
        let end = usize::from(self.low) + self.limbs.len();
        if to > end {
            self.limbs.resize(self.limbs.len() + to - end, 0);
        }
    }

    /// Notes `additions` to come or just made, and moves carries up before any limb can overflow.
    fn count_pending(&mut self, additions: u32) {
        self.pending = self.pending.saturating_add(additions);
        if self.pending >= MOST_PENDING {
            let (limbs, negative) = carried(&self.limbs);
            let sign = if negative { -1 } else { 1 };
            self.limbs = limbs.into_iter().map(|limb| sign * i64::from(limb)).collect();
            self.pending = additions.min(MOST_PENDING / 2).saturating_add(1);
        }
    }

    fn canonical(&self) -> Canonical {
        let (mut limbs, negative) = carried(&self.limbs);
        while limbs.last() == Some(&0) {
            limbs.pop();
        }
        let zeros = limbs.iter().take_while(|limb| **limb == 0).count();
        limbs.drain(..zeros);
        let low = if limbs.is_empty() { 0 } else { usize::from(self.low) + zeros };
        Canonical { negative: negative && !limbs.is_empty(), low, limbs }
    }
}

/// Carries moved up and the sign taken out: magnitude limbs, lowest first, and whether the number is negative.
fn carried(limbs: &[i64]) -> (Vec<u32>, bool) {
    let carry_through = |sign: i64| {
        let mut carry = 0i64;
        let mut out = Vec::with_capacity(limbs.len() + 2);
        for limb in limbs {
            let total = sign * limb + carry;
            out.push(total as u32);
            carry = total >> 32;
        }
        // Whatever is left above the window takes two more limbs at most.
        for _ in 0..2 {
            if carry > 0 {
                out.push(carry as u32);
                carry >>= 32;
            }
        }
        (out, carry)
    };
    let (out, carry) = carry_through(1);
    if carry >= 0 {
        return (out, false);
    }
    (carry_through(-1).0, true)
}

#[cfg(test)]
mod tests;
