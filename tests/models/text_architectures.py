"""The architectures of transformers for text: encoders, decoders, both, mixtures of experts, state spaces."""

from __future__ import annotations

from typing import Any

import torch
from architecture import Architecture, transformers_row
from families import VOCABULARY, tokens

LENGTH = 8

SMALL: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
GROUPED: dict[str, Any] = {**SMALL, "num_key_value_heads": 2}
# GPT-2's names.
NAMED_N: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "n_positions": 64,
}


def text(length: int = LENGTH) -> Any:
    return lambda: {
        "input_ids": tokens(2, length),
        "attention_mask": (torch.arange(length) < length - 1).long().repeat(2, 1),
    }


def ids(length: int = LENGTH) -> Any:
    return lambda: {"input_ids": tokens(2, length)}


def encoder(
    name: str, prefix: str, length: int = LENGTH, suffix: str = "Model", **options: Any
) -> Architecture:
    return transformers_row(
        name, "encoder", prefix + suffix, f"{prefix}Config", text(length), **{**SMALL, **options}
    )


def language_model(
    name: str,
    prefix: str,
    kind: str = "decoder",
    base: dict[str, Any] = GROUPED,
    suffix: str = "ForCausalLM",
    config: str = "",
    **options: Any,
) -> Architecture:
    return transformers_row(
        name, kind, prefix + suffix, config or f"{prefix}Config", ids(), **{**base, **options}
    )


def both() -> dict[str, Any]:
    """Some models make a mask of their own in eager alone, so that there is one here."""
    return {
        "input_ids": tokens(2, 8),
        "attention_mask": torch.ones(2, 8, dtype=torch.long),
        "decoder_input_ids": tokens(2, 5),
        "decoder_attention_mask": torch.ones(2, 5, dtype=torch.long),
    }


ENCODERS = [
    encoder("albert", "Albert", embedding_size=16),
    encoder("bert", "Bert"),
    encoder("big_bird", "BigBird", attention_type="original_full"),
    encoder("camembert", "Camembert"),
    encoder("canine", "Canine", 16, local_transformer_stride=8, num_hash_buckets=16, downsampling_rate=4),
    encoder("convbert", "ConvBert", embedding_size=32),
    encoder("data2vec_text", "Data2VecText"),
    encoder("deberta", "Deberta", pos_att_type=["c2p", "p2c"], relative_attention=True),
    encoder("deberta_v2", "DebertaV2", pos_att_type=["c2p", "p2c"], relative_attention=True),
    encoder("distilbert", "DistilBert", dim=32, n_layers=2, n_heads=4, hidden_dim=64),
    encoder("electra", "Electra", embedding_size=32),
    encoder("ernie", "Ernie"),
    encoder("esm", "Esm", mask_token_id=3, position_embedding_type="rotary"),
    encoder("eurobert", "EuroBert"),
    transformers_row(
        "fnet",
        "encoder",
        "FNetModel",
        "FNetConfig",
        ids(),
        **{**SMALL, "use_tpu_fourier_optimizations": False},
    ),
    transformers_row(
        "funnel",
        "encoder",
        "FunnelModel",
        "FunnelConfig",
        text(),
        vocab_size=VOCABULARY,
        d_model=32,
        n_head=4,
        d_head=8,
        d_inner=64,
        block_sizes=[1, 1],
        num_decoder_layers=1,
        pad_token_id=0,
    ),
    encoder("ibert", "IBert"),
    encoder("layoutlm", "LayoutLM"),
    encoder("lilt", "Lilt", channel_shrink_ratio=2, max_2d_position_embeddings=64, hidden_size=48),
    encoder("longformer", "Longformer", attention_window=4),
    encoder("luke", "Luke", entity_vocab_size=10, entity_emb_size=16),
    encoder("megatron_bert", "MegatronBert"),
    encoder("mobilebert", "MobileBert", embedding_size=32, intra_bottleneck_size=32, true_hidden_size=32),
    encoder("modernbert", "ModernBert", global_attn_every_n_layers=2, local_attention=4),
    encoder("mpnet", "MPNet"),
    encoder("mra", "Mra"),
    encoder("nomic_bert", "NomicBert"),
    transformers_row(
        "nystromformer",
        "encoder",
        "NystromformerModel",
        "NystromformerConfig",
        ids(16),
        **SMALL,
        num_landmarks=16,
        segment_means_seq_len=16,
    ),
    encoder("rembert", "RemBert", input_embedding_size=16, output_embedding_size=32),
    encoder("roberta", "Roberta"),
    encoder("roberta_prelayernorm", "RobertaPreLayerNorm"),
    encoder("roformer", "RoFormer", embedding_size=32),
    encoder("splinter", "Splinter"),
    encoder("squeezebert", "SqueezeBert", embedding_size=32),
    encoder("xlm", "XLM", emb_dim=32, n_layers=2, n_heads=4, n_words=VOCABULARY),
    encoder("xlm_roberta", "XLMRoberta"),
    transformers_row(
        "xlnet",
        "encoder",
        "XLNetModel",
        "XLNetConfig",
        text(),
        vocab_size=VOCABULARY,
        d_model=32,
        n_layer=2,
        n_head=4,
        d_inner=64,
    ),
    encoder("xmod", "Xmod", default_language="en_XX", languages=["en_XX"]),
]

