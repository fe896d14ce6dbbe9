"""TensorFlow Lite's tables, as a schema for ``flatbuffers``.

Tables of options that hold nothing are left out, and those of StableHLO's operators.
"""

from __future__ import annotations

from webtensor.formats.flatbuffers import Enumeration, Schema

__all__ = ["IDENTIFIER", "OPERATORS", "SCHEMA", "TENSOR_TYPES"]

IDENTIFIER = b"TFL3"


def _names(text: str) -> tuple[str, ...]:
    return tuple(text.split())


#: The names of builtin operators, in the order of their codes.
OPERATORS = _names(
    """
    ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE
    EMBEDDING_LOOKUP FLOOR FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION L2_POOL_2D
    LOCAL_RESPONSE_NORMALIZATION LOGISTIC LSH_PROJECTION LSTM MAX_POOL_2D MUL RELU RELU_N1_TO_1
    RELU6 RESHAPE RESIZE_BILINEAR RNN SOFTMAX SPACE_TO_DEPTH SVDF TANH CONCAT_EMBEDDINGS
    SKIP_GRAM CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD UNIDIRECTIONAL_SEQUENCE_RNN GATHER
    BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND TRANSPOSE MEAN SUB DIV SQUEEZE
    UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE BIDIRECTIONAL_SEQUENCE_RNN EXP TOPK_V2 SPLIT
    LOG_SOFTMAX DELEGATE BIDIRECTIONAL_SEQUENCE_LSTM CAST PRELU MAXIMUM ARG_MAX MINIMUM LESS NEG
    PADV2 GREATER GREATER_EQUAL LESS_EQUAL SELECT SLICE SIN TRANSPOSE_CONV SPARSE_TO_DENSE TILE
    EXPAND_DIMS EQUAL NOT_EQUAL LOG SUM SQRT RSQRT SHAPE POW ARG_MIN FAKE_QUANT REDUCE_PROD
    REDUCE_MAX PACK LOGICAL_OR ONE_HOT LOGICAL_AND LOGICAL_NOT UNPACK REDUCE_MIN FLOOR_DIV
    REDUCE_ANY SQUARE ZEROS_LIKE FILL FLOOR_MOD RANGE RESIZE_NEAREST_NEIGHBOR LEAKY_RELU
    SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V UNIQUE CEIL REVERSE_V2 ADD_N GATHER_ND COS WHERE
    RANK ELU REVERSE_SEQUENCE MATRIX_DIAG QUANTIZE MATRIX_SET_DIAG ROUND HARD_SWISH IF WHILE
    NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 SCATTER_ND SELECT_V2 DENSIFY SEGMENT_SUM
    BATCH_MATMUL PLACEHOLDER_FOR_GREATER_OP_CODES CUMSUM CALL_ONCE BROADCAST_TO RFFT2D CONV_3D
    IMAG REAL COMPLEX_ABS HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE REDUCE_ALL
    CONV_3D_TRANSPOSE VAR_HANDLE READ_VARIABLE ASSIGN_VARIABLE BROADCAST_ARGS
    RANDOM_STANDARD_NORMAL BUCKETIZE RANDOM_UNIFORM MULTINOMIAL GELU DYNAMIC_UPDATE_SLICE
    RELU_0_TO_1 UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_SUM ATAN2
    UNSORTED_SEGMENT_MIN SIGN BITCAST BITWISE_XOR RIGHT_SHIFT STABLEHLO_LOGISTIC STABLEHLO_ADD
    STABLEHLO_DIVIDE STABLEHLO_MULTIPLY STABLEHLO_MAXIMUM STABLEHLO_RESHAPE STABLEHLO_CLAMP
    STABLEHLO_CONCATENATE STABLEHLO_BROADCAST_IN_DIM STABLEHLO_CONVOLUTION STABLEHLO_SLICE
    STABLEHLO_CUSTOM_CALL STABLEHLO_REDUCE STABLEHLO_ABS STABLEHLO_AND STABLEHLO_COSINE
    STABLEHLO_EXPONENTIAL STABLEHLO_FLOOR STABLEHLO_LOG STABLEHLO_MINIMUM STABLEHLO_NEGATE
    STABLEHLO_OR STABLEHLO_POWER STABLEHLO_REMAINDER STABLEHLO_RSQRT STABLEHLO_SELECT
    STABLEHLO_SUBTRACT STABLEHLO_TANH STABLEHLO_SCATTER STABLEHLO_COMPARE STABLEHLO_CONVERT
    STABLEHLO_DYNAMIC_SLICE STABLEHLO_DYNAMIC_UPDATE_SLICE STABLEHLO_PAD STABLEHLO_IOTA
    STABLEHLO_DOT_GENERAL STABLEHLO_REDUCE_WINDOW STABLEHLO_SORT STABLEHLO_WHILE
    STABLEHLO_GATHER STABLEHLO_TRANSPOSE DILATE STABLEHLO_RNG_BIT_GENERATOR REDUCE_WINDOW
    STABLEHLO_COMPOSITE STABLEHLO_SHIFT_LEFT STABLEHLO_CBRT STABLEHLO_CASE
    """
)

