//! The weights of a product in eight bits.

use super::rows::{GROUP, SHIFT};

/// Outputs that are computed together.
pub(super) const PANEL: usize = 64;

/// Outputs of one vector of the processor.
pub(super) const LANES: usize = 16;

/// The weights of one group of inputs for as many outputs as a vector has, input by input for each.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Line(pub(super) [i8; LANES * GROUP]);

/// A matrix of outputs x inputs in eight bits with a scale per output, and the bias added to the product.
#[derive(Debug)]
pub(crate) struct Int8Linear {
    inputs: usize,
    outputs: usize,
    /// Panels of outputs one after another: of each, for every group of inputs, its lines.
    lines: Vec<Line>,
    panels: Vec<Panel>,
}

/// What makes numbers of the sums of a panel.
#[derive(Debug, Clone)]
pub(super) struct Panel {
    pub(super) scales: [f32; PANEL],
    /// What the shift of activations adds to each sum.
    pub(super) shifts: [i32; PANEL],
    pub(super) biases: [f32; PANEL],
}

impl Int8Linear {
    /// Of weights row by row, one row per output.
    pub(crate) fn new(weights: &[f32], inputs: usize, bias: Option<&[f32]>) -> Self {
        let outputs = weights.len() / inputs;
        let num_panels = outputs.div_ceil(PANEL);
        let lines_per_panel = inputs.div_ceil(GROUP) * (PANEL / LANES);
        let mut lines = vec![Line([0; LANES * GROUP]); num_panels * lines_per_panel];
        let blank = Panel {
            scales: [0.0; PANEL],
            shifts: [0; PANEL],
            biases: [0.0; PANEL],
        };
        let mut panels = vec![blank; num_panels];
        for (output, row) in weights.chunks_exact(inputs).enumerate() {
            let (number, within) = (output / PANEL, output % PANEL);
            let panel = &mut panels[number];
            let largest = row
                .iter()
                .fold(0.0_f32, |most, weight| most.max(weight.abs()));
            let factor = if largest >= f32::MIN_POSITIVE {
                127.0 / largest
            } else {
                0.0
            };
            // Weights that are no numbers have to make none of the product, too.
            let is_whole = row.iter().all(|weight| weight.is_finite());
            panel.scales[within] = if is_whole { largest / 127.0 } else { f32::NAN };
            panel.biases[within] = bias.map_or(0.0, |bias| bias[output]);
            let mut sum = 0;
            for (input, weight) in row.iter().enumerate() {
                let code = (weight * factor).round_ties_even() as i8;
                let line = input / GROUP * (PANEL / LANES) + within / LANES;
                let place = within % LANES * GROUP + input % GROUP;
                lines[number * lines_per_panel + line].0[place] = code;
                sum += i32::from(code);
            }
            panel.shifts[within] = i32::from(SHIFT) * sum;
        }
        Self {
            inputs,
            outputs,
            lines,
            panels,
        }
    }

    pub(super) fn inputs(&self) -> usize {
        self.inputs
    }

    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Panels with their lines, the last of which may have more outputs than there are.
    #[inline(always)]
    pub(super) fn panels(&self) -> impl Iterator<Item = (&Panel, &[Line])> {
        let per_panel = self.lines.len() / self.panels.len().max(1);
        self.panels
            .iter()
            .zip(self.lines.chunks_exact(per_panel.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_weight_has_its_place() {
        let weights: Vec<f32> = (0..66 * 5).map(|place| place as f32 - 100.0).collect();
        let biases: Vec<f32> = (0..66).map(|place| place as f32).collect();
        let linear = Int8Linear::new(&weights, 5, Some(&biases));
        assert_eq!((linear.inputs(), linear.outputs()), (5, 66));
        let panels: Vec<_> = linear.panels().collect();
        assert_eq!(panels.len(), 2);
        for (output, row) in weights.chunks(5).enumerate() {
            let (panel, lines) = panels[output / PANEL];
            let within = output % PANEL;
            assert_eq!(panel.biases[within], biases[output]);
            let mut sum = 0;
            for (input, weight) in row.iter().enumerate() {
                let line = &lines[input / GROUP * (PANEL / LANES) + within / LANES];
                let code = line.0[within % LANES * GROUP + input % GROUP];
                let decoded = f32::from(code) * panel.scales[within];
                assert!((decoded - weight).abs() <= 0.501 * panel.scales[within]);
                sum += i32::from(code);
            }
            assert_eq!(panel.shifts[within], 128 * sum);
        }
        // Outputs that are not there give nothing.
        assert_eq!((panels[1].0.scales[2], panels[1].0.shifts[2]), (0.0, 0));
    }

    #[test]
    fn a_weight_that_is_no_number_makes_none_of_its_output() {
        let linear = Int8Linear::new(&[1.0, f32::NAN, 1.0, 2.0, 0.0, 0.0], 2, None);
        let panels: Vec<_> = linear.panels().collect();
        let scales = panels[0].0.scales;
        assert!(scales[0].is_nan() && scales[1] > 0.0);
        assert_eq!(scales[2], 0.0);
    }
}
