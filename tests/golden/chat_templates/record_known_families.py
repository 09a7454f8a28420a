#!/usr/bin/env python3
"""Records known_families.json: what transformers makes of conversations by the templates that families of models
publish, for the templates that Alate has for models without one.

    HF_HUB_OFFLINE=1 record_known_families.py FOLDER > known_families.json       (transformers 5.24.0, jinja2 3.1.6)

FOLDER has the published template of each family as FAMILY.jinja: that of OpenHermes-2.5-Mistral-7B for ChatML,
zephyr-7b-beta, Llama-2-7b-chat-hf, Meta-Llama-3-8B-Instruct, Llama-3.1-8B-Instruct, gemma-7b-it, gemma-3-4b-it,
c4ai-command-r-v01, Phi-3-mini-4k-instruct, phi-4, and of Mistral those of 7B-Instruct-v0.2, 7B-Instruct-v0.3 and
Nemo-Instruct-2407. They are not ours and not stored.

`families` has for each template's name the text of each of `requests`, null where the template refuses it.
"""
import json
import pathlib
import sys

import reference

SYSTEM = {"role": "system", "content": " Be brief.\n"}
ASK = {"role": "user", "content": "Zürich & <b>?"}
MORE = {"role": "user", "content": " Why?\n"}
ANSWER = {"role": "assistant", "content": "\n Yes.  "}
CONVERSATIONS = [[ASK], [SYSTEM, MORE], [SYSTEM, ASK, ANSWER, MORE], [MORE, ANSWER], [ASK, ANSWER, MORE, ANSWER, ASK],
                 [SYSTEM, ASK, ANSWER], [SYSTEM], [ASK, MORE], [ANSWER, ASK]]


def main():
    requests = [{"messages": messages, "add_generation_prompt": prompt} for messages in CONVERSATIONS
                for prompt in (False, True)]
    families = {path.stem: [reference.render(path.read_text(), request) for request in requests]
                for path in sorted(pathlib.Path(sys.argv[1]).glob("*.jinja"))}
    json.dump({"requests": requests, "families": families}, sys.stdout, ensure_ascii=False, indent=0)
    print()


if __name__ == "__main__":
    main()
