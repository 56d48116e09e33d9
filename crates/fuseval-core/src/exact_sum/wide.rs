//! An exact sum of any extent, and the flags of infinities and NaN.
//!
//! Limb i is an i64 of weight 2^(32·i − 1074) with 31 bits of head room for carries; the window of limbs that was touched is
//! kept. The idea is Neal's small superaccumulator (Fast Exact Summation Using Small and Large Superaccumulators, 2015).

use super::digits::{Digits, Magnitude};

/// After this many additions carries are moved up; each addition puts less than 2^32 into a limb.
const MOST_PENDING: u32 = 1 << 30;

const POSITIVE_INFINITY: u8 = 1;
const NEGATIVE_INFINITY: u8 = 2;
const NOT_A_NUMBER: u8 = 4;

/// A sum in a window that grows.
#[derive(Debug, Clone, Default)]
pub(super) struct Wide {
    limbs: Vec<i64>,
    low: u16,
    specials: u8,
    pending: u32,
}

impl Wide {
    /// A number and the flags of infinities and NaN.
    pub(super) fn holding(specials: u8, digits: Digits<'_>) -> Self {
        let mut wide = Self { specials, ..Self::default() };
        wide.add_digits(digits);
        wide
    }

    pub(super) fn add(&mut self, value: f64) {
        if value == 0.0 {
            return;
        }
        let Some(Magnitude { low, limbs }) = Magnitude::of(value) else { return self.note(value) };
        if low < usize::from(self.low) || low + limbs.len() > usize::from(self.low) + self.limbs.len() {
            self.cover(low, low + limbs.len());
        }
        // Written out, since vector loads of limbs that were just stored one by one would have to wait for them.
        if let Some([a, b, c, ..]) = self.limbs.get_mut(low - usize::from(self.low)..) {
            let sign = if value < 0.0 { -1 } else { 1 };
            let [x, y, z] = limbs.map(|limb| sign * i64::from(limb));
            *a += x;
            *b += y;
            *c += z;
        }
        self.count_pending(1);
    }

    /// Notes an infinity or NaN.
    fn note(&mut self, value: f64) {
        self.specials |= match value {
            f64::INFINITY => POSITIVE_INFINITY,
            f64::NEG_INFINITY => NEGATIVE_INFINITY,
            _ => NOT_A_NUMBER,
        };
    }

    pub(super) fn add_digits(&mut self, digits: Digits<'_>) {
        let Some(low) = digits.low() else { return };
        self.cover(low, low + digits.limbs().len());
        let start = low - usize::from(self.low);
        for (slot, limb) in self.limbs.iter_mut().skip(start).zip(digits.limbs()) {
            *slot += if digits.negative() { -i64::from(*limb) } else { i64::from(*limb) };
        }
        self.count_pending(1);
    }

    pub(super) fn merge(&mut self, other: &Self) {
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

    /// The flags of infinities and NaN.
    pub(super) fn specials(&self) -> u8 {
        self.specials
    }

    /// What infinities and NaN make of the sum, if there are any.
    pub(super) fn special(&self) -> Option<f64> {
        match self.specials {
            0 => None,
            POSITIVE_INFINITY => Some(f64::INFINITY),
            NEGATIVE_INFINITY => Some(f64::NEG_INFINITY),
            _ => Some(f64::NAN),
        }
    }

    /// Hands on sign and magnitude of the finite part.
    pub(super) fn digits<R>(&self, then: impl FnOnce(Digits<'_>) -> R) -> R {
        let (limbs, negative) = carried(&self.limbs);
        then(Digits::new(negative, usize::from(self.low), &limbs))
    }

    /// Widens the window to the limbs `from..to`.
    #[cold]
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
            self.carry(additions);
        }
    }

    #[cold]
    fn carry(&mut self, additions: u32) {
        let (limbs, negative) = carried(&self.limbs);
        let sign = if negative { -1 } else { 1 };
        self.limbs = limbs.into_iter().map(|limb| sign * i64::from(limb)).collect();
        self.pending = additions.min(MOST_PENDING / 2).saturating_add(1);
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
