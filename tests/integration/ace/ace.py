"""What the tests of ACE share: an orchestrator with services that the test scripts, and calls of AceGenerator."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "orchestrator"))

from harness import SLOW, api, message, word  # noqa: E402
from services import said, services  # noqa: E402,F401

api.flags = services.flags()
IDS = ("shr-00001", "aup-00003")
CONTENTS = ("Use a token bucket for the rate limit of an API.", "Answer 429 with Retry-After when the limit of 100 requests a minute is passed.")


def bullet(number, content, score=0.5, **fields):
    """A hit of SearchPlaybook."""
    return {"bullet": {"id": number, "section": "Rates", "content": content, "helpful": 1, **fields}, "score": score}


def playbook(*hits, revision=3):
    return lambda request, context: message("SearchPlaybookResponse")(hits=hits[:request.limit or 10], revision=revision)


def bullets():
    return playbook(*(bullet(number, content) for number, content in zip(IDS, CONTENTS)))


def script(search=None, chat=None):
    services.forget()
    services.on("ToolRunner/SearchPlaybook", search or bullets())
    services.on("LlmGateway/Chat", chat or (lambda request, context: said("A token bucket.")))


def generate(query="How do I limit the rate of an API?", dataset="appworld", timeout=20, **fields):
    request = message("GenerateRequest")(query=query, dataset=dataset, **fields)
    return api.channel.unary_unary("/renga.v1.AceGenerator/Generate", request_serializer=lambda m: m.SerializeToString(),
                                   response_deserializer=message("GenerateResponse").FromString)(
                                       request, timeout=timeout * SLOW, wait_for_ready=True, metadata=api.metadata)


def status(trajectory):
    return word("TrajectoryStatus", trajectory.status).removeprefix("TRAJECTORY_STATUS_")


def method(name, request, reply, timeout=60, stream=False, channel=None):
    """A call of AceGenerator; of a stream all events."""
    make = getattr(channel or api.channel, "unary_stream" if stream else "unary_unary")
    made = make("/renga.v1.AceGenerator/" + name, request_serializer=lambda m: m.SerializeToString(), response_deserializer=message(reply).FromString)(
        request, timeout=timeout * SLOW, wait_for_ready=True, metadata=api.metadata)
    return list(made) if stream else made


def reflect(trajectory, feedback, **fields):
    return method("Reflect", message("AceReflectRequest")(trajectory=trajectory, feedback=feedback, **fields), "AceReflectResponse")


def curate(*reflections, dataset="toy", **fields):
    return method("Curate", message("CurateRequest")(dataset=dataset, reflections=reflections, **fields), "CurateResponse")


def adapt(mode, samples, dataset="toy", timeout=120, channel=None, **fields):
    """The samples of the stream, and its result. OFFLINE is 1, ONLINE 2, EVALUATE 3."""
    events = method("Adapt", message("AdaptRequest")(mode=mode, samples=samples, dataset=dataset, **fields), "AdaptEvent", timeout, True, channel)
    return [event.sample for event in events if event.WhichOneof("event") == "sample"], events[-1].result


def feedback(run_id, verdict, **fields):
    return method("Feedback", message("FeedbackRequest")(run_id=run_id, verdict=verdict, **fields), "FeedbackResponse")