DECODERS = [
    language_model("apertus", "Apertus"),
    language_model("arcee", "Arcee"),
    language_model("biogpt", "BioGpt", base=SMALL),
    language_model("bitnet", "BitNet"),
    language_model("bloom", "Bloom", base=SMALL, n_layer=2, n_head=4),
    language_model("codegen", "CodeGen", base=NAMED_N, rotary_dim=4, n_ctx=64),
    language_model("cohere", "Cohere"),
    language_model("cohere2", "Cohere2", sliding_window=4),
    transformers_row("ctrl", "decoder", "CTRLLMHeadModel", "CTRLConfig", ids(), **NAMED_N, dff=64),
    language_model("diffllama", "DiffLlama"),
    language_model("ernie4_5", "Ernie4_5"),
    language_model("exaone4", "Exaone4", sliding_window=4),
    language_model("falcon", "Falcon", base=SMALL),
    language_model("gemma", "Gemma", head_dim=8),
    language_model("gemma2", "Gemma2", head_dim=8, sliding_window=4),
    language_model("gemma3", "Gemma3", head_dim=8, sliding_window=4, config="Gemma3TextConfig"),
    language_model("glm", "Glm", head_dim=8),
    language_model("glm4", "Glm4", head_dim=8),
    transformers_row("gpt2", "decoder", "GPT2LMHeadModel", "GPT2Config", ids(), **NAMED_N),
    language_model("gpt_bigcode", "GPTBigCode", base=NAMED_N),
    language_model(
        "gpt_neo",
        "GPTNeo",
        base=SMALL,
        num_layers=2,
        num_heads=4,
        attention_types=[[["global", "local"], 1]],
        window_size=4,
    ),
    language_model("gpt_neox", "GPTNeoX", base=SMALL),
    language_model("gptj", "GPTJ", base=NAMED_N, rotary_dim=4),
    language_model("granite", "Granite"),
    language_model("helium", "Helium", head_dim=8),
    language_model("llama", "Llama"),
    language_model("ministral", "Ministral", head_dim=8, sliding_window=4),
    language_model("mistral", "Mistral", sliding_window=4),
    language_model("modernbert_decoder", "ModernBertDecoder", base=SMALL, local_attention=4),
    language_model(
        "mpt", "Mpt", base={"vocab_size": VOCABULARY}, d_model=32, n_heads=4, n_layers=2, max_seq_len=64
    ),
    language_model("nanochat", "NanoChat"),
    language_model("nemotron", "Nemotron"),
    language_model("olmo", "Olmo"),
    language_model("olmo2", "Olmo2"),
    language_model("olmo3", "Olmo3", sliding_window=4),
    transformers_row("openai_gpt", "decoder", "OpenAIGPTLMHeadModel", "OpenAIGPTConfig", ids(), **NAMED_N),
    language_model("opt", "OPT", base=SMALL, ffn_dim=64, word_embed_proj_dim=32),
    language_model("persimmon", "Persimmon", base=SMALL),
    language_model("phi", "Phi"),
    language_model("phi3", "Phi3"),
    language_model("qwen2", "Qwen2"),
    language_model("qwen3", "Qwen3", head_dim=8),
    language_model("seed_oss", "SeedOss", head_dim=8),
    language_model("smollm3", "SmolLM3"),
    language_model("stablelm", "StableLm"),
    language_model("starcoder2", "Starcoder2"),
    language_model("vaultgemma", "VaultGemma", head_dim=8, sliding_window=4),
    language_model("xglm", "XGLM", base=SMALL, d_model=32, num_layers=2, attention_heads=4, ffn_dim=64),
]

