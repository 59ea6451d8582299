//! Which members to train, by what families propose, what training them costs and what the machine has.

use std::path::Path;
use std::time::Duration;

use plethora_core::Result;
use plethora_system::settings::{AssignedValue, Assignment, Settings, parse_config};
use plethora_system::{Device, NameUse, Registry, TrainingSize, resources};
use serde::Serialize;

use super::planned_member::PlannedMember;

/// Share of the budget that training may take; the rest is for reading, fitting and saving.
const TRAINING_SHARE: f64 = 0.8;

/// Share of the memory at hand that a member may take.
const MEMORY_SHARE: f64 = 0.8;

/// Budgets that nobody named.
const MIN_BUDGET_S: f64 = 60.0;
const MAX_BUDGET_S: f64 = 600.0;

/// Fewer of the epochs that the data asks for are not worth a member.
pub(super) const MIN_EPOCH_SHARE: f64 = 0.3;

/// Which members to train.
#[derive(Debug, Clone, Serialize)]
pub struct Plan {
    /// Seconds for everything.
    pub budget_s: f64,
    /// Documents, labels and terms.
    pub size: TrainingSize,
    /// Threads to compute with.
    pub num_threads: usize,
    /// Memory at hand, where the system tells.
    pub memory_bytes: Option<u64>,
    /// The pretrained encoder that members start from, where some can.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoder: Option<String>,
    /// How many times each member is trained while documents are held back, as a share of once on
    /// all.
    pub effort: f64,
    /// All members that were thought of, the cheapest first, and then those that get what time is left.
    pub members: Vec<PlannedMember>,
}

/// What a plan is made from.
pub(super) struct Planning<'a> {
    pub(super) registry: &'static Registry,
    pub(super) size: TrainingSize,
    pub(super) budget: Option<Duration>,
    pub(super) device: Device,
    pub(super) seed: u64,
    /// The pretrained encoder to start from, where there is one.
    pub(super) encoder: Option<String>,
    /// Whether it was asked for, so that members that cannot take it are a mistake.
    pub(super) is_encoder_asked: bool,
    /// A file with pretrained word vectors to start from.
    pub(super) vectors: Option<&'a Path>,
    /// Whether labels have names of their own.
    pub(super) has_names: bool,
    /// Whether members leave a model behind while documents are held back, as they do not where these are crossed.
    pub(super) keeps_models: bool,
    /// How many times members are trained before the last time.
    pub(super) effort: f64,
    pub(super) num_threads: usize,
    /// What a member lacks on this machine.
    pub(super) check: &'a dyn Fn(&Settings) -> Result<()>,
}

