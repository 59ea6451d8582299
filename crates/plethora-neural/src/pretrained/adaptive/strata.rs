//! Draws different numbers evenly, on the device.

use tch::{Device, Kind, Tensor};

/// The numbers from 0 to below some number in parts of equal length but for one, of each of which a
/// draw takes one. So a draw has no number twice, its numbers rise, and none is left out for
/// long.
#[derive(Debug)]
pub(super) struct Strata {
    starts: Tensor,
    /// As numbers to compute with.
    lengths: Tensor,
}

impl Strata {
    /// For draws of `num_drawn` of `0..size`, or of all where these are fewer.
    pub(super) fn new(size: usize, num_drawn: usize, device: Device) -> Self {
        let num_drawn = num_drawn.min(size);
        let starts: Vec<i64> = (0..=num_drawn)
            .map(|part| (part as u128 * size as u128 / num_drawn.max(1) as u128) as i64)
            .collect();
        let lengths: Vec<f32> = starts
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f32)
            .collect();
        Self {
            starts: Tensor::from_slice(&starts[..num_drawn]).to_device(device),
            lengths: Tensor::from_slice(&lengths).to_device(device),
        }
    }

    /// How many a draw has.
    pub(super) fn num_drawn(&self) -> i64 {
        self.starts.size()[0]
    }

    /// Other numbers each time, by libtorch's own random numbers, which every step seeds.
    pub(super) fn draw(&self) -> Tensor {
        let places = self.lengths.rand_like() * &self.lengths;
        // A number just below one times a length may round up to it.
        let places = places.floor().minimum(&(&self.lengths - 1.0));
        places.to_kind(Kind::Int64) + &self.starts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_have_different_numbers_in_range_and_meet_all_of_them() {
        tch::manual_seed(5);
        for (size, wanted, expected) in
            [(10, 3, 3), (7, 7, 7), (4, 9, 4), (1, 1, 1), (1000, 64, 64)]
        {
            let strata = Strata::new(size, wanted, Device::Cpu);
            assert_eq!(strata.num_drawn(), expected);
            let mut met = vec![false; size];
            for _ in 0..400 {
                let drawn = Vec::<i64>::try_from(strata.draw()).unwrap();
                assert_eq!(drawn.len() as i64, expected);
                assert!(drawn.is_sorted_by(|one, other| one < other), "{drawn:?}");
                for number in drawn {
                    met[number as usize] = true;
                }
            }
            assert!(met.into_iter().all(|is_met| is_met));
        }
    }

    #[test]
    fn equal_seeds_draw_equal_numbers() {
        let strata = Strata::new(500, 20, Device::Cpu);
        tch::manual_seed(1);
        let [first, second] = [strata.draw(), strata.draw()];
        tch::manual_seed(1);
        assert_eq!([strata.draw(), strata.draw()], [first, second]);
    }
}
