"""What Amazon publishes of Bedrock's runtime API, as botocore brings it: the judge of requests."""

from functools import cache
from typing import Any

from botocore.loaders import Loader
from botocore.model import OperationModel, ServiceModel
from botocore.validate import ParamValidator


@cache
def converse_stream() -> OperationModel:
    """Return the model of the operation."""
    described = Loader().load_service_model("bedrock-runtime", "service-2")
    return ServiceModel(described, "bedrock-runtime").operation_model("ConverseStream")


def faults(body: dict[str, Any]) -> str:
    """Return what the API would not understand of a request; empty when it would understand all of it."""
    shape = converse_stream().input_shape
    assert shape is not None
    return ParamValidator().validate({"modelId": "m"} | body, shape).generate_report()
