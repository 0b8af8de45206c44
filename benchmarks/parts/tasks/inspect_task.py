"""A task for Inspect: `inspect eval inspect_task.py --sandbox pilothouse`, in Inspect's environment.

The model is a mock that calls the tool bash; the scorer looks into the sandbox.
"""

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessage, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer
from inspect_ai.solver import TaskState, generate, use_tools
from inspect_ai.tool import bash
from inspect_ai.util import sandbox

FILE, COMMAND = "sum.txt", "echo $(($(paste -sd+ numbers.txt))) > sum.txt"
USAGE = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
"""Given with each reply: without it the mock model fetches a tokenizer."""


def reply(messages: list[ChatMessage], *_: object) -> ModelOutput:
    """Calls the tool, and ends once it has replied."""
    if messages[-1].role == "tool":
        output = ModelOutput.from_content("mockllm/model", "The sum is in the file.")
    else:
        output = ModelOutput.for_tool_call("mockllm/model", "bash", {"command": COMMAND})
    output.usage = USAGE
    return output


@scorer(metrics=[accuracy()])  # type: ignore[untyped-decorator]
def file_holds() -> Scorer:
    """Whether the file in the sandbox holds the target, and `exec` passes on input, folder and variables."""

    async def score(state: TaskState, target: Target) -> Score:
        found = (await sandbox().read_file(FILE)).strip()
        echoed = await sandbox().exec(["sh", "-c", "cat; echo $WORD; pwd"], input="in ", cwd="/usr", env={"WORD": "x"})
        good = found == target.text and echoed.stdout == "in x\n/usr\n"
        return Score(value=CORRECT if good else INCORRECT, explanation=f"{found!r}, {echoed.stdout!r}")

    return score


@task  # type: ignore[untyped-decorator]
def sums() -> Task:
    """Two samples, each with a sandbox of its own."""
    return Task(
        dataset=[
            Sample(input="Add up the numbers.", target="42", files={"numbers.txt": "19\n23\n"}, id=n) for n in (1, 2)
        ],
        solver=[use_tools(bash(timeout=60)), generate()],
        scorer=file_holds(),
        model=get_model("mockllm/model", custom_outputs=reply),
    )
