"""Chat templates that may be passed on, each with the tokenizer that it belongs to.

All of them are in the source distribution of llama-cpp-python: llama.cpp's templates (MIT) as files and in its tests,
and llama-cpp-python's own templates (MIT) in its module of chat formats.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

_TEKKEN = "Tekken 240718"

# Of llama.cpp's files: the tokenizer by the name of the template.
FILES = {
    "meta-llama-Llama-3.1-8B-Instruct": "Llama-3",
    "meta-llama-Llama-3.2-3B-Instruct": "Llama-3",
    "meta-llama-Llama-3.3-70B-Instruct": "Llama-3",
    "meetkai-functionary-medium-v3.1": "Llama-3",
    "meetkai-functionary-medium-v3.2": "Llama-3",
    "fireworks-ai-llama-3-firefunction-v2": "Llama-3",
    "Qwen-Qwen2.5-7B-Instruct": "Qwen2",
    "Qwen-QwQ-32B": "Qwen3, tokenizer.json",
    "Qwen-Qwen3-0.6B": "Qwen3, tokenizer.json",
    "Qwen3-Coder": "Qwen3, tokenizer.json",
    "Qwen3.5-4B": "Qwen3.5",
    "microsoft-Phi-3.5-mini-instruct": "Phi-3",
    "CohereForAI-c4ai-command-r-plus-tool_use": "Command-R",
    "mistralai-Mistral-Nemo-Instruct-2407": _TEKKEN,
}

# Of the tests of llama.cpp.
TESTED = {
    "mistralai/Mistral-7B-Instruct-v0.2 (NOTE: Old pre-v1 without a system prompt)": "Mistral v1",
    "mistralai/Mistral-7B-Instruct-v0.2 (mistralai 'v1' template with a system prompt)": "Mistral v1",
    "mlabonne/AlphaMonarch-7B": "Mistral v1",
    "Mistral-Large-Instruct-2407 (mistralai 'v3' template; modified to have system prompt at start)": "Mistral v3",
    "mistralai/Mistral-Large-Instruct-2411 (mistralai 'v7' template)": "Mistral v7",
    "Mistral-Nemo-Instruct-2407 (mistralai 'v3-tekken' template; modified to have system prompt at start)": _TEKKEN,
    "bofenghuang/vigogne-2-70b-chat": "Llama-2",
    "eachadea/vicuna-13b-1.1": "Llama-2",
    "Orca-Vicuna": "Llama-2",
    "deepseek-ai/deepseek-coder-33b-instruct": "DeepSeek-Coder",
    "CohereForAI/c4ai-command-r-plus": "Command-R",
    "Llama-3": "Llama-3",
    "Phi-3-mini": "Phi-3",
    "Phi-3-medium": "Phi-3",
}

# Of llama-cpp-python.
CONSTANTS = {
    "CHATML_CHAT_TEMPLATE": "Qwen2",
    "MISTRAL_INSTRUCT_CHAT_TEMPLATE": "Mistral v1",
    "MIXTRAL_INSTRUCT_CHAT_TEMPLATE": "Mistral v1",
    "LLAMA3_INSTRUCT_CHAT_TEMPLATE": "Llama-3",
}

# Variables that templates need besides a conversation.
VARIABLES = {"fireworks-ai-llama-3-firefunction-v2": {"functions": "", "datetime": ""}}

_LITERAL = re.compile(r'"(?:[^"\\]|\\.)*"')


def templates(folder: Path) -> list[tuple[str, str, str, str]]:
    """Return the source, name, tokenizer and text of each template; `folder` is llama-cpp-python's."""
    vendor = folder / "vendor" / "llama.cpp"
    found = []
    for name, tokenizer in FILES.items():
        text = (vendor / "models" / "templates" / f"{name}.jinja").read_text("utf-8")
        found.append(("llama.cpp, models/templates", name, tokenizer, text))
    tested = _tested((vendor / "tests" / "test-chat-template.cpp").read_text("utf-8"))
    found += [("llama.cpp, tests", name, tokenizer, tested[name]) for name, tokenizer in TESTED.items()]
    constants = _constants((folder / "llama_cpp" / "llama_chat_format.py").read_text("utf-8"))
    found += [("llama-cpp-python", name, tokenizer, constants[name]) for name, tokenizer in CONSTANTS.items()]
    return found


def _tested(source: str) -> dict[str, str]:
    """Return the templates of a table in C++, by their names."""
    found = {}
    for case in source.split("/* .name= */")[1:]:
        name = _LITERAL.search(case)
        text = case.partition("/* .template_str")[2].partition("/* .expected_output")[0]
        if name is not None:
            found[ast.literal_eval(name[0])] = "".join(map(_literal, _LITERAL.findall(text)))
    return found


def _literal(literal: str) -> str:
    # Only \x is read otherwise in C++, and no template has it.
    return str(ast.literal_eval(literal))


def _constants(source: str) -> dict[str, str]:
    found = {}
    for node in ast.parse(source).body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and isinstance(node.value, ast.Constant)
        ):
            found[node.targets[0].id] = str(node.value.value)
    return found
