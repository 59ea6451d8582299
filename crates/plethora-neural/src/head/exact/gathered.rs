//! The batches of all ranks as one, where each rank has some of the labels: document vectors go to all, every
//! rank compares them with its labels, and what that says of the vectors is added up.

use std::ops::Range;

use plethora_core::Error as CoreError;
use tch::{Device, Kind, Tensor};

use super::{Batch, Sums};
use crate::Result;
use crate::head::{LabelPlaces, Prior};
use crate::parameters::{RowShare, write_values};

/// A batch of all ranks.
pub(super) struct Gathered {
    share: RowShare,
    /// documents of all ranks x width.
    hidden: Tensor,
    /// The true labels of these, of those of this rank.
    targets: LabelPlaces,
    /// What raises scores of labels of this rank.
    prior: Option<GatheredPrior>,
    /// What the loss of a label counts in its own step.
    weight: f64,
    /// Documents of this rank among all.
    own_documents: Range<i64>,
    /// Numbers of this rank among all that raise scores.
    own_raised: Range<i64>,
    num_raised: i64,
}

struct GatheredPrior {
    places: LabelPlaces,
    /// One a place.
    values: Tensor,
    /// Which of the values of all ranks these are.
    numbers: Vec<i64>,
}

/// A label of a document, and which one it is of all that are told.
type Place = (u32, i64, i64);

/// What the ranks have said, put together.
#[derive(Default)]
struct Heard {
    /// Document vectors.
    hidden: Vec<f32>,
    num_documents: i64,
    targets: Vec<Place>,
    raised: Vec<Place>,
    raised_by: Vec<f32>,
    weight: f64,
}

impl Gathered {
    /// Of what all ranks have now; this one may have no documents. Vectors are of so many numbers of this
    /// kind, on this device.
    pub(super) fn of(
        share: RowShare,
        own: Option<&Batch<'_>>,
        (width, kind, device): (i64, Kind, Device),
    ) -> Result<Self> {
        let ranks = share.ranks();
        let mut heard = Heard::default();
        let (mut own_documents, mut own_raised) = (0..0, 0..0);
        let said = ranks.gather(&message(own)?)?;
        for (rank, said) in said.iter().enumerate() {
            let before = (heard.num_documents, heard.raised.len() as i64);
            heard.add(said, width as usize).ok_or_else(damaged)?;
            if rank == ranks.place().index() {
                own_documents = before.0..heard.num_documents;
                own_raised = before.1..heard.raised.len() as i64;
            }
        }
        let num_documents = heard.num_documents;
        let num_raised = heard.raised.len() as i64;
        let labels = share.own();
        let places = |places| own_places(places, &labels, num_documents as usize, device);
        let (targets, _) = places(heard.targets);
        let prior = (num_raised > 0).then(|| {
            let (places, numbers) = places(heard.raised);
            let values = Tensor::from_slice(&heard.raised_by).to_device(device);
            let index = Tensor::from_slice(&numbers).to_device(device);
            GatheredPrior {
                places,
                values: values.index_select(0, &index),
                numbers,
            }
        });
        let hidden = Tensor::f_from_slice(&heard.hidden)?.f_view([num_documents, width])?;
        Ok(Self {
            share,
            hidden: hidden.to_device(device).to_kind(kind),
            targets,
            prior,
            weight: heard.weight,
            own_documents,
            own_raised,
            num_raised,
        })
    }