impl Planning<'_> {
    /// The plan: the cheapest members first, as many as the time allows.
    pub(super) fn plan(&self) -> Result<Plan> {
        let mut members = Vec::new();
        let mut proposed = self.registry.systems().flat_map(|spec| spec.auto);
        let source = proposed.find(|member| member.trains_encoder);
        let source = source.map(|member| member.name);
        for spec in self.registry.systems() {
            for proposed in spec.auto {
                if proposed.starts_trained && source.is_none() {
                    continue;
                }
                let mut settings = self
                    .registry
                    .recipe(spec.name)
                    .map_err(plethora_core::Error::usage)?;
                let origin = Path::new(proposed.name);
                for assignment in parse_config(origin, proposed.settings)? {
                    settings.assign(&assignment)?;
                }
                assign(
                    &mut settings,
                    "seed",
                    AssignedValue::Typed(self.seed.into()),
                )?;
                if let Some(encoder) = &self.encoder {
                    assign(
                        &mut settings,
                        "encoder",
                        AssignedValue::Text(encoder.clone()),
                    )?;
                }
                if let Some(vectors) = self.vectors {
                    let file = vectors.to_string_lossy().into_owned();
                    assign(&mut settings, "vectors", AssignedValue::Text(file))?;
                }
                let mut member = self.member(proposed.name, settings)?;
                member.starts_from = source.filter(|_| proposed.starts_trained);
                member.is_spare = proposed.is_spare;
                member.learns_names = proposed.names == NameUse::Documents && self.has_names;
                if proposed.names == NameUse::Needed && !self.has_names {
                    member.left_out = Some("labels have no names of their own".into());
                }
                if proposed.needs_gpu && self.device == Device::Cpu {
                    member.left_out = Some("it pays on a GPU alone".into());
                }
                members.push(member);
            }
        }
        members.sort_by(|left, right| {
            let by_spare = left.is_spare.cmp(&right.is_spare);
            by_spare.then(left.estimated_s.total_cmp(&right.estimated_s))
        });
        let memory_bytes = resources::available_memory_bytes();
        let mut takes_encoder = false;
        let mut takes_vectors = false;
        let (mut refused_encoder, mut refused_vectors) = (None, None);
        for member in &mut members {
            let limit = memory_bytes.map(|bytes| (bytes as f64 * MEMORY_SHARE) as u64);
            if limit.is_some_and(|limit| member.memory_bytes > limit) {
                member.left_out = Some("it would not fit into the memory at hand".into());
            }
            if member.left_out.is_some() {
                continue;
            }
            let is_with_encoder =
                self.encoder.is_some() && member.settings.option("encoder").is_some();
            let is_with_vectors =
                self.vectors.is_some() && member.settings.option("vectors").is_some();
            match (self.check)(&member.settings) {
                Ok(()) => {
                    takes_encoder |= is_with_encoder;
                    takes_vectors |= is_with_vectors;
                }
                Err(error) => {
                    member.left_out = Some(error.to_string());
                    if is_with_encoder && self.is_encoder_asked {
                        refused_encoder.get_or_insert(error);
                    } else if is_with_vectors {
                        refused_vectors.get_or_insert(error);
                    }
                }
            }
        }
        // Who names an encoder or word vectors wants some member to take them.
        for (is_taken, refused) in [
            (takes_encoder, refused_encoder),
            (takes_vectors, refused_vectors),
        ] {
            if let Some(error) = refused.filter(|_| !is_taken) {
                return Err(error);
            }
        }
        if self.vectors.is_some() && !takes_vectors {
            tracing::warn!("no member reads word vectors here; those that do pay on a GPU alone");
        }
        self.put_after_sources(&mut members);
        let budget_s = self.budget_s(&members);
        self.fit_budget(&mut members, budget_s);
        Ok(Plan {
            budget_s,
            size: self.size,
            num_threads: self.num_threads,
            memory_bytes,
            encoder: self.encoder.clone().filter(|_| takes_encoder),
            effort: self.effort,
            members,
        })
    }

    fn member(&self, name: &'static str, settings: Settings) -> Result<PlannedMember> {
        let estimate = settings.config()?.estimate(&self.size);
        Ok(PlannedMember {
            name,
            estimated_s: estimate.wall_seconds(self.device, self.num_threads),
            memory_bytes: estimate.peak_memory_bytes,
            epoch_share: 1.0,
            left_out: None,
            learns_names: false,
            starts_from: None,
            is_too_slow: false,
            is_spare: false,
            // Networks forget nothing by a few documents less, and cost the most.
            returns: !settings.spec().uses_devices(),
            settings,
        })
    }

    /// Members that start from the encoder of another come right after it.
    fn put_after_sources(&self, members: &mut Vec<PlannedMember>) {
        let (mut later, mut placed): (Vec<_>, Vec<_>) = members
            .drain(..)
            .partition(|member| member.starts_from.is_some());
        for member in &mut later {
            if member.left_out.is_none() && !self.keeps_models {
                member.left_out =
                    Some("no other member leaves a model behind it could start from".into());
            }
        }
        for member in later {
            let source = placed
                .iter()
                .position(|other| Some(other.name) == member.starts_from);
            placed.insert(source.map_or(placed.len(), |place| place + 1), member);
        }
        *members = placed;
    }

    /// Seconds of all training of a member.
    fn seconds(&self, member: &PlannedMember) -> f64 {
        let last = if member.returns { 1.0 } else { 0.0 };
        member.estimated_s * (self.effort + last)
    }

    fn budget_s(&self, members: &[PlannedMember]) -> f64 {
        if let Some(budget) = self.budget {
            return budget.as_secs_f64();
        }
        let wanted = members.iter().filter(|member| member.left_out.is_none());
        let seconds: f64 = wanted.map(|member| self.seconds(member)).sum();
        let minutes = (2.0 * seconds / TRAINING_SHARE / 60.0).ceil();
        (60.0 * minutes).clamp(MIN_BUDGET_S, MAX_BUDGET_S)
    }

    fn fit_budget(&self, members: &mut [PlannedMember], budget_s: f64) {
        let mut left = TRAINING_SHARE * budget_s;
        let mut is_first = true;
        let mut chosen: Vec<&'static str> = Vec::new();
        for member in members
            .iter_mut()
            .filter(|member| member.left_out.is_none())
        {
            if let Some(source) = member.starts_from.filter(|name| !chosen.contains(name)) {
                member.left_out = Some(format!(
                    "{source}, from which it would start, is not trained"
                ));
                continue;
            }
            let seconds = self.seconds(member);
            let share = (left / seconds.max(1e-9)).min(1.0);
            if share >= 1.0 {
                left -= seconds;
            } else if !member.returns && share >= MIN_EPOCH_SHARE {
                member.epoch_share = share;
                left = 0.0;
            } else if !is_first {
                member.is_too_slow = true;
                member.left_out = Some(format!(
                    "training would take {seconds:.0} s, and {left:.0} s of the budget are left"
                ));
            }
            is_first = false;
            if member.left_out.is_none() {
                chosen.push(member.name);
            }
        }
    }
}