#: The names of dtypes, in the order of their numbers.
TENSOR_TYPES = _names(
    """
    float32 float16 int32 uint8 int64 string bool int16 complex64 int8 float64 complex128
    uint64 resource variant uint32 uint16 int4 bfloat16 int2 uint4
    """
)

_ENUMERATIONS = {
    "TensorType": Enumeration("int8", TENSOR_TYPES),
    "Padding": Enumeration("int8", ("SAME", "VALID")),
    "ActivationFunctionType": Enumeration(
        "int8", ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT")
    ),
    "LSHProjectionType": Enumeration("int8", ("UNKNOWN", "SPARSE", "DENSE")),
    "FullyConnectedOptionsWeightsFormat": Enumeration("int8", ("DEFAULT", "SHUFFLED4x16INT8")),
    "LSTMKernelType": Enumeration("int8", ("FULL", "BASIC")),
    "CombinerType": Enumeration("int8", ("SUM", "MEAN", "SQRTN")),
    "MirrorPadMode": Enumeration("int8", ("REFLECT", "SYMMETRIC")),
    "DimensionType": Enumeration("int8", ("DENSE", "SPARSE_CSR")),
}

#: The tables of options by their number in the union.
_OPTIONS = {
    1: "Conv2DOptions",
    2: "DepthwiseConv2DOptions",
    3: "ConcatEmbeddingsOptions",
    4: "LSHProjectionOptions",
    5: "Pool2DOptions",
    6: "SVDFOptions",
    7: "RNNOptions",
    8: "FullyConnectedOptions",
    9: "SoftmaxOptions",
    10: "ConcatenationOptions",
    11: "AddOptions",
    12: "L2NormOptions",
    13: "LocalResponseNormalizationOptions",
    14: "LSTMOptions",
    15: "ResizeBilinearOptions",
    16: "CallOptions",
    17: "ReshapeOptions",
    18: "SkipGramOptions",
    19: "SpaceToDepthOptions",
    20: "EmbeddingLookupSparseOptions",
    21: "MulOptions",
    23: "GatherOptions",
    27: "ReducerOptions",
    28: "SubOptions",
    29: "DivOptions",
    30: "SqueezeOptions",
    31: "SequenceRNNOptions",
    32: "StridedSliceOptions",
    35: "SplitOptions",
    37: "CastOptions",
    40: "ArgMaxOptions",
    49: "TransposeConvOptions",
    50: "SparseToDenseOptions",
    55: "ShapeOptions",
    57: "ArgMinOptions",
    58: "FakeQuantOptions",
    59: "PackOptions",
    61: "OneHotOptions",
    64: "UnpackOptions",
    69: "BidirectionalSequenceLSTMOptions",
    70: "BidirectionalSequenceRNNOptions",
    71: "UnidirectionalSequenceLSTMOptions",
    74: "ResizeNearestNeighborOptions",
    75: "LeakyReluOptions",
    77: "MirrorPadOptions",
    79: "SplitVOptions",
    80: "UniqueOptions",
    87: "ReverseSequenceOptions",
    92: "IfOptions",
    93: "WhileOptions",
    94: "DepthToSpaceOptions",
    101: "BatchMatMulOptions",
    102: "CumsumOptions",
    103: "CallOnceOptions",
    106: "Conv3DOptions",
    107: "HashtableOptions",
    111: "VarHandleOptions",
    114: "RandomOptions",
    115: "BucketizeOptions",
    116: "GeluOptions",
}

