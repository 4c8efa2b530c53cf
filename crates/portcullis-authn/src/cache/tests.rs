//! The cache stays within its bounds, and keeps what is used.

use proptest::prelude::*;

use super::Cache;
use crate::encoding::sha256;

#[test]
fn it_is_bounded_in_number_and_weight() {
    let cache = Cache::new(160, 1600);
    for n in 0..10_000_u32 {
        cache.insert(sha256(&n.to_be_bytes()), n, 1);
    }
    assert_eq!(cache.len(), 160);
    for n in 0..10_000_u32 {
        cache.insert(sha256(&n.to_be_bytes()), n, 50);
    }
    assert_eq!(cache.len(), 2 * 16);
    cache.insert(sha256(b"heavy"), 0, 101);
    assert_eq!(cache.get(&sha256(b"heavy")), None);
}

#[test]
fn what_is_used_stays() {
    let cache = Cache::new(16 * 8, usize::MAX);
    let kept = sha256(b"kept");
    cache.insert(kept, u32::MAX, 1);
    for n in 0..5_000_u32 {
        assert_eq!(cache.get(&kept), Some(u32::MAX), "after {n}");
        cache.insert(sha256(&n.to_be_bytes()), n, 1);
    }
}

proptest! {
    #[test]
    fn it_never_answers_with_something_else(steps in prop::collection::vec((0_u8..60, 0_usize..9, any::<bool>()), 1..400)) {
        let cache = Cache::new(32, 160);
        for (key, weight, put) in steps {
            let digest = sha256(&[key]);
            if put {
                cache.insert(digest, key, weight);
                prop_assert_eq!(cache.get(&digest), Some(key));
            } else if let Some(found) = cache.get(&digest) {
                prop_assert_eq!(found, key);
            }
            prop_assert!(cache.len() <= 32);
        }
    }
}
