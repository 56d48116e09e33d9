//! Keyed randomness: a pure function of (seed, names, place), so that no worker, thread or order enters a result.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Below this many places a permutation is drawn as a whole; above, it is computed place by place.
const MOST_DRAWN: u64 = 4096;
const ROUNDS: u32 = 8;

/// A source of random numbers that is keyed by a seed and the names of what it is for.
#[derive(Debug, Clone)]
pub struct KeyedRng {
    state: u64,
}

impl KeyedRng {
    /// The generator of (seed, parts). Parts are separated, so ("ab", "c") differs from ("a", "bc").
    pub fn new(seed: u64, parts: &[&str]) -> Self {
        let mut bytes = Vec::new();
        for part in parts {
            bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
            bytes.extend_from_slice(part.as_bytes());
        }
        Self { state: xxh3_64_with_seed(&bytes, seed) }
    }

    /// The next 64 random bits (SplitMix64: Steele, Lea, Flood 2014).
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed(self.state)
    }

    /// A number below `bound` without bias (Lemire's method); 0 for a bound of 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        let threshold = bound.wrapping_neg() % bound;
        loop {
            let wide = u128::from(self.next_u64()) * u128::from(bound);
            if wide as u64 >= threshold {
                return (wide >> 64) as u64;
            }
        }
    }
}

fn mixed(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A hash of an identity under a seed: the order of rows that tie at random.
pub fn keyed_hash(seed: u64, identity: u64) -> u64 {
    xxh3_64_with_seed(&identity.to_le_bytes(), seed)
}

/// A keyed permutation of the places `0..len`: every place is the image of exactly one place.
///
/// Up to 4,096 places it is a Fisher–Yates shuffle, which is uniform; above, a Feistel network on the next power of two,
/// walked until it lands inside, which needs no memory and gives any place alone.
#[derive(Debug, Clone)]
pub struct KeyedPermutation {
    len: u64,
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    Drawn(Vec<u64>),
    Feistel { keys: [u64; ROUNDS as usize], left_bits: u32, right_bits: u32 },
}

impl KeyedPermutation {
    /// The permutation of `0..len` that belongs to the generator's key.
    pub fn new(mut rng: KeyedRng, len: u64) -> Self {
        if len <= MOST_DRAWN {
            let mut places: Vec<u64> = (0..len).collect();
            for last in (1..places.len()).rev() {
                let other = rng.below(last as u64 + 1) as usize;
                places.swap(last, other);
            }
            return Self { len, form: Form::Drawn(places) };
        }
        let bits = 64 - (len - 1).leading_zeros();
        let keys = std::array::from_fn(|_| rng.next_u64());
        Self { len, form: Form::Feistel { keys, left_bits: bits / 2, right_bits: bits - bits / 2 } }
    }

    /// Where `place` is sent. A place outside `0..len` stays where it is.
    pub fn image(&self, place: u64) -> u64 {
        if place >= self.len {
            return place;
        }
        match &self.form {
            Form::Drawn(places) => places.get(place as usize).copied().unwrap_or(place),
            Form::Feistel { keys, left_bits, right_bits } => {
                let mut at = place;
                loop {
                    at = feistel(at, keys, *left_bits, *right_bits);
                    if at < self.len {
                        return at;
                    }
                }
            }
        }
    }
}

/// One pass of an alternating Feistel network: each round replaces the left part and swaps; the number of rounds is even,
/// so the parts end with the sizes they began with.
fn feistel(place: u64, keys: &[u64; ROUNDS as usize], left_bits: u32, right_bits: u32) -> u64 {
    let (mut left, mut left_bits) = (place >> right_bits, left_bits);
    let (mut right, mut right_bits) = (place & ((1 << right_bits) - 1), right_bits);
    for key in keys {
        let replaced = left ^ (mixed(right ^ key) & ((1 << left_bits) - 1));
        (left, right) = (right, replaced);
        (left_bits, right_bits) = (right_bits, left_bits);
    }
    left << right_bits | right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_hit_once() {
        for len in [0, 1, 2, 5, 4096, 4097, 10_000, 65_536, 100_003] {
            let permutation = KeyedPermutation::new(KeyedRng::new(7, &["x", "0"]), len);
            let mut images: Vec<u64> = (0..len).map(|place| permutation.image(place)).collect();
            if len > 100 {
                assert_ne!(images, (0..len).collect::<Vec<_>>());
            }
            images.sort_unstable();
            assert_eq!(images, (0..len).collect::<Vec<_>>());
        }
    }

    #[test]
    fn another_seed_or_name_is_another_permutation() {
        let images = |seed, name| {
            let permutation = KeyedPermutation::new(KeyedRng::new(seed, &[name]), 50_000);
            (0..50).map(|place| permutation.image(place)).collect::<Vec<_>>()
        };
        assert_eq!(images(7, "x1"), images(7, "x1"));
        assert_ne!(images(7, "x1"), images(8, "x1"));
        assert_ne!(images(7, "x1"), images(7, "x2"));
    }

    #[test]
    fn images_are_spread_evenly() {
        // Mean displacement of a random permutation of n places is (n² − 1) / 3n; 1 % is 5 standard errors here.
        let len = 100_000u64;
        let permutation = KeyedPermutation::new(KeyedRng::new(1, &["spread"]), len);
        let moved: u64 = (0..len).map(|place| permutation.image(place).abs_diff(place)).sum();
        let mean = moved as f64 / len as f64;
        assert!((mean / (len as f64 / 3.0) - 1.0).abs() < 0.01, "mean displacement {mean}");
    }
}
