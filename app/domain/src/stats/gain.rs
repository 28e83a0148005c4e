//! Δ in relation to what was possible: Hake's normalized gain (F14) and the effect on the trials that used the skill. Sources: R. R. Hake, American
//! Journal of Physics 66 (1998); SkillsBench (arXiv 2602.12670).

/// g = (with − without) / (1 − without) of two pass rates in 0..=1. `None` where nothing could be gained (the no-skill arm passes all: "at
/// ceiling", which may still hide harm), or where a rate is not in 0..=1.
#[must_use]
pub fn normalized_gain(without: f64, with: f64) -> Option<f64> {
    let rate = |value: f64| (0.0..=1.0).contains(&value);
    (rate(without) && rate(with) && without < 1.0).then(|| (with - without) / (1.0 - without))
}

/// Δ ÷ activation rate: the effect on trials in which the skill was opened, if it can only act by being opened. `None` where it never was, or
/// where one of the two is not in its range.
#[must_use]
pub fn complier_effect(delta: f64, activation_rate: f64) -> Option<f64> {
    ((-1.0..=1.0).contains(&delta) && 0.0 < activation_rate && activation_rate <= 1.0).then(|| delta / activation_rate)
}

#[cfg(test)]
mod tests {
    use super::{complier_effect, normalized_gain};

    #[test]
    fn at_ceiling_there_is_no_gain_to_speak_of() {
        assert_eq!((normalized_gain(1.0, 0.9), normalized_gain(1.0, 1.0)), (None, None));
        assert_eq!((normalized_gain(0.0, 0.0), normalized_gain(0.5, 0.75)), (Some(0.0), Some(0.5)));
        assert_eq!((normalized_gain(f64::NAN, 0.5), normalized_gain(0.5, 1.5)), (None, None));
    }

    #[test]
    fn a_skill_never_opened_has_no_effect_of_its_own() {
        assert_eq!(
            (complier_effect(0.2, 0.5), complier_effect(0.2, 0.0), complier_effect(f64::NAN, 0.5)),
            (Some(0.4), None, None)
        );
    }
}
