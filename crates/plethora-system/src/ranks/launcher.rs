//! What launchers tell the processes that they start: torchrun, Kubeflow, Ray, or a script of Slurm.

use std::time::Duration;

use plethora_core::{Error, Result};

use super::Rendezvous;
use crate::Shard;

/// For the slowest of the others to start.
const PATIENCE: Duration = Duration::from_secs(600);

impl Rendezvous {
    /// The place that the variables `RANK`, `WORLD_SIZE`, `MASTER_ADDR` and `MASTER_PORT` name.
    ///
    /// # Errors
    /// [`Error::Usage`] if one of them is missing or wrong.
    pub fn of_variables(look_up: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let needed = |name: &str| {
            look_up(name).ok_or_else(|| {
                Error::usage(format!(
                    "{name} is not set; start the processes with torchrun, or set RANK, WORLD_SIZE, \
                     MASTER_ADDR and MASTER_PORT for each"
                ))
            })
        };
        let number = |name: &str| {
            let text = needed(name)?;
            let number = text.parse::<usize>();
            number.map_err(|_| {
                Error::usage(format!("{name}: expected a whole number, found {text:?}"))
            })
        };
        let (rank, world) = (number("RANK")?, number("WORLD_SIZE")?);
        let place = Shard::new(rank, world).ok_or_else(|| {
            let message =
                format!("RANK: expected a number below WORLD_SIZE, {world}, found {rank}");
            Error::usage(message)
        })?;
        // There torchrun itself listens where it has its processes meet.
        let is_taken = look_up("TORCHELASTIC_USE_AGENT_STORE").as_deref() == Some("True");
        let port = u16::try_from(number("MASTER_PORT")? + usize::from(is_taken));
        Ok(Self {
            place,
            address: needed("MASTER_ADDR")?,
            port: port.map_err(|_| Error::usage("MASTER_PORT: expected a number below 65536"))?,
            patience: PATIENCE,
        })
    }
}

/// The GPU of this process among those of its machine, by `LOCAL_RANK`.
pub fn local_rank(look_up: impl Fn(&str) -> Option<String>) -> Option<usize> {
    look_up("LOCAL_RANK")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_of_launchers_are_understood() {
        let of = |variables: &[(&str, &str)]| {
            let look_up = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| (*value).to_owned())
            };
            Rendezvous::of_variables(look_up).map_err(|error| error.to_string())
        };
        let plain = [
            ("RANK", "1"),
            ("WORLD_SIZE", "2"),
            ("MASTER_ADDR", "host"),
            ("MASTER_PORT", "29500"),
        ];
        let found = of(&plain).unwrap();
        assert_eq!(
            (found.place.to_string().as_str(), found.port),
            ("1/2", 29500)
        );
        let of_torchrun = [&plain[..], &[("TORCHELASTIC_USE_AGENT_STORE", "True")]].concat();
        assert_eq!(of(&of_torchrun).unwrap().port, 29501);
        for (variables, expected) in [
            (
                &plain[1..],
                "RANK is not set; start the processes with torchrun",
            ),
            (
                &[("RANK", "2"), plain[1], plain[2], plain[3]],
                "RANK: expected a number below WORLD_SIZE, 2",
            ),
            (
                &[("RANK", "x"), plain[1]],
                "RANK: expected a whole number, found \"x\"",
            ),
            (
                &[plain[0], plain[1], plain[2], ("MASTER_PORT", "70000")],
                "MASTER_PORT: expected a number below",
            ),
        ] {
            let message = of(variables).unwrap_err();
            assert!(message.starts_with(expected), "{message}");
        }
    }
}