impl Plan {
    /// The members that are trained, the cheapest first.
    pub(super) fn chosen(&self) -> impl Iterator<Item = &PlannedMember> {
        self.members
            .iter()
            .filter(|member| member.left_out.is_none())
    }

    /// The plan without all members but the first of a system, where nothing can tell them apart.
    pub(super) fn of_one(mut self, system: &str) -> Self {
        let mut is_found = false;
        for member in &mut self.members {
            let is_meant = !is_found && member.settings.system() == system;
            if (member.left_out.is_none() || member.is_too_slow) && !is_meant {
                member.is_too_slow = false;
                member.left_out = Some("there are too few documents to tell members apart".into());
            }
            is_found |= member.left_out.is_none();
        }
        self
    }

    /// What will be trained, in a line.
    pub fn summary(&self) -> String {
        let names: Vec<&str> = self.chosen().map(|member| member.name).collect();
        let encoder = self.encoder.as_ref();
        let encoder = encoder.map_or_else(String::new, |name| format!(" (encoder {name})"));
        let minutes = self.budget_s / 60.0;
        format!("{minutes:.1} min for {}{encoder}", names.join("; "))
    }
}

/// Takes in an option of the system's own, where it has it.
pub(super) fn assign(settings: &mut Settings, key: &str, value: AssignedValue) -> Result<()> {
    if settings.option(key).is_none() {
        return Ok(());
    }
    settings.assign_option(&Assignment {
        key: key.into(),
        value,
        origin: format!("--{key}"),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use super::*;

    static REGISTRY: LazyLock<Registry> =
        LazyLock::new(|| Registry::new(plethora_linear::FAMILIES));

    const SIZE: TrainingSize = TrainingSize {
        num_documents: 40_000,
        num_entries: 4_000_000,
        num_features: 80_000,
        num_labels: 4000,
        num_assignments: 200_000,
    };

    fn planning(keeps_models: bool) -> Planning<'static> {
        Planning {
            registry: &REGISTRY,
            size: SIZE,
            budget: None,
            device: Device::Cpu,
            seed: 1,
            encoder: None,
            is_encoder_asked: false,
            vectors: None,
            has_names: false,
            keeps_models,
            effort: 1.0,
            num_threads: 1,
            check: &|_| Ok(()),
        }
    }

    /// A network, trained once, of this name and time.
    fn network(name: &'static str, seconds: f64) -> PlannedMember {
        let mut member = planning(true)
            .member(name, REGISTRY.recipe("wide-tree").unwrap())
            .unwrap();
        member.estimated_s = seconds;
        member.returns = false;
        member
    }

    fn tuned() -> PlannedMember {
        PlannedMember {
            starts_from: Some("encoder"),
            ..network("tuned", 1.0)
        }
    }

    fn names(members: &[PlannedMember]) -> Vec<&'static str> {
        members.iter().map(|member| member.name).collect()
    }

    #[test]
    fn a_member_follows_the_one_whose_encoder_it_starts_from() {
        let given = || {
            vec![
                tuned(),
                network("quick", 2.0),
                network("encoder", 50.0),
                network("last", 9.0),
            ]
        };
        let mut members = given();
        planning(true).put_after_sources(&mut members);
        assert_eq!(names(&members), ["quick", "encoder", "tuned", "last"]);
        assert!(members.iter().all(|member| member.left_out.is_none()));

        let mut crossed = given();
        planning(false).put_after_sources(&mut crossed);
        let left_out: Vec<bool> = crossed
            .iter()
            .map(|member| member.left_out.is_some())
            .collect();
        assert_eq!(left_out, [false, false, true, false]);
    }

    #[test]
    fn a_member_whose_source_has_no_time_is_left_out_with_it() {
        let mut members = vec![network("quick", 2.0), network("encoder", 5000.0), tuned()];
        planning(true).fit_budget(&mut members, 60.0);
        assert!(members[0].left_out.is_none());
        assert!(members[1].is_too_slow && members[1].left_out.is_some());
        let reason = members[2].left_out.as_ref().unwrap();
        assert!(
            reason.starts_with("encoder, from which it would start"),
            "{reason}"
        );
    }
}