    /// Has the labels of this rank learn from it. Gives the loss of all documents with these, and of all labels
    /// what they say of the documents of this rank.
    pub(super) fn learn(self, learn: impl FnOnce(&Batch<'_>) -> Sums) -> Result<Sums> {
        let prior = self.prior.as_ref().map(|prior| Prior {
            places: &prior.places,
            values: prior.values.shallow_clone(),
        });
        let sums = learn(&Batch {
            hidden: self.hidden.shallow_clone(),
            targets: &self.targets,
            prior: prior.as_ref(),
            weight: self.weight,
        });
        let device = sums.of_vector.device();
        let of_raised = Tensor::zeros([self.num_raised], (Kind::Float, device));
        if let (Some(prior), Some(of_values)) = (&self.prior, &sums.of_prior) {
            let numbers = Tensor::from_slice(&prior.numbers).to_device(device);
            let _ = of_raised
                .shallow_clone()
                .index_copy_(0, &numbers, of_values);
        }
        let parts = [&sums.of_vector.view([-1]), &of_raised];
        let all = Tensor::cat(&parts, 0).to_device(Device::Cpu);
        let mut values: Vec<f32> = Vec::try_from(all)?;
        self.share.ranks().sum(&mut values)?;
        let all = Tensor::f_from_slice(&values)?.to_device(device);
        let num_of_vectors = sums.of_vector.numel() as i64;
        let of_vectors = all.narrow(0, 0, num_of_vectors).view_as(&sums.of_vector);
        let of_raised = all.narrow(0, num_of_vectors, self.num_raised);
        let part = |tensor: &Tensor, part: &Range<i64>| {
            tensor.narrow(0, part.start, part.end - part.start)
        };
        Ok(Sums {
            loss: sums.loss,
            of_vector: part(&of_vectors, &self.own_documents),
            of_prior: (self.num_raised > 0).then(|| part(&of_raised, &self.own_raised)),
        })
    }

    /// What the loss of a label counts in its own step, in all ranks alike.
    pub(super) fn weight(&self) -> f64 {
        self.weight
    }
}

fn damaged() -> crate::Error {
    let message = "another rank has said something else than a batch";
    CoreError::Compute(message.to_owned()).into()
}

/// The places of some labels, counted from the first of these, in the order of [`LabelPlaces`]; and which of
/// all each is.
fn own_places(
    mut places: Vec<Place>,
    labels: &Range<i64>,
    num_documents: usize,
    device: Device,
) -> (LabelPlaces, Vec<i64>) {
    places.retain(|&(label, _, _)| labels.contains(&i64::from(label)));
    places.sort_unstable();
    let numbers = places.iter().map(|&(_, _, number)| number).collect();
    let first = labels.start as u32;
    let places = places.iter();
    let places = places.map(|&(label, document, _)| (label - first, document));
    let places = LabelPlaces::of_places(places.collect(), num_documents);
    (places.to_device(device), numbers)
}

/// Numbers of documents, of true labels and of raised scores, and the weight of a label; then document vectors,
/// true labels, raised ones, and what raises them.
fn message(own: Option<&Batch<'_>>) -> Result<Vec<u8>> {
    let mut message = Vec::new();
    let Some(own) = own else {
        message.resize(32, 0);
        return Ok(message);
    };
    let raised = own.prior.map(|prior| prior.places);
    let num_raised = raised.map_or(0, |raised| raised.labels_on_host().len());
    let num_targets = own.targets.labels_on_host().len();
    for number in [own.targets.num_documents(), num_targets, num_raised] {
        message.extend((number as u64).to_le_bytes());
    }
    message.extend(own.weight.to_le_bytes());
    write_values(&own.hidden, &mut message)?;
    for places in std::iter::once(own.targets).chain(raised) {
        let documents: Vec<i64> = Vec::try_from(places.documents().to_device(Device::Cpu))?;
        let documents = documents.into_iter().map(|document| document as u32);
        let labels = places.labels_on_host().iter().copied();
        message.extend(documents.chain(labels).flat_map(u32::to_le_bytes));
    }
    if let Some(prior) = own.prior {
        write_values(&prior.values, &mut message)?;
    }
    Ok(message)
}

impl Heard {
    /// Adds what a rank has said; none if it makes no sense.
    fn add(&mut self, mut said: &[u8], width: usize) -> Option<()> {
        let mut numbers = [0; 3];
        for number in &mut numbers {
            *number = usize::try_from(u64::from_le_bytes(take(&mut said)?)).ok()?;
        }
        let [num_documents, num_targets, num_raised] = numbers;
        self.weight = self.weight.max(f64::from_le_bytes(take(&mut said)?));
        let first = self.num_documents;
        self.num_documents += num_documents as i64;
        let num_values = num_documents.checked_mul(width)?;
        self.hidden
            .extend(words(&mut said, num_values)?.map(f32::from_le_bytes));
        for (places, count) in [
            (&mut self.targets, num_targets),
            (&mut self.raised, num_raised),
        ] {
            let documents = words(&mut said, count)?.map(u32::from_le_bytes);
            let labels = words(&mut said, count)?.map(u32::from_le_bytes);
            for (document, label) in documents.zip(labels) {
                if document as usize >= num_documents {
                    return None;
                }
                let number = places.len() as i64;
                places.push((label, first + i64::from(document), number));
            }
        }
        self.raised_by
            .extend(words(&mut said, num_raised)?.map(f32::from_le_bytes));
        said.is_empty().then_some(())
    }
}

fn take(said: &mut &[u8]) -> Option<[u8; 8]> {
    let (taken, rest) = said.split_first_chunk()?;
    *said = rest;
    Some(*taken)
}

/// Takes so many numbers of 32 bits.
fn words<'a>(said: &mut &'a [u8], count: usize) -> Option<impl Iterator<Item = [u8; 4]> + use<'a>> {
    let (taken, rest) = said.split_at_checked(count.checked_mul(4)?)?;
    *said = rest;
    Some(taken.as_chunks().0.iter().copied())
}