SCHEMA = Schema(
    """
    Model
        0  version                    uint32
        1  operator_codes             OperatorCode[]
        2  subgraphs                  SubGraph[]
        3  description                string
        4  buffers                    Buffer[]
        6  metadata                   Metadata[]
        7  signature_defs             SignatureDef[]
    OperatorCode
        0  deprecated_builtin_code    int8
        1  custom_code                string
        2  version                    int32 = 1
        3  builtin_code               int32
    SubGraph
        0  tensors                    Tensor[]
        1  inputs                     int32[]
        2  outputs                    int32[]
        3  operators                  Operator[]
        4  name                       string
    Tensor
        0  shape                      int32[]
        1  type                       TensorType
        2  buffer                     uint32
        3  name                       string
        4  quantization               QuantizationParameters
        5  is_variable                bool
        6  sparsity                   SparsityParameters
        7  shape_signature            int32[]
        10 external_buffer            uint32
    QuantizationParameters
        2  scale                      float32[]
        3  zero_point                 int64[]
        4  details_type               uint8
        6  quantized_dimension        int32
    SparsityParameters
        0  traversal_order            int32[]
        1  block_map                  int32[]
        2  dim_metadata               DimensionMetadata[]
    DimensionMetadata
        0  format                     DimensionType
        1  dense_size                 int32
        3  array_segments             SparseIndexVector
        5  array_indices              SparseIndexVector
    Int32Vector
        0  values                     int32[]
    Uint16Vector
        0  values                     uint16[]
    Uint8Vector
        0  values                     uint8[]
    Operator
        0  opcode_index               uint32
        1  inputs                     int32[]
        2  outputs                    int32[]
        4  builtin_options            BuiltinOptions
        5  custom_options             uint8[]
        8  intermediates              int32[]
        9  large_custom_options_offset uint64
        10 large_custom_options_size   uint64
    Buffer
        0  data                       uint8[]
        1  offset                     uint64
        2  size                       uint64
    Metadata
        0  name                       string
        1  buffer                     uint32
    SignatureDef
        0  inputs                     TensorMap[]
        1  outputs                    TensorMap[]
        2  signature_key              string
        4  subgraph_index             uint32
    TensorMap
        0  name                       string
        1  tensor_index               uint32

    Conv2DOptions
        0  padding                    Padding
        1  stride_w                   int32
        2  stride_h                   int32
        3  fused_activation_function  ActivationFunctionType
        4  dilation_w_factor          int32 = 1
        5  dilation_h_factor          int32 = 1
        6  quantized_bias_type        TensorType
    DepthwiseConv2DOptions
        0  padding                    Padding
        1  stride_w                   int32
        2  stride_h                   int32
        3  depth_multiplier           int32
        4  fused_activation_function  ActivationFunctionType
        5  dilation_w_factor          int32 = 1
        6  dilation_h_factor          int32 = 1
    ConcatEmbeddingsOptions
        0  num_channels               int32
        1  num_columns_per_channel    int32[]
        2  embedding_dim_per_channel  int32[]
    LSHProjectionOptions
        0  type                       LSHProjectionType
    Pool2DOptions
        0  padding                    Padding
        1  stride_w                   int32
        2  stride_h                   int32
        3  filter_width               int32
        4  filter_height              int32
        5  fused_activation_function  ActivationFunctionType
    SVDFOptions
        0  rank                       int32
        1  fused_activation_function  ActivationFunctionType
        2  asymmetric_quantize_inputs bool
    RNNOptions
        0  fused_activation_function  ActivationFunctionType
        1  asymmetric_quantize_inputs bool
    FullyConnectedOptions
        0  fused_activation_function  ActivationFunctionType
        1  weights_format             FullyConnectedOptionsWeightsFormat
        2  keep_num_dims              bool
        3  asymmetric_quantize_inputs bool
        4  quantized_bias_type        TensorType
    SoftmaxOptions
        0  beta                       float32
    ConcatenationOptions
        0  axis                       int32
        1  fused_activation_function  ActivationFunctionType
    AddOptions
        0  fused_activation_function  ActivationFunctionType
        1  pot_scale_int16            bool = 1
    L2NormOptions
        0  fused_activation_function  ActivationFunctionType
    LocalResponseNormalizationOptions
        0  radius                     int32
        1  bias                       float32
        2  alpha                      float32
        3  beta                       float32
    LSTMOptions
        0  fused_activation_function  ActivationFunctionType
        1  cell_clip                  float32
        2  proj_clip                  float32
        3  kernel_type                LSTMKernelType
        4  asymmetric_quantize_inputs bool
    ResizeBilinearOptions
        2  align_corners              bool
        3  half_pixel_centers         bool
    CallOptions
        0  subgraph                   uint32
    ReshapeOptions
        0  new_shape                  int32[]
    SkipGramOptions
        0  ngram_size                 int32
        1  max_skip_size              int32
        2  include_all_ngrams         bool
    SpaceToDepthOptions
        0  block_size                 int32
    EmbeddingLookupSparseOptions
        0  combiner                   CombinerType
    MulOptions
        0  fused_activation_function  ActivationFunctionType
    GatherOptions
        0  axis                       int32
        1  batch_dims                 int32
    ReducerOptions
        0  keep_dims                  bool
    SubOptions
        0  fused_activation_function  ActivationFunctionType
        1  pot_scale_int16            bool = 1
    DivOptions
        0  fused_activation_function  ActivationFunctionType
    SqueezeOptions
        0  squeeze_dims               int32[]
    SequenceRNNOptions
        0  time_major                 bool
        1  fused_activation_function  ActivationFunctionType
        2  asymmetric_quantize_inputs bool
    StridedSliceOptions
        0  begin_mask                 int32
        1  end_mask                   int32
        2  ellipsis_mask              int32
        3  new_axis_mask              int32
        4  shrink_axis_mask           int32
        5  offset                     bool
    SplitOptions
        0  num_splits                 int32
    CastOptions
        0  in_data_type               TensorType
        1  out_data_type              TensorType
    ArgMaxOptions
        0  output_type                TensorType
    TransposeConvOptions
        0  padding                    Padding
        1  stride_w                   int32
        2  stride_h                   int32
        3  fused_activation_function  ActivationFunctionType
        4  quantized_bias_type        TensorType
    SparseToDenseOptions
        0  validate_indices           bool
    ShapeOptions
        0  out_type                   TensorType
    ArgMinOptions
        0  output_type                TensorType
    FakeQuantOptions
        0  min                        float32
        1  max                        float32
        2  num_bits                   int32
        3  narrow_range               bool
    PackOptions
        0  values_count               int32
        1  axis                       int32
    OneHotOptions
        0  axis                       int32
    UnpackOptions
        0  num                        int32
        1  axis                       int32
    BidirectionalSequenceLSTMOptions
        0  fused_activation_function  ActivationFunctionType
        1  cell_clip                  float32
        2  proj_clip                  float32
        3  merge_outputs              bool
        4  time_major                 bool = 1
        5  asymmetric_quantize_inputs bool
    BidirectionalSequenceRNNOptions
        0  time_major                 bool
        1  fused_activation_function  ActivationFunctionType
        2  merge_outputs              bool
        3  asymmetric_quantize_inputs bool
    UnidirectionalSequenceLSTMOptions
        0  fused_activation_function  ActivationFunctionType
        1  cell_clip                  float32
        2  proj_clip                  float32
        3  time_major                 bool
        4  asymmetric_quantize_inputs bool
        5  diagonal_recurrent_tensors bool
    ResizeNearestNeighborOptions
        0  align_corners              bool
        1  half_pixel_centers         bool
    LeakyReluOptions
        0  alpha                      float32
    MirrorPadOptions
        0  mode                       MirrorPadMode
    SplitVOptions
        0  num_splits                 int32
    UniqueOptions
        0  idx_out_type               TensorType = 2
    ReverseSequenceOptions
        0  seq_dim                    int32
        1  batch_dim                  int32
    IfOptions
        0  then_subgraph_index        int32
        1  else_subgraph_index        int32
    WhileOptions
        0  cond_subgraph_index        int32
        1  body_subgraph_index        int32
    DepthToSpaceOptions
        0  block_size                 int32
    BatchMatMulOptions
        0  adj_x                      bool
        1  adj_y                      bool
        2  asymmetric_quantize_inputs bool
    CumsumOptions
        0  exclusive                  bool
        1  reverse                    bool
    CallOnceOptions
        0  init_subgraph_index        int32
    Conv3DOptions
        0  padding                    Padding
        1  stride_d                   int32
        2  stride_w                   int32
        3  stride_h                   int32
        4  fused_activation_function  ActivationFunctionType
        5  dilation_d_factor          int32 = 1
        6  dilation_w_factor          int32 = 1
        7  dilation_h_factor          int32 = 1
    HashtableOptions
        0  table_id                   int32
        1  key_dtype                  TensorType
        2  value_dtype                TensorType
    VarHandleOptions
        0  container                  string
        1  shared_name                string
    RandomOptions
        0  seed                       int64
        1  seed2                      int64
    BucketizeOptions
        0  boundaries                 float32[]
    GeluOptions
        0  approximate                bool
    """,
    _ENUMERATIONS,
    {
        "BuiltinOptions": _OPTIONS,
        "SparseIndexVector": {1: "Int32Vector", 2: "Uint16Vector", 3: "Uint8Vector"},
    },
)
