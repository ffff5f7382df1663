"""The architectures of transformers for sound and speech."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from architecture import WIDTHS, Architecture, Inputs, transformers_row
from families import VOCABULARY, tokens
from text_architectures import SIDES


def sound(samples: int = 800) -> Callable[[], Inputs]:
    return lambda: {"input_values": torch.randn(2, samples)}


SPEECH: dict[str, Any] = {
    **WIDTHS,
    "conv_dim": [16, 16, 16],
    "conv_kernel": [10, 3, 3],
    "conv_stride": [5, 2, 2],
    "num_feat_extract_layers": 3,
    "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 2,
}


def speech(name: str, prefix: str, suffix: str = "Model", **options: Any) -> Architecture:
    return transformers_row(
        name, "audio", prefix + suffix, f"{prefix}Config", sound(), **{**SPEECH, **options}
    )


AUDIO = [
    transformers_row(
        "audio_spectrogram_transformer",
        "audio",
        "ASTModel",
        "ASTConfig",
        lambda: {"input_values": torch.randn(2, 32, 16)},
        **WIDTHS,
        patch_size=8,
        frequency_stride=8,
        time_stride=8,
        max_length=32,
        num_mel_bins=16,
    ),
    transformers_row(
        "clap_audio",
        "audio",
        "ClapAudioModel",
        "ClapAudioConfig",
        lambda: {"input_features": torch.randn(2, 1, 64, 64)},
        spec_size=64,
        num_mel_bins=64,
        window_size=4,
        patch_size=4,
        patch_stride=[4, 4],
        patch_embeds_hidden_size=16,
        hidden_size=32,
        depths=[1, 1],
        num_attention_heads=[2, 2],
        enable_fusion=False,
    ),
    speech("data2vec_audio", "Data2VecAudio", conv_pos_kernel_size=3),
    transformers_row(
        "dac",
        "audio",
        "DacModel",
        "DacConfig",
        lambda: {"input_values": torch.randn(1, 1, 512)},
        encoder_hidden_size=8,
        decoder_hidden_size=32,
        downsampling_ratios=[2, 4],
        upsampling_ratios=[4, 2],
        n_codebooks=2,
        codebook_size=16,
        codebook_dim=4,
        hidden_size=32,
    ),
    transformers_row(
        "encodec",
        "audio",
        "EncodecModel",
        "EncodecConfig",
        lambda: {"input_values": torch.randn(1, 1, 512)},
        num_filters=8,
        hidden_size=32,
        codebook_size=16,
        codebook_dim=32,
        upsampling_ratios=[4, 2],
        num_lstm_layers=1,
    ),
    speech("hubert", "Hubert"),
    transformers_row(
        "mimi",
        "audio",
        "MimiModel",
        "MimiConfig",
        lambda: {"input_values": torch.randn(1, 1, 512)},
        num_filters=8,
        **WIDTHS,
        head_dim=8,
        num_key_value_heads=4,
        codebook_size=16,
        codebook_dim=16,
        vector_quantization_hidden_dimension=16,
        upsampling_ratios=[4, 2],
        upsample_groups=32,
        num_quantizers=4,
    ),
    transformers_row(
        "moonshine",
        "audio",
        "MoonshineForConditionalGeneration",
        "MoonshineConfig",
        lambda: {"input_values": torch.randn(1, 4000), "decoder_input_ids": tokens(1, 5)},
        vocab_size=VOCABULARY,
        hidden_size=32,
        intermediate_size=64,
        encoder_num_hidden_layers=2,
        decoder_num_hidden_layers=2,
        encoder_num_attention_heads=4,
        decoder_num_attention_heads=4,
    ),
    speech("sew", "SEW", squeeze_factor=2),
    transformers_row(
        "speech_to_text",
        "audio",
        "Speech2TextForConditionalGeneration",
        "Speech2TextConfig",
        lambda: {"input_features": torch.randn(2, 40, 16), "decoder_input_ids": tokens(2, 5)},
        **SIDES,
        input_feat_per_channel=16,
        conv_channels=32,
        max_source_positions=40,
        max_target_positions=20,
    ),
    transformers_row(
        "speecht5_vocoder",
        "audio",
        "SpeechT5HifiGan",
        "SpeechT5HifiGanConfig",
        lambda: (torch.randn(2, 12, 16),),
        model_in_dim=16,
        upsample_initial_channel=16,
        upsample_rates=[4, 2],
        upsample_kernel_sizes=[8, 4],
    ),
    speech("unispeech", "UniSpeech"),
    speech("unispeech_sat", "UniSpeechSat"),
    transformers_row(
        "univnet",
        "audio",
        "UnivNetModel",
        "UnivNetConfig",
        lambda: {"input_features": torch.randn(1, 8, 16), "noise_sequence": torch.randn(1, 8, 8)},
        model_in_channels=8,
        num_mel_bins=16,
        model_hidden_channels=8,
        resblock_kernel_sizes=[3, 3],
        resblock_stride_sizes=[4, 4],
        resblock_dilation_sizes=[[1, 3], [1, 3]],
        kernel_predictor_hidden_channels=8,
    ),
    speech("wav2vec2", "Wav2Vec2"),
    transformers_row(
        "wav2vec2_bert",
        "audio",
        "Wav2Vec2BertModel",
        "Wav2Vec2BertConfig",
        lambda: {"input_features": torch.randn(2, 20, 16)},
        **WIDTHS,
        feature_projection_input_dim=16,
        position_embeddings_type="relative_key",
    ),
    speech("wav2vec2_conformer", "Wav2Vec2Conformer"),
    speech("wav2vec2_ctc", "Wav2Vec2", "ForCTC", vocab_size=VOCABULARY),
    speech("wavlm", "WavLM"),
    transformers_row(
        "whisper",
        "audio",
        "WhisperForConditionalGeneration",
        "WhisperConfig",
        lambda: {"input_features": torch.randn(2, 16, 40), "decoder_input_ids": tokens(2, 5)},
        **SIDES,
        num_mel_bins=16,
        max_source_positions=20,
        max_target_positions=64,
    ),
]
