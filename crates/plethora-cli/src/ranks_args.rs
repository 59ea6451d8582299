//! Training together with other processes, as launchers start them.

use std::env;

use clap::Args;
use plethora_core::Result;
use plethora_system::Device;
use plethora_system::ranks::{self, Rendezvous};

/// Whether there are others.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Several processes")]
pub(crate) struct RanksArgs {
    /// Train a neural system together with other processes that are started with the same options: each
    /// computes a share of every step. The variables that torchrun sets say which one this is and where they
    /// meet; rank 0 writes the model
    #[arg(long, conflicts_with_all = ["shard", "dry_run"])]
    pub(crate) distributed: bool,
}

impl RanksArgs {
    /// Meets the others, of whom the variables of torchrun tell.
    pub(crate) fn join() -> Result<()> {
        ranks::join(&Rendezvous::of_variables(look_up)?)
    }

    /// The GPU of this process among those of its machine, where nobody has chosen one.
    pub(crate) fn device(self, asked: Device) -> Device {
        match (self.distributed, asked, ranks::local_rank(look_up)) {
            (true, Device::Cuda(0), Some(local)) => Device::Cuda(local),
            _ => asked,
        }
    }
}

fn look_up(name: &str) -> Option<String> {
    env::var(name).ok()
}