EXPERTS: dict[str, Any] = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
LATENT: dict[str, Any] = {
    "q_lora_rank": 16,
    "kv_lora_rank": 16,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 8,
    "v_head_dim": 8,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
    "first_k_dense_replace": 1,
    "n_group": 2,
    "topk_group": 1,
}
MIXTURE = "mixture of experts"

MIXTURES = [
    language_model("deepseek_v2", "DeepseekV2", MIXTURE, **LATENT, num_key_value_heads=4),
    language_model("deepseek_v3", "DeepseekV3", MIXTURE, **LATENT, num_key_value_heads=4),
    language_model(
        "dots1",
        "Dots1",
        MIXTURE,
        n_routed_experts=4,
        num_experts_per_tok=2,
        moe_intermediate_size=32,
        n_group=1,
        topk_group=1,
        first_k_dense_replace=1,
        head_dim=8,
        n_shared_experts=1,
    ),
    language_model(
        "ernie4_5_moe", "Ernie4_5_Moe", MIXTURE, moe_num_experts=4, moe_k=2, moe_intermediate_size=32
    ),
    language_model("flex_olmo", "FlexOlmo", MIXTURE, num_experts=4, num_experts_per_tok=2),
    language_model(
        "glm4_moe",
        "Glm4Moe",
        MIXTURE,
        n_routed_experts=4,
        num_experts_per_tok=2,
        moe_intermediate_size=32,
        n_group=1,
        topk_group=1,
        head_dim=8,
    ),
    language_model(
        "gpt_oss", "GptOss", MIXTURE, num_local_experts=4, num_experts_per_tok=2, head_dim=8, sliding_window=4
    ),
    language_model("granitemoe", "GraniteMoe", MIXTURE, num_local_experts=4, num_experts_per_tok=2),
    language_model(
        "jetmoe",
        "JetMoe",
        MIXTURE,
        base=SMALL,
        num_key_value_heads=2,
        kv_channels=8,
        num_local_experts=4,
        num_experts_per_tok=2,
    ),
    language_model(
        "llama4",
        "Llama4",
        MIXTURE,
        config="Llama4TextConfig",
        num_local_experts=4,
        intermediate_size_mlp=64,
        head_dim=8,
    ),
    language_model("mixtral", "Mixtral", MIXTURE, num_local_experts=4, num_experts_per_tok=2),
    language_model("olmoe", "Olmoe", MIXTURE, num_experts=4, num_experts_per_tok=2),
    language_model("phimoe", "Phimoe", MIXTURE, num_local_experts=4, num_experts_per_tok=2),
    language_model("qwen2_moe", "Qwen2Moe", MIXTURE, **EXPERTS, shared_expert_intermediate_size=32),
    language_model("qwen3_moe", "Qwen3Moe", MIXTURE, **EXPERTS, head_dim=8),
    transformers_row(
        "switch_transformers",
        MIXTURE,
        "SwitchTransformersForConditionalGeneration",
        "SwitchTransformersConfig",
        both,
        vocab_size=VOCABULARY,
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_decoder_layers=2,
        num_heads=4,
        num_experts=4,
        decoder_start_token_id=0,
    ),
]

