"""Trains a tiny language model with random weights on a served scenario, by TRL on the CPU.

Arguments: address of an environment, a file of `agentgym export sft --tools`, and a folder to work in. Prints JSON: losses of supervised
fine-tuning, and what GRPO logged. The vocabulary is learned from the file, so that nothing is downloaded.
"""

import json
import sys
from pathlib import Path

import torch
from datasets import Dataset
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM, set_seed
from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer
from trl import chat_template_utils

import agentgym.trl

url, conversations, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
set_seed(1)
torch.set_num_threads(2)
rows = [json.loads(line) for line in conversations.read_text().splitlines()]


def vocabulary() -> PreTrainedTokenizerFast:
    special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=1_000, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator((json.dumps(row["messages"]) for row in rows), trainer)
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>", padding_side="left"
    )
    wrapped.chat_template = chat_template_utils.qwen3_chat_template
    return wrapped


def model_of(tokenizer: PreTrainedTokenizerFast) -> Qwen3ForCausalLM:
    return Qwen3ForCausalLM(
        Qwen3Config(
            vocab_size=len(tokenizer),
            hidden_size=64,
            intermediate_size=128,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            head_dim=16,
            max_position_embeddings=4_096,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )


def fine_tune(model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast) -> list[float]:
    arguments = SFTConfig(
        output_dir=str(folder / "sft"),
        max_steps=150,
        per_device_train_batch_size=2,
        learning_rate=5e-3,
        lr_scheduler_type="constant",
        max_length=1_024,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        bf16=False,
    )
    data = Dataset.from_list([{"messages": row["messages"]} for row in rows])
    trainer = SFTTrainer(model=model, args=arguments, train_dataset=data, processing_class=tokenizer)
    trainer.train()
    return [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]


def reinforce(model: Qwen3ForCausalLM, tokenizer: PreTrainedTokenizerFast) -> list[dict[str, float]]:
    arguments = GRPOConfig(
        output_dir=str(folder / "grpo"),
        max_steps=2,
        per_device_train_batch_size=4,
        num_generations=4,
        max_completion_length=96,
        max_tool_calling_iterations=2,
        learning_rate=1e-3,
        logging_steps=1,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
        bf16=False,
    )
    prompt = agentgym.trl.conversation_prompt(url)
    data = Dataset.from_list([{"prompt": prompt, "split": "train", "index": index} for index in range(8)])
    trainer = GRPOTrainer(
        model=model,
        args=arguments,
        train_dataset=data,
        processing_class=tokenizer,
        environment_factory=agentgym.trl.environment(url),
    )
    trainer.train()
    return [entry for entry in trainer.state.log_history if "loss" in entry]


tokenizer = vocabulary()
model = model_of(tokenizer)
losses = fine_tune(model, tokenizer)
print(json.dumps({"losses": losses, "grpo": reinforce(model, tokenizer)}))
