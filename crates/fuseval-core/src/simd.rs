//! Loops as wide as the machine is: they are compiled for SSE2, AVX2 and AVX-512 (or for what every machine of another kind
//! has), and the widest form that the machine at hand can run is chosen at run time.
//!
//! The results have the same bits in all forms: all operations are those of IEEE 754, and the compiler never fuses two of
//! them by itself. To call a function that is compiled for an optional vector unit takes `unsafe`. `fearless_simd` looks
//! whether the unit is there, and makes the call for us: it depends on no other crate, where `pulp` brings twelve, and puts
//! no `unsafe` into our code, as the macro of `multiversion` does. That call is all we take from it; the loops stay plain
//! Rust.

#[cfg(target_arch = "x86_64")]
use fearless_simd::{Level, Simd};

/// What the loop at hand may count on.
#[derive(Debug, Clone, Copy)]
pub struct Machine {
    /// Whether `mul_add` is an instruction. Elsewhere it is a slow call, with the same result.
    pub fused: bool,
}

/// Does some work in the widest form that the machine has. Only what is inlined into the work is compiled with it: small
/// closures and functions, and those marked `#[inline(always)]`, as the work itself must be. The choice costs one or two
/// nanoseconds.
#[inline]
pub fn wide<R>(work: impl FnOnce(Machine) -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        let level = level();
        if let Some(avx512) = level.as_avx512() {
            return avx512.vectorize(
                #[inline(always)]
                || work(Machine { fused: true }),
            );
        }
        if let Some(avx2) = level.as_avx2() {
            return avx2.vectorize(
                #[inline(always)]
                || work(Machine { fused: true }),
            );
        }
    }
    work(Machine { fused: cfg!(target_arch = "aarch64") })
}

#[cfg(all(target_arch = "x86_64", not(test)))]
#[inline(always)]
fn level() -> Level {
    Level::new()
}

#[cfg(all(target_arch = "x86_64", test))]
fn level() -> Level {
    tests::FORCED.get().unwrap_or_else(Level::new)
}

#[cfg(test)]
pub(crate) mod tests {
    #[cfg(target_arch = "x86_64")]
    use super::*;

    #[cfg(target_arch = "x86_64")]
    thread_local! {
        /// The form that this thread takes instead of the widest.
        pub(super) static FORCED: std::cell::Cell<Option<Level>> = const { std::cell::Cell::new(None) };
    }

    /// What some work gives in each form that this machine has, the narrowest first.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn in_each_form<R>(mut work: impl FnMut() -> R) -> Vec<R> {
        let widest = Level::new();
        let mut forms = vec![Level::baseline()];
        forms.extend(widest.as_avx2().map(|avx2| avx2.level()));
        forms.extend(widest.as_avx512().map(|avx512| avx512.level()));
        let in_form = |form| {
            FORCED.set(Some(form));
            let result = work();
            FORCED.set(None);
            result
        };
        forms.into_iter().map(in_form).collect()
    }

    /// What some work gives in the only form that there is.
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn in_each_form<R>(mut work: impl FnMut() -> R) -> Vec<R> {
        vec![work()]
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn the_widest_form_is_taken() {
        let fused = in_each_form(|| wide(|machine| machine.fused));
        assert_eq!(fused.last(), Some(&wide(|machine| machine.fused)));
        assert_eq!(fused.last(), Some(&std::arch::is_x86_feature_detected!("avx2")));
    }
}
