"""Runs one task with the OpenHands SDK, headless: the task on standard input, the record in a file that is written anew with every event."""

import argparse
import json
import os
import sys

# Folders of packages, told by the program that starts this one.
sys.path[:0] = sys.argv.pop(1).split(":")


def version():
    from importlib.metadata import version

    return version("openhands-sdk")


def main():
    parser = argparse.ArgumentParser(prog="openhands")
    parser.add_argument("--version", action="store_true")
    parser.add_argument("--model")
    parser.add_argument("--base-url")
    parser.add_argument("--record")
    args = parser.parse_args()
    if args.version:
        print(version())
        return 0
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("OPENHANDS_SUPPRESS_BANNER", "1")
    from openhands.sdk import LLM, Agent, AgentContext, Conversation
    from openhands.sdk.tool import Tool
    from openhands.tools.file_editor import FileEditorTool
    from openhands.tools.task_tracker import TaskTrackerTool
    from openhands.tools.terminal import TerminalTool

    record = {"version": version(), "model": args.model, "status": None, "error": None, "events": [], "metrics": {}}
    # The gateway tries again by itself.
    llm = LLM(
        model="openai/" + args.model,
        base_url=args.base_url + "/v1",
        api_key=os.environ["SKILLDELTA_MODEL_KEY"],
        usage_id="agent",
        num_retries=2,
        retry_min_wait=1,
        retry_max_wait=2,
    )
    # Where there is tmux the terminal would be another one.
    tools = [
        Tool(name=TerminalTool.name, params={"terminal_type": "subprocess"}),
        Tool(name=FileEditorTool.name),
        Tool(name=TaskTrackerTool.name),
    ]
    context = AgentContext(load_user_skills=True, load_project_skills=True, load_public_skills=False)
    agent = Agent(llm=llm, tools=tools, agent_context=context, system_prompt_kwargs={"cli_mode": True})

    def write():
        with open(args.record + ".part", "w", encoding="utf-8") as file:
            json.dump(record, file)
        os.replace(args.record + ".part", args.record)

    def keep(event):
        record["events"].append(event.model_dump(mode="json"))
        write()

    conversation = Conversation(agent=agent, workspace=os.getcwd(), callbacks=[keep], visualizer=None)
    try:
        conversation.send_message(sys.stdin.read())
        conversation.run()
        record["status"] = str(getattr(conversation.state.execution_status, "value", conversation.state.execution_status))
    except Exception as error:
        record["error"] = f"{type(error).__name__}: {error}"
    record["metrics"] = json.loads(json.dumps(conversation.conversation_stats.get_combined_metrics().get(), default=str))
    write()
    conversation.close()
    if record["error"]:
        print(record["error"], file=sys.stderr)
        return 1
    return 0


sys.exit(main())