STATE = "state space"
STATE_SPACES = [
    language_model(
        "bamba",
        "Bamba",
        STATE,
        mamba_n_heads=8,
        mamba_d_head=8,
        mamba_d_state=8,
        mamba_n_groups=1,
        attn_layer_indices=[1],
        mamba_chunk_size=4,
    ),
    language_model(
        "falcon_h1",
        "FalconH1",
        STATE,
        mamba_d_ssm=32,
        mamba_n_heads=4,
        mamba_d_head=8,
        mamba_d_state=8,
        mamba_n_groups=1,
        head_dim=8,
        mamba_chunk_size=4,
    ),
    language_model("falcon_mamba", "FalconMamba", STATE, base=SMALL, state_size=8, conv_kernel=4),
    language_model(
        "granitemoehybrid",
        "GraniteMoeHybrid",
        STATE,
        layer_types=["mamba", "attention"],
        mamba_n_heads=8,
        mamba_d_head=8,
        mamba_d_state=8,
        mamba_n_groups=1,
        num_local_experts=4,
        num_experts_per_tok=2,
        shared_intermediate_size=32,
        mamba_chunk_size=4,
    ),
    language_model(
        "jamba",
        "Jamba",
        STATE,
        attn_layer_period=2,
        attn_layer_offset=1,
        expert_layer_period=2,
        expert_layer_offset=1,
        num_experts=4,
        use_mamba_kernels=False,
        mamba_d_state=8,
        mamba_dt_rank=4,
    ),
    language_model("lfm2", "Lfm2", STATE, layer_types=["conv", "full_attention"], block_multiple_of=8),
    language_model("mamba", "Mamba", STATE, base=SMALL, state_size=8),
    language_model(
        "mamba2", "Mamba2", STATE, base=SMALL, state_size=8, num_heads=8, head_dim=8, n_groups=1, chunk_size=4
    ),
    language_model(
        "qwen3_next",
        "Qwen3Next",
        STATE,
        **EXPERTS,
        head_dim=8,
        layer_types=["linear_attention", "full_attention"],
        linear_num_value_heads=4,
        linear_num_key_heads=2,
        linear_key_head_dim=8,
        linear_value_head_dim=8,
        shared_expert_intermediate_size=32,
    ),
    language_model(
        "recurrent_gemma",
        "RecurrentGemma",
        STATE,
        lru_width=32,
        attention_window_size=8,
        block_types=["recurrent", "attention"],
    ),
    language_model("rwkv", "Rwkv", STATE, base=SMALL, attention_hidden_size=32, context_length=64),
    language_model(
        "xlstm",
        "xLSTM",
        STATE,
        base=SMALL,
        num_heads=4,
        chunk_size=8,
        qk_dim_factor=0.5,
        mode="inference",
        return_last_states=True,
    ),
    language_model(
        "zamba2",
        "Zamba2",
        STATE,
        base=SMALL,
        mamba_d_state=8,
        mamba_headdim=8,
        n_mamba_heads=8,
        mamba_ngroups=1,
        layers_block_type=["mamba", "hybrid"],
        hybrid_layer_ids=[1],
        num_mem_blocks=1,
        chunk_size=4,
        adapter_rank=8,
        attention_head_dim=16,
        use_mamba_kernels=False,
    ),
]


SIDES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "decoder_start_token_id": 1,
}
T5_SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 64,
    "num_layers": 2,
    "num_heads": 4,
    "decoder_start_token_id": 0,
}
POSITIONED: dict[str, Any] = {**SIDES, "max_position_embeddings": 64}


def sequence_to_sequence(
    name: str,
    prefix: str,
    base: dict[str, Any] = POSITIONED,
    suffix: str = "ForConditionalGeneration",
    **options: Any,
) -> Architecture:
    return transformers_row(
        name, "encoder-decoder", prefix + suffix, f"{prefix}Config", both, **{**base, **options}
    )


ENCODER_DECODERS = [
    sequence_to_sequence("bart", "Bart"),
    sequence_to_sequence("bigbird_pegasus", "BigBirdPegasus", attention_type="original_full"),
    sequence_to_sequence("blenderbot", "Blenderbot"),
    sequence_to_sequence("blenderbot_small", "BlenderbotSmall"),
    sequence_to_sequence(
        "led",
        "LED",
        attention_window=4,
        max_encoder_position_embeddings=64,
        max_decoder_position_embeddings=64,
    ),
    sequence_to_sequence("longt5", "LongT5", T5_SIZES, local_radius=3, encoder_attention_type="local"),
    sequence_to_sequence("m2m100", "M2M100"),
    sequence_to_sequence("marian", "Marian", suffix="MTModel"),
    sequence_to_sequence("mbart", "MBart"),
    sequence_to_sequence("mt5", "MT5", T5_SIZES),
    sequence_to_sequence("pegasus", "Pegasus"),
    sequence_to_sequence("plbart", "PLBart"),
    sequence_to_sequence(
        "prophetnet",
        "ProphetNet",
        {},
        vocab_size=VOCABULARY,
        hidden_size=32,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        num_encoder_layers=2,
        num_decoder_layers=2,
        num_encoder_attention_heads=4,
        num_decoder_attention_heads=4,
        max_position_embeddings=64,
    ),
    sequence_to_sequence("t5", "T5", T5_SIZES),
    sequence_to_sequence("umt5", "UMT5", T5_SIZES),
]

TEXT = ENCODERS + DECODERS + MIXTURES + STATE_SPACES + ENCODER_DECODERS
