"""The client of OpenAI asks for models and for vectors of texts."""

import math

import openai
import pytest
from conftest import TEXTS

# Vectors are computed in 16 bits where the processor can, and the last of these depend on what is computed together.
NEAR = 1e-2


@pytest.fixture(scope="module")
def client(address):
    return openai.OpenAI(base_url=f"{address}/v1", api_key="sesame", max_retries=0)


def vectors(client, model, texts, **options):
    answer = client.embeddings.create(model=model, input=texts, **options)
    assert answer.object == "list" and answer.model == model
    assert [found.index for found in answer.data] == list(range(len(answer.data)))
    return [found.embedding for found in answer.data]


def test_models_are_listed(client):
    assert [model.id for model in client.models.list()] == ["siamese", "dense", "both", "wide-tree"]
    assert client.models.retrieve("dense").owned_by == "dense"


@pytest.mark.parametrize("model", ["siamese", "dense", "both"])
def test_vectors_have_length_one_and_no_neighbours(client, model):
    """A text has the same vector alone and among others, as numbers and as bytes, which the client asks for by itself."""
    found = vectors(client, model, TEXTS[:4])
    for text, vector in zip(TEXTS, found):
        assert math.dist(vector, [0.0] * len(vector)) == pytest.approx(1.0, abs=1e-3)
        alone = vectors(client, model, text, encoding_format="float")
        assert alone[0] == pytest.approx(vector, abs=NEAR)
    assert math.dist(found[1], found[3]) > 1e-3
    assert len(vectors(client, model, TEXTS[:1] * 50)) == 50
    width = len(found[0])
    assert vectors(client, model, TEXTS[:1], dimensions=width)[0] == pytest.approx(found[0], abs=NEAR)


def test_an_ensemble_gives_the_vectors_of_its_member(client):
    assert vectors(client, "both", TEXTS[:4]) == vectors(client, "dense", TEXTS[:4])


def test_words_are_counted(client):
    usage = client.embeddings.create(model="dense", input=["one two", "three"]).usage
    assert usage.prompt_tokens == usage.total_tokens == 3


def test_what_cannot_be_answered_is_told(client, address):
    with pytest.raises(openai.NotFoundError, match="there is no model"):
        vectors(client, "large", "a")
    with pytest.raises(openai.UnprocessableEntityError, match="has no vectors of texts"):
        vectors(client, "wide-tree", "a")
    with pytest.raises(openai.UnprocessableEntityError, match="dimensions"):
        vectors(client, "dense", "a", dimensions=7)
    with pytest.raises(openai.AuthenticationError):
        openai.OpenAI(base_url=f"{address}/v1", api_key="open", max_retries=0).models.list()
